"""Which priority level of a round a victim belongs to: what its eviction costs counts there.

Levels are the priorities of the pods in the queue. A victim belongs to the lowest one above its own priority;
a guarded victim that breaks its budget to the lowest such level that also reaches its guard (KEP-4664). So
evictions are made at a level only where that level, or a higher one, gains by them, and a pod at the guard's
value that fits without the eviction lifts no guard for a lesser pod beside it. Source: docs/model.md, "The
objective".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .budgets import budgets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..index.cluster import Cluster


def belonging_level(levels: Sequence[int], priority: int, guard: int | None = None) -> int | None:
    """Return the lowest level above a priority, and at or above a guard; None where there is none."""
    above = [level for level in levels if level > priority and (guard is None or level >= guard)]
    return min(above) if above else None


def victim_priorities(cluster: Cluster) -> dict[int, list[int]]:
    """Priority level -> victim priorities that may belong to it, from the highest down; shared.

    A pod of the round counts as well: greedy may evict what it bound. Guarded pods under a budget may belong
    to two levels; all of the input count, so that every part of a round has the same tiers.
    """

    def find() -> dict[int, list[int]]:
        levels = cluster.levels
        found = {(belonging_level(levels, priority), priority) for priority in cluster.priorities}
        found |= {
            (belonging_level(levels, info.priority, info.guard), info.priority)
            for info in cluster.pods
            if info.guard is not None and any(b.charges(cluster, info.index) for b in budgets(cluster))
        }
        return {level: sorted((q for at, q in found if at == level), reverse=True) for level in levels}

    return cluster.memo("victim priorities", find)
