"""Names of the tiers of the objective, spelt once, in the order of importance."""

from __future__ import annotations

#: Whether a pod that the round is asked about is placed (`Snapshot.asked`); before all others.
ASKED = "asked"

FALLBACK = "fallback"
FIRST_AVAILABLE = "firstAvailable"
DESIRED_COUNT = "desiredCount"
PREFERRED_TOPOLOGY = "preferredTopology"
SCORES = "scores"

#: Values of ``--prefer``; the last tier carries the name of the preference, `none` adds no tier.
PREFERENCES = ("none", SCORES, "pack", "spread")


def scheduled(priority: int) -> str:
    """Pods of this priority placed (max)."""
    return f"scheduled[priority={priority}]"


def violations(priority: int) -> str:
    """Violating victims that belong to this priority (min)."""
    return f"violations[priority={priority}]"


def evicted(priority: int, victim: int) -> str:
    """Evictions of pods of priority `victim` that belong to `priority` (min)."""
    return f"evicted[priority={priority},victim={victim}]"
