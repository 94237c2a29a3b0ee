"""Bounds that hold of every plan of a round and cost nothing: what waits, and no cost.

They are what can be told of a round whose time was up before it had a model.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ...framework.measures.preferences import most_points
from ...models import tiers

if TYPE_CHECKING:
    from ...framework.index.cluster import Cluster


def trivial_bound(cluster: Cluster, name: str) -> int:
    """Return a bound of a tier: all pods that wait, the most points, or no cost."""
    if name == tiers.SCORES:
        return most_points(cluster)
    if name == tiers.KEPT:
        return len(cluster.kept.intersection(cluster.pending))
    if name == tiers.ASKED:
        return int(not cluster.asked.isdisjoint(cluster.pending))
    waiting = Counter(tiers.scheduled(cluster.pods[i].priority) for i in cluster.pending)
    return waiting[name]
