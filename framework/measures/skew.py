"""Skew of a topology spread constraint in a state: counts by domain and their minimum.

Pods that terminate do not count; domains are those of the nodes that take part in the count. Source:
kube-scheduler 1.34.1 podtopologyspread/filtering.go; KEP-3022 for minDomains.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..rules.spread import SpreadConstraint, eligible_nodes, group_key, requires_all_keys, spread_matches

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from ..index.cluster import Cluster
    from ..state.state import State


@dataclass(frozen=True)
class DomainCounts:
    """Matching pods of each domain (index into the key's values) and the minimum that maxSkew refers to."""

    counts: dict[int, int]
    minimum: int
    domain_of: npt.NDArray[np.int32]

    def skew(self, node: int, newcomers: int) -> int | None:
        """Skew of the node's domain with so many more pods in it; None on a node without the key."""
        domain = int(self.domain_of[node])
        return None if domain < 0 else self.counts.get(domain, 0) + newcomers - self.minimum


def domain_counts(cluster: Cluster, state: State, pod: int, constraint: SpreadConstraint) -> DomainCounts:
    """Count the pods that match a pod's constraint, domain by domain."""
    domain_of = cluster.domains(constraint.topology_key).ids
    eligible = eligible_nodes(cluster, pod, constraint) & (domain_of >= 0)
    counts = dict.fromkeys(np.unique(domain_of[eligible]).tolist(), 0)
    verdict: dict[int, bool] = {}
    placed = np.flatnonzero((state.node_of >= 0) & ~state.terminating)
    for j in placed.tolist():
        node = int(state.node_of[j])
        if not eligible[node]:
            continue
        label_class = cluster.pods[j].label_cls
        if label_class not in verdict:
            verdict[label_class] = spread_matches(cluster, constraint, pod, j)
        if verdict[label_class]:
            counts[int(domain_of[node])] += 1
    few = len(counts) < constraint.min_domains
    minimum = 0 if few or not counts else min(counts.values())
    return DomainCounts(counts=counts, minimum=minimum, domain_of=domain_of)


def excess(
    cluster: Cluster,
    end: State,
    placed: Mapping[int, int],
    constraints_of: Callable[[Cluster, int], Sequence[SpreadConstraint]],
) -> int:
    """Sum how far the domains of newcomers exceed the maxSkew of some of their constraints in the end state.

    For each group of carriers with one constraint and each domain that received one:
    ``max(0, all matching pods there − minimum − maxSkew)``; for each carrier on a node without the key
    `price_without_key`.

    Parameters
    ----------
    cluster, end : Cluster, State
        `end` holds what is left of the running pods and the newcomers.
    placed : mapping
        Newcomer -> node.
    constraints_of : callable
        Which constraints of a pod are judged.
    """
    groups: dict[Hashable, tuple[list[int], SpreadConstraint]] = {}
    for i in placed:
        for constraint in constraints_of(cluster, i):
            groups.setdefault(group_key(cluster, i, constraint), ([], constraint))[0].append(i)
    total = 0
    for carriers, constraint in groups.values():
        now = domain_counts(cluster, end, carriers[0], constraint)
        received = {int(now.domain_of[placed[i]]) for i in carriers} - {-1}
        total += sum(max(0, now.counts.get(d, 0) - now.minimum - constraint.max_skew) for d in received)
        total += sum(
            price_without_key(cluster, i, constraint) for i in carriers if now.domain_of[placed[i]] < 0
        )
    return total


def price_without_key(cluster: Cluster, pod: int, constraint: SpreadConstraint) -> int:
    """Return what a pod with a soft constraint costs on a node without the key: more than any domain could.

    Soft constraints avoid such nodes, except the system's defaults (`requires_all_keys`).
    """
    if not requires_all_keys(cluster, pod):
        return 0

    def judge() -> int:
        pods = cluster.pods
        candidates = (*(v for v in cluster.bound if not pods[v].terminating), *cluster.pending)
        found = Counter(pods[j].label_cls for j in candidates)
        one_of = {pods[j].label_cls: j for j in candidates}
        matching = sum(n for k, n in found.items() if spread_matches(cluster, constraint, pod, one_of[k]))
        return 1 + max(0, matching - constraint.max_skew)

    return cluster.memo(("price without key", group_key(cluster, pod, constraint)), judge)
