"""The cluster of a round for the page: nodes by zone and rack, and which pod is where, column by column.

Columns keep a page with ten thousand pods small: a node is its number, what many pods share is written once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ...framework.index.missing import readable
from ...framework.rules.groups import group_of
from ...framework.state.state import State
from ...models.node import ZONE
from ...models.requests import pod_requests, running_pod_requests
from ...solver.plans.topology import chosen_key

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from ...framework.index.cluster import Cluster
    from ...models.plan import Plan
    from ...solver.plans.outcome import SolvedRound

BEFORE: Final = "before"
"""The name of the state in which the round begins, beside the schedulers' names."""

NOWHERE: Final = -1


class Shared:
    """Values that are written once and referred to by number."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def number(self, value: Hashable) -> int:
        """Return the value's number."""
        return self._numbers.setdefault(value, len(self._numbers))

    @property
    def values(self) -> list[Any]:
        """All values by number."""
        return list(self._numbers)


def states_of(rounds: Mapping[str, SolvedRound]) -> dict[str, State]:
    """Return the state in which the round begins and those in which plans end, by name."""
    cluster = next(iter(rounds.values())).cluster
    return {BEFORE: State.initial(cluster), **{name: solved.end for name, solved in rounds.items()}}


def resources_shown(cluster: Cluster) -> list[int]:
    """Return the resources that some node has: cpu and memory first."""
    return [r for r in range(len(cluster.resources)) if cluster.allocatable[r].any()]


def cluster_data(cluster: Cluster, states: Mapping[str, State], key: str | None = None) -> dict[str, Any]:
    """Return nodes and pods in each state.

    Parameters
    ----------
    cluster : Cluster
    states : mapping of State
        By name.
    key : str, optional
        The node label whose values are the racks; without it the one that the round turns on.

    Returns
    -------
    dict
        `keys` (zone and rack), `resources`, `nodes` (with `requested` by state, in the order of `resources`),
        `pods` (columns; a node is its number, -1 for none), `groups` and `requests` (what the pods' columns
        refer to).
    """
    chosen = key or chosen_key(cluster)
    rack = None if chosen == ZONE else chosen
    shown = resources_shown(cluster)
    return {
        "keys": {"zone": ZONE, "rack": rack},
        "resources": [cluster.resources[r] for r in shown],
        "nodes": [
            {
                "name": node.name,
                "zone": node.metadata.labels.get(ZONE),
                "rack": node.metadata.labels.get(rack) if rack else None,
                "cordoned": node.spec.unschedulable,
                "taints": [f"{t.key}={t.value or ''}:{t.effect}" for t in node.spec.taints],
                "allocatable": [int(cluster.allocatable[r][n]) for r in shown],
                "requested": {
                    name: [int(state.requested[r][n]) for r in shown] for name, state in states.items()
                },
            }
            for n, node in enumerate(cluster.nodes)
        ],
        **_pods(cluster, states),
    }


def _pods(cluster: Cluster, states: Mapping[str, State]) -> dict[str, Any]:
    groups, requests = Shared(), Shared()
    columns: dict[str, list[Any]] = {"pod": [], "priority": [], "group": [], "requests": []}
    for info in cluster.pods:
        group = group_of(cluster, info.index)
        asked = (running_pod_requests if info.initial_node >= 0 else pod_requests)(info.pod)
        words = ", ".join(f"{readable(resource, number)} {resource}" for resource, number in asked.items())
        columns["pod"].append(info.key)
        columns["priority"].append(info.priority)
        columns["group"].append(NOWHERE if group is None else groups.number(group.key))
        columns["requests"].append(requests.number(words))
    where = {name: state.node_of.tolist() for name, state in states.items()}
    return {"pods": {**columns, "where": where}, "groups": groups.values, "requests": requests.values}


def totals(cluster: Cluster, states: Mapping[str, State]) -> list[dict[str, Any]]:
    """Return what is requested of each resource in each state, over all nodes."""
    rows = []
    for r in resources_shown(cluster):
        name = cluster.resources[r]
        there = int(cluster.allocatable[r].sum())
        rows.append(
            {
                "resource": name,
                "allocatable": _total(name, there),
                "requested": {
                    of: {"text": _total(name, taken), "share": taken / there}
                    for of, state in states.items()
                    for taken in (int(state.requested[r].sum()),)
                },
            }
        )
    return rows


def _total(resource: str, number: int) -> str:
    """Write what all nodes have: cpu in cores, for thousandths of so many cores are hard to read."""
    if resource == "cpu":
        return f"{number / 1000:,.3f}".rstrip("0").rstrip(".")
    return readable(resource, number)


def cluster_of_plans(plans: Mapping[str, Plan]) -> dict[str, Any]:
    """Return what plans alone tell: pods of the round and their nodes, as `cluster_data` without amounts."""
    nodes, pods = Shared(), Shared()
    for plan in plans.values():
        for pod, node in (*plan.placed().items(), *((e.pod, e.node) for e in plan.evictions)):
            pods.number(pod)
            nodes.number(node)
        for left in plan.unschedulable:
            pods.number(left.pod)
    waiting = {pod for plan in plans.values() for pod in _waiting(plan)}
    homes = {e.pod: e.node for plan in plans.values() for e in plan.evictions if e.pod not in waiting}
    where = {BEFORE: _where(pods.values, homes, nodes)}
    for name, plan in plans.items():
        gone = {e.pod for e in plan.evictions}
        there = {pod: node for pod, node in homes.items() if pod not in gone}
        where[name] = _where(pods.values, {**there, **plan.placed()}, nodes)
    number = len(pods.values)
    return {
        "keys": {"zone": ZONE, "rack": None},
        "resources": [],
        "nodes": [{"name": name, "allocatable": [], "requested": {}} for name in nodes.values],
        "pods": {
            "pod": pods.values,
            "priority": [None] * number,
            "group": [NOWHERE] * number,
            "requests": [NOWHERE] * number,
            "where": where,
        },
        "groups": [],
        "requests": [],
    }


def _waiting(plan: Plan) -> Iterable[str]:
    return (*plan.placed(), *(left.pod for left in plan.unschedulable))


def _where(pods: Iterable[str], places: Mapping[str, str], nodes: Shared) -> list[int]:
    return [nodes.number(places[pod]) if pod in places else NOWHERE for pod in pods]
