"""Skew of a topology spread constraint in a state: counts by domain and their minimum.

Pods that terminate do not count; domains are those of the nodes that take part in the count.  Source:
kube-scheduler 1.34.1 podtopologyspread/filtering.go; KEP-3022 for minDomains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..framework.spread import SpreadConstraint, eligible_nodes, spread_matches

if TYPE_CHECKING:
    from ..framework.cluster import Cluster
    from ..framework.state import State


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
