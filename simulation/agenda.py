"""A heap of callbacks on the virtual clock.

At one time, callbacks run by rank, and by the order of their entry within a rank, so that a run can be
repeated.
"""

import heapq
from collections.abc import Callable
from typing import Final

from ..framework.queue.clock import VirtualClock

EARLY: Final = -1
"""Rank of callbacks that read the world before others change it at the same time."""

USUAL: Final = 0
LATE: Final = 1
"""Rank of controllers, which react once to all that happened at a time."""


class Agenda:
    """Callbacks to come.

    Parameters
    ----------
    clock : VirtualClock
    """

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self._heap: list[tuple[int, int, int, Callable[[], object]]] = []
        self._entries = 0

    def at(self, time: int, action: Callable[[], object], rank: int = USUAL) -> None:
        """Schedule a callback at a time, or now where that has passed."""
        self._entries = entry = self._entries + 1
        now = self.clock.now
        heapq.heappush(self._heap, (time if time > now else now, rank, entry, action))

    def after(self, delay: int, action: Callable[[], object], rank: int = USUAL) -> None:
        """Schedule a callback after a delay."""
        self._entries = entry = self._entries + 1
        now = self.clock.now
        heapq.heappush(self._heap, (now + delay if delay > 0 else now, rank, entry, action))

    @property
    def next_time(self) -> int | None:
        """Time of the next callback, None if there is none."""
        return self._heap[0][0] if self._heap else None

    def run_due(self) -> None:
        """Run all callbacks that are due, including those entered meanwhile."""
        heap, clock = self._heap, self.clock
        while heap and heap[0][0] <= clock.now:
            heapq.heappop(heap)[3]()
