"""Names of the tiers of the objective, spelt once, in the order of importance."""

from __future__ import annotations

import re

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


def importance(name: str) -> tuple[int, int, int, int]:
    """Return what tiers of several rounds are sorted by: those of levels, then all others as equals."""
    match = _OF_LEVEL.fullmatch(name)
    if match is None:
        return (1, 0, 0, 0)
    victim = 0 if match["victim"] is None else int(match["victim"])
    return (0, -int(match["priority"]), _WITHIN.index(match["kind"]), -victim)


_WITHIN = ("scheduled", "violations", "evicted")
_OF_LEVEL = re.compile(r"(?P<kind>[a-z]+)\[priority=(?P<priority>-?\d+)(?:,victim=(?P<victim>-?\d+))?\]")
