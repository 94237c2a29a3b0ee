"""A plan seen from the racks: what each domain of a node label holds when the round is done."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from ...framework.rules.groups import Group, group_of, groups
from ...models.errors import InputError
from ...models.node import ZONE
from ...models.topology import (
    Amount,
    PodState,
    SeatedDevice,
    SeatedGroup,
    SeatedPod,
    SeatingDomain,
    SeatingNode,
    Topology,
)
from .device_topology import seat_devices

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ...framework.index.cluster import Cluster
    from ...framework.state.state import State
    from ...models.plan import Plan
    from .outcome import SolvedRound

HOSTNAME: Final = "kubernetes.io/hostname"
ZONES: Final = (ZONE, "topology.kubernetes.io/region")
STANDARD_RESOURCES: Final = frozenset({"cpu", "memory", "ephemeral-storage"})


def topology(solved: SolvedRound, key: str | None = None) -> Topology:
    """Return what each domain holds after a round.

    Parameters
    ----------
    solved : SolvedRound
        By either scheduler.
    key : str, optional
        The node label that makes the domains; without it the one that the round turns on (`chosen_key`).

    Raises
    ------
    InputError
        For a key that no node has.
    """
    cluster = solved.cluster
    if key is not None and not cluster.domains(key).size:
        known = ", ".join(sorted({label for node in cluster.nodes for label in node.metadata.labels}))
        raise InputError(
            cluster.snapshot.name, "", "", f"no node has the label {key}; there are: {known or 'none'}"
        )
    key = key or chosen_key(cluster)
    return _Seating(cluster, solved.end, solved.plan, key).topology()


def chosen_key(cluster: Cluster) -> str | None:
    """Return the label that the round turns on; None where no label divides the nodes.

    In this order, and in each the key that is named most often, then the one with the most domains: what pod
    groups with waiting members require, what they prefer, what reaches devices, what waiting pods spread over
    or are drawn to, zones, regions.
    """
    for keys in _keys_by_weight(cluster):
        known = {key: number for key, number in keys.items() if key != HOSTNAME and cluster.domains(key).size}
        if known:
            return min(known, key=lambda key: (-known[key], -cluster.domains(key).size, key))
    return next((key for key in ZONES if cluster.domains(key).size), None)


def _keys_by_weight(cluster: Cluster) -> Iterator[Counter[str]]:
    waiting = [group for group in groups(cluster) if group.pending]
    yield Counter(key for group in waiting for key in group.topology_keys)
    yield Counter(key for group in waiting for key in group.preferred_keys)
    selectors = [item.spec.node_selector for item in cluster.snapshot.resource_slices]
    terms = [term for selector in selectors if selector for term in selector.node_selector_terms]
    yield Counter(asked.key for term in terms for asked in term.match_expressions)
    pods = [cluster.pods[i] for i in cluster.pending]
    spread = [c.topology_key for info in pods for c in info.pod.spec.topology_spread_constraints]
    drawn = [
        term.topology_key
        for info in pods
        for term in (*info.terms.required_affinity, *info.terms.required_anti_affinity)
    ]
    yield Counter((*spread, *drawn))


class _Seating:
    def __init__(self, cluster: Cluster, state: State, plan: Plan, key: str | None) -> None:
        self._cluster = cluster
        self._state = state
        self._key = key
        self._new = frozenset(cluster.pod_index[pod] for pod in plan.placed())
        self._evicted: dict[int, list[int]] = defaultdict(list)
        for eviction in plan.evictions:
            pod = cluster.pod_index[eviction.pod]
            self._evicted[cluster.node_index[eviction.node]].append(pod)

    def topology(self) -> Topology:
        cluster = self._cluster
        of_node = [self._domain(n) for n in range(cluster.n_nodes)]
        seats = seat_devices(cluster, self._state, of_node)
        members: dict[str | None, list[int]] = {}
        for n, domain in enumerate(of_node):
            members.setdefault(domain, []).append(n)
        amounts = self._resources()
        domains = [
            SeatingDomain(
                domain=domain,
                within=self._within(members[domain]),
                nodes=tuple(
                    self._node(n, amounts, seats.of_node.get(n, ()))
                    for n in sorted(members[domain], key=lambda n: natural(cluster.node_names[n]))
                ),
                devices=seats.of_domain.get(domain, ()),
            )
            for domain in sorted(members, key=lambda domain: (domain is None, natural(domain or "")))
        ]
        found = [self._group(group, of_node) for group in groups(cluster)]
        return Topology(
            key=self._key,
            domains=tuple(domains),
            devices=seats.of_all,
            groups=tuple(group for group in found if group.standing or group.waiting),
        )

    def _domain(self, n: int) -> str | None:
        return None if self._key is None else self._cluster.nodes[n].metadata.labels.get(self._key)

    def _within(self, nodes: Iterable[int]) -> dict[str, str]:
        keys = dict.fromkeys(
            key for group in groups(self._cluster) for key in (*group.topology_keys, *group.preferred_keys)
        )
        found: dict[str, str] = {}
        labels: list[Mapping[str, str]] = [self._cluster.nodes[n].metadata.labels for n in nodes]
        for key in keys:
            values = {label.get(key) for label in labels}
            value = values.pop()
            if key not in (self._key, HOSTNAME) and not values and value is not None:
                found[key] = value
        return found

    def _resources(self) -> list[int]:
        """Cpu, and the extended resources of nodes that a waiting pod asks for."""
        cluster = self._cluster
        asked = cluster.usage[list(cluster.pending)].sum(axis=0) if cluster.pending else None
        return [
            r
            for r, name in enumerate(cluster.resources)
            if name == "cpu"
            or (
                name not in STANDARD_RESOURCES
                and asked is not None
                and asked[r] > 0
                and cluster.allocatable[r].any()
            )
        ]

    def _node(self, n: int, amounts: list[int], devices: tuple[SeatedDevice, ...]) -> SeatingNode:
        cluster, state = self._cluster, self._state
        standing = [self._pod(i, "placed" if i in self._new else "running") for i in sorted(state.pods_on(n))]
        return SeatingNode(
            node=cluster.node_names[n],
            amounts=tuple(
                Amount(
                    resource=cluster.resources[r],
                    requested=int(state.requested[r][n]),
                    allocatable=int(cluster.allocatable[r][n]),
                )
                for r in amounts
            ),
            pods=(*standing, *(self._pod(i, "evicted") for i in self._evicted.get(n, ()))),
            devices=devices,
        )

    def _pod(self, i: int, state: PodState) -> SeatedPod:
        group = group_of(self._cluster, i)
        return SeatedPod(
            pod=self._cluster.pods[i].key, state=state, pod_group=None if group is None else group.key
        )

    def _group(self, group: Group, of_node: list[str | None]) -> SeatedGroup:
        standing = [n for i in group.members if (n := int(self._state.node_of[i])) >= 0]
        domains = {of_node[n] for n in standing}
        return SeatedGroup(
            pod_group=group.key,
            placed=sum(i in self._new for i in group.members),
            waiting=len(group.pending) + len(group.gated),
            standing=len(standing),
            min_count=group.min_count,
            domains=tuple(sorted(domains, key=lambda domain: (domain is None, natural(domain or "")))),
        )


def natural(name: str) -> list[tuple[int, str]]:
    """Sort `r2` before `r10`."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]
