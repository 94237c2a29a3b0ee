"""Names of the tiers of the objective, spelt once, in the order of importance."""

from __future__ import annotations

import re
from typing import Literal

#: Whether a pod that the round is asked about is placed (`Snapshot.asked`); before all others.
ASKED = "asked"

#: How many of the waiting pods that are to fare no worse (`Snapshot.kept`) are placed; before even that.
KEPT = "kept"

FALLBACK = "fallback"
FIRST_AVAILABLE = "firstAvailable"
DESIRED_COUNT = "desiredCount"
PREFERRED_TOPOLOGY = "preferredTopology"
SCORES = "scores"

#: Tiers of moves (docs/rebalance.md): nodes that are freed (max), the price of the others (min), pods that
#: move (min), and their memory in bytes (min).
FREE_NODES = "freeNodes"
PRICE = "price"
MOVES = "moves"
MOVED_MEMORY = "movedMemory"

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


OF_LEVEL = re.compile(r"(scheduled|violations|evicted)\[priority=(-?\d+)(?:,victim=(-?\d+))?\]")
"""The name of a tier about pods of one priority: its kind, the priority, and the victims' for evictions."""

_MOST = (KEPT, ASKED, SCORES, FREE_NODES)
_LEAST = (
    FALLBACK,
    FIRST_AVAILABLE,
    DESIRED_COUNT,
    PREFERRED_TOPOLOGY,
    PRICE,
    MOVES,
    MOVED_MEMORY,
    "pack",
    "spread",
)


def sense_of(name: str) -> Literal["max", "min"] | None:
    """Return whether more or less of a tier is better; None for one that is not known."""
    match = OF_LEVEL.fullmatch(name)
    if name in _MOST or (match is not None and match[1] == "scheduled"):
        return "max"
    return "min" if name in _LEAST or match is not None else None


_WITHIN = ("scheduled", "violations", "evicted")


def importance(name: str) -> tuple[int, int, int, int]:
    """Return what tiers of several rounds are sorted by: those of levels, then all others as equals."""
    match = OF_LEVEL.fullmatch(name)
    if match is None:
        return (1, 0, 0, 0)
    kind, priority, victim = match.groups("0")
    return (0, -int(priority), _WITHIN.index(kind), -int(victim))
