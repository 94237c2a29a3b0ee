"""Which pods may be a victim's preemptor (docs/model.md).

A preemptor is newly placed on the victim's node, has strictly higher priority and a `preemptionPolicy` other
than Never, and is bound after the victim left. No member of a gang binds before the gang's last victim left:
a member serves only victims that left before the first member was bound. For a member of a group that is
evicted whole the node may be that of any member (`framework.rules.eviction_units`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...framework.rules.eviction_units import preemptor_nodes
from ...framework.rules.groups import group_of
from ...framework.state.moves import Bind, Leave

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...framework.index.cluster import Cluster
    from ...framework.state.moves import Move


def serves(cluster: Cluster, pod: int, victim: int) -> bool:
    """Whether a pod on one of the victim's `preemptor_nodes` may be its preemptor."""
    p, v = cluster.pods[pod], cluster.pods[victim]
    return p.preempts and p.priority > v.priority


def gang_of(cluster: Cluster, pod: int) -> int | None:
    """Number of the gang that a pod belongs to, None outside gangs."""
    group = group_of(cluster, pod)
    return group.index if group is not None and group.min_count is not None else None


def _nearest_first(cluster: Cluster, victim: int) -> Iterable[int]:
    """Return the nodes where a victim's preemptor may be, its own before those of others of its unit."""
    return dict.fromkeys((cluster.pods[victim].initial_node, *preemptor_nodes(cluster, victim)))


def preemptors(
    cluster: Cluster, moves: Sequence[Move], first: frozenset[int] = frozenset()
) -> dict[int, int | None]:
    """Name a preemptor for each pod that leaves, None where no pod bound afterwards may be one.

    Parameters
    ----------
    first : frozenset of int
        Pods to prefer (the nominated ones); otherwise the first one bound is taken.
    """
    opened: dict[int, int] = {}  # gang -> the step at which its first member is bound
    bound_on: dict[int, list[tuple[int, int]]] = {}  # node -> the pods bound there, each after its step
    for k, move in enumerate(moves):
        if isinstance(move, Bind):
            gang = gang_of(cluster, move.pod)
            # from this step on the pod, or its gang, serves no further victim
            begun = k if gang is None else opened.setdefault(gang, k)
            bound_on.setdefault(move.node, []).append((begun, move.pod))
    found: dict[int, int | None] = {}
    for k, move in enumerate(moves):
        if isinstance(move, Leave):
            candidates = [
                pod
                for node in _nearest_first(cluster, move.pod)
                for begun, pod in bound_on.get(node, ())
                if begun > k and serves(cluster, pod, move.pod)
            ]
            nominated = (pod for pod in candidates if pod in first)
            found[move.pod] = next(nominated, candidates[0] if candidates else None)
    return found
