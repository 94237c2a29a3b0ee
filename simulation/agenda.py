"""A heap of callbacks on the virtual clock.

At one time, callbacks run by rank, and by the order of their entry within a rank, so that a run can be
repeated.
"""

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import Final

from ..framework.queue.clock import VirtualClock

EARLY: Final = -1
"""Rank of callbacks that read the world before others change it at the same time."""

USUAL: Final = 0
LATE: Final = 1
"""Rank of controllers, which react once to all that happened at a time."""

_WINDOW: Final = 33
"""Binary digits of a time within a window: 8.6 s."""

_Entry = tuple[int, int, int, Callable[..., object], tuple[object, ...]]


class Agenda:
    """Callbacks to come.

    Most of them are far away: the ends of pods that run, all that a scenario says. They wait in windows of
    time, and only those of the first window are in the heap, which stays small so.

    Parameters
    ----------
    clock : VirtualClock
    """

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self._heap: list[_Entry] = []
        self._end = 0  # all entries of the heap are before, all others not
        self._windows: list[int] = []
        self._later: dict[int, list[_Entry]] = {}
        self._entries = 0

    def at(self, time: int, action: Callable[..., object], rank: int = USUAL, *arguments: object) -> None:
        """Schedule a callback at a time (nanoseconds), or now where that has passed; see `after`."""
        self.after(time - self.clock.now, action, rank, *arguments)

    def after(self, delay: int, action: Callable[..., object], rank: int = USUAL, *arguments: object) -> None:
        """Schedule a callback after a delay, or now where that is negative.

        Parameters
        ----------
        delay : int
            Nanoseconds.
        action : callable
        rank : int
        *arguments
            Given to the callback.
        """
        self._entries = entry = self._entries + 1
        time = self.clock.now
        if delay > 0:
            time += delay
        if time < self._end:
            heappush(self._heap, (time, rank, entry, action, arguments))
            return
        window = time >> _WINDOW
        there = self._later.get(window)
        if there is None:
            there = self._later[window] = []
            heappush(self._windows, window)
        there.append((time, rank, entry, action, arguments))

    @property
    def next_time(self) -> int | None:
        """Time of the next callback, None if there is none."""
        heap = self._heap
        if not heap and not self._open():
            return None
        return heap[0][0]

    def _open(self) -> bool:
        """Fill the empty heap with the callbacks of the next window; return whether there is one."""
        if not self._windows:
            return False
        window = heappop(self._windows)
        self._end = (window + 1) << _WINDOW
        self._heap += self._later.pop(window)
        heapify(self._heap)
        return True

    def run_due(self) -> None:
        """Run all callbacks that are due, including those entered meanwhile."""
        heap, clock = self._heap, self.clock
        while (heap or self._open()) and heap[0][0] <= clock.now:
            _, _, _, action, arguments = heappop(heap)
            action(*arguments)
