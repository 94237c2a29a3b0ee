"""What a group evicts as one: a pod, or a whole group of disruptionMode `all`; and who comes back first.

Source: kube-scheduler 1.36.2 framework/preemption (types.go, podgrouppreemption.go, preemption.go); KEP-5710.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...cycle.whole_groups import Unit
from ...rules.groups import Group, group_of

if TYPE_CHECKING:
    from ...cycle.budget_ledger import Ledger
    from ...index.cluster import Cluster
    from ...state.state import State


def units_of(cluster: "Cluster", state: "State") -> Iterator[Unit]:
    """Return the units of all pods on nodes, in the order in which their first pods are in the input.

    A whole group has its own priority, 0 where it states none, and starts when its first pod does; its pods
    are in the order in which they are found: by node, then by arrival.
    """
    whole: dict[int, list[int]] = {}
    found: list[Unit] = []
    for n in range(cluster.n_nodes):
        for j in state.pods_on(n):
            group = group_of(cluster, j)
            if group is not None and group.evicted_whole:
                whole.setdefault(group.index, []).append(j)
            else:
                found.append(_unit(cluster, [j], cluster.pods[j].priority, group))
    for pods in whole.values():
        group = group_of(cluster, pods[0])
        assert group is not None
        found.append(_unit(cluster, pods, group.priority or 0, group))
    yield from sorted(found, key=lambda unit: min(unit.pods))


def _unit(cluster: "Cluster", pods: Sequence[int], priority: int, group: Group | None) -> Unit:
    return Unit(tuple(pods), priority, grouped=group is not None, start=cluster.pods[pods[0]].start)


def breaking(units: Sequence[Unit], ledger: "Ledger") -> frozenset[int]:
    """Return the places of the units whose eviction would break a budget, were all evicted in this order.

    A pod stops at the first budget that has nothing left, a unit at its first such pod: what comes after
    draws on no budget.
    """
    left = list(ledger.allowed)
    return frozenset(
        place for place, unit in enumerate(units) if any(_breaks(ledger, left, j) for j in unit.pods)
    )


def _breaks(ledger: "Ledger", left: list[int], j: int) -> bool:
    """Let pod j draw on its budgets (`left`, changed); say whether one of them has nothing left."""
    for b in ledger.charges(j):
        if left[b] <= 0:
            return True
        left[b] -= 1
    return False
