"""What a search knew when: value and bound of every tier, each time that one of them changed."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from ..models.search_point import SearchPoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..models.plan import Tier

MOST_POINTS: Final = 64
"""Points of one tier that a plan has at most."""


class Record:
    """Collects points while a search runs.

    Parameters
    ----------
    start : float
        The second 0, by the clock.
    clock : callable
        Seconds, monotonic.
    """

    def __init__(self, start: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._start = start
        self._clock = clock
        self._points: dict[str, list[SearchPoint]] = defaultdict(list)

    def note(self, known: Mapping[str, tuple[int, int | None]]) -> None:
        """Add a point for each tier whose value or bound is another one than before, all of one moment."""
        seconds = round(self._clock() - self._start, 3)
        for tier, (value, bound) in known.items():
            found = self._points[tier]
            if not found or (found[-1].value, found[-1].bound) != (value, bound):
                found.append(SearchPoint(seconds=seconds, tier=tier, value=value, bound=bound))

    def points(self) -> tuple[SearchPoint, ...]:
        """Return what was noted, thinned, tier by tier."""
        return tuple(point for found in self._points.values() for point in thinned(found))


def thinned(points: Sequence[SearchPoint], most: int = MOST_POINTS) -> list[SearchPoint]:
    """Return at most so many points of a tier.

    If there are too many, the first one is kept, and the last one within each of `most` - 1 equal slices of
    time.
    """
    if len(points) <= most:
        return list(points)
    first, *others = points
    width = (points[-1].seconds - first.seconds) / (most - 1) or 1.0
    slices = {min(most - 2, int((point.seconds - first.seconds) / width)): point for point in others}
    return [first, *slices.values()]


def progress_of(
    points: Iterable[SearchPoint], tiers: Sequence[Tier], seconds: float
) -> tuple[SearchPoint, ...]:
    """Return the points that a plan has: those of the tiers in which there was something to find.

    The last point of each is what the plan says of the tier, at the end of the search. A tier of which
    everything was known from the beginning has none.

    Parameters
    ----------
    points : iterable of SearchPoint
        In the order of time for each tier.
    tiers : sequence of Tier
        Those of the plan.
    seconds : float
        When the search ended.
    """
    by_tier: dict[str, list[SearchPoint]] = defaultdict(list)
    for point in points:
        by_tier[point.tier].append(point)
    kept: list[SearchPoint] = []
    for tier in tiers:
        found = by_tier[tier.name]
        if not found:
            continue
        end = max(round(seconds, 3), found[-1].seconds)
        last = SearchPoint(seconds=end, tier=tier.name, value=tier.value, bound=tier.bound)
        if last != found[-1]:
            found.append(last)
        known = {(point.value, point.bound) for point in found}
        if len(known) > 1 or tier.value != tier.bound:
            kept += thinned(found)
    return tuple(sorted(kept, key=lambda point: point.seconds))
