"""What `--prefer` measures on a finished state, as `encoders.preferences` states it in a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..cycle.runtime import framework_for
from ..index.cluster import Cluster
from ..rules.affinity import matches_incoming, preferred_affinity, preferred_anti_affinity
from ..rules.spread import SpreadConstraint, soft_constraints
from ..state.state import State
from ..vocabulary import names
from .skew import excess

if TYPE_CHECKING:
    from ..index.affinity import AffinityTerm
    from ..vocabulary.arrays import Ints

PreferenceValue = Callable[[Cluster, State, Mapping[int, int]], int]


def nodes_in_use(cluster: Cluster, end: State, placed: Mapping[int, int]) -> int:
    """Nodes that hold a pod in the end state."""
    return int((_pods_by_node(cluster, end) > 0).sum())


def squared_load(cluster: Cluster, end: State, placed: Mapping[int, int]) -> int:
    """Sum over nodes of the squared number of pods in the end state."""
    return sum(int(k) ** 2 for k in _pods_by_node(cluster, end))


def _pods_by_node(cluster: Cluster, end: State) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    return np.bincount(end.node_of[end.node_of >= 0], minlength=cluster.n_nodes)


def soft_points(cluster: Cluster, end: State, placed: Mapping[int, int]) -> int:
    """Sum of what the newcomers' soft criteria are worth in the end state (``--prefer scores``).

    Each criterion in points of 0 to 100, times the weight that the pod's profile gives the plugin:

    - NodeAffinity: the weights of the preferred terms that the node matches;
    - ImageLocality: kube-scheduler's own score of the node;
    - TaintToleration: minus 100 for each PreferNoSchedule taint that is not tolerated;
    - InterPodAffinity: the weight of each preferred term that another pod in the domain matches, minus that
      of each preferred anti-affinity term that one matches;
    - PodTopologySpread: minus 100 for each pod beyond the maxSkew of a ScheduleAnyway constraint, in domains
      that received one that carries it (`skew.excess`).

    None of it depends on an order.
    """
    total = 0
    presence: dict[tuple[AffinityTerm, int], int] = {}
    for i, node in placed.items():
        total += int(static_points(cluster, i)[node])
        weight = plugin_weight(cluster, i, names.INTER_POD_AFFINITY)
        for term, sign in preferred_terms(cluster, i):
            domain = int(cluster.domains(term.topology_key).ids[node])
            if domain < 0 or not weight:
                continue
            if (term, domain) not in presence:
                presence[term, domain] = _matching_in(cluster, end, term, domain)
            others = presence[term, domain] - int(matches_incoming(cluster, term, i))
            total += weight * sign * term.weight * (others > 0)
    return total - sum(
        100 * weight * excess(cluster, end, pods, schedule_anyway)
        for weight, pods in _by_weight(cluster, placed, names.POD_TOPOLOGY_SPREAD).items()
        if weight
    )


def most_points(cluster: Cluster) -> int:
    """Return a bound of `soft_points`: each pod of the queue where it is worth most, every wish fulfilled."""
    total = 0
    for i in cluster.pending:
        total += max(0, int(static_points(cluster, i).max(initial=0)))
        weight = plugin_weight(cluster, i, names.INTER_POD_AFFINITY)
        total += weight * sum(term.weight for term, sign in preferred_terms(cluster, i) if sign > 0)
    return total


def static_points(cluster: Cluster, i: int) -> Ints:
    """Points of the criteria that look at nodes alone: int64[N], shared."""
    framework = framework_for(cluster, i)

    def judge() -> Ints:
        every = np.arange(cluster.n_nodes, dtype=np.int64)
        points = np.zeros(cluster.n_nodes, dtype=np.int64)
        for name, factor in _STATIC_POINTS.items():
            weight = plugin_weight(cluster, i, name)
            if weight:
                points += factor * weight * framework.raw_score(name, i, every)
        return points

    return cluster.memo(("static points", cluster.pods[i].but_claims), judge)


def plugin_weight(cluster: Cluster, i: int, plugin: str) -> int:
    """Return the weight of a score plugin in the pod's profile, 0 where it does not score."""
    return cluster.profile(i).weights.get(plugin, 0)


def preferred_terms(cluster: Cluster, i: int) -> Iterator[tuple[AffinityTerm, int]]:
    """Yield the pod's preferred terms with their sign: 1 towards, -1 away."""
    for term in preferred_affinity(cluster, i):
        yield term, 1
    for term in preferred_anti_affinity(cluster, i):
        yield term, -1


def schedule_anyway(cluster: Cluster, i: int) -> tuple[SpreadConstraint, ...]:
    """Return the constraints of pod i that are soft as written; what fell back has a tier of its own."""
    return tuple(c for c in soft_constraints(cluster, i) if not c.fallen_back)


def _by_weight(cluster: Cluster, placed: Mapping[int, int], plugin: str) -> dict[int, dict[int, int]]:
    found: dict[int, dict[int, int]] = {}
    for i, node in placed.items():
        found.setdefault(plugin_weight(cluster, i, plugin), {})[i] = node
    return found


def _matching_in(cluster: Cluster, end: State, term: AffinityTerm, domain: int) -> int:
    ids = cluster.domains(term.topology_key).ids
    standing = np.flatnonzero(end.node_of >= 0)
    return sum(
        ids[end.node_of[j]] == domain and matches_incoming(cluster, term, j) for j in standing.tolist()
    )


# Points for one unit of a plugin's raw score.
_STATIC_POINTS: Mapping[str, int] = MappingProxyType(
    {names.NODE_AFFINITY: 1, names.IMAGE_LOCALITY: 1, names.TAINT_TOLERATION: -100}
)

# Preference -> (sense, value of an end state given the pods that the round placed).
PREFERENCE_VALUES: Mapping[str, tuple[Literal["max", "min"], PreferenceValue]] = MappingProxyType(
    {"scores": ("max", soft_points), "pack": ("min", nodes_in_use), "spread": ("min", squared_load)}
)
