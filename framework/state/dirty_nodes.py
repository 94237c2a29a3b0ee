"""Nodes that have changed since some moment, for caches by node."""

from itertools import count
from typing import Final, NamedTuple

_series = count(1)

_LONGEST: Final = 4096
"""More changes than this are forgotten: a cache that missed them starts anew."""


class Moment(NamedTuple):
    """A place in one log; that of another log, or before something was forgotten, says nothing."""

    series: int
    length: int


NEVER: Final = Moment(0, 0)


class DirtyNodes:
    """A log of the nodes whose pods changed."""

    __slots__ = ("_moment", "_nodes", "_series")

    def __init__(self) -> None:
        self._nodes: list[int] = []
        self._series = next(_series)
        self._moment: Moment | None = None  # several caches ask between two changes

    def note(self, n: int) -> None:
        """Write down that node n has changed."""
        if len(self._nodes) >= _LONGEST:
            self._nodes.clear()
            self._series = next(_series)
        self._nodes.append(n)
        self._moment = None

    @property
    def moment(self) -> Moment:
        """Now."""
        if self._moment is None:
            self._moment = Moment(self._series, len(self._nodes))
        return self._moment

    def since(self, moment: Moment) -> list[int] | None:
        """Return the nodes that have changed, each at least once; None where that is not known any more."""
        if moment.series != self._series:
            return None
        return self._nodes[moment.length :]
