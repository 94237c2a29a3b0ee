"""Slots of the index that equal pods take one after another: who sits where, and which are free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from ..models.pod import Pod

_FEWEST: Final = 16


@dataclass(slots=True)
class ShapeSeats:
    """The slots for pods of one shape.

    Attributes
    ----------
    shape : hashable
    slots : list of int
        All of them.
    free : list of int
        Those that no pod has; the last is given out first.
    """

    shape: Hashable
    slots: list[int]
    free: list[int]


@dataclass(slots=True)
class Seat:
    """A pod's place in the index, and the version of the pod that the index knows.

    Attributes
    ----------
    i : int
        The number of the slot.
    kind : ShapeSeats
    uid : str
    pod : Pod or None
    """

    i: int
    kind: ShapeSeats
    uid: str
    pod: Pod | None = None


class Seats:
    """The slots of one index.

    Parameters
    ----------
    taken : sequence of (key, uid, shape)
        The pods, in the order of the first slots.
    spare : sequence of hashable
        The shapes of the slots behind them.

    Attributes
    ----------
    of : dict
        Each pod's place, by key.
    """

    def __init__(
        self,
        taken: Sequence[tuple[str, str, Hashable]] = (),
        spare: Sequence[Hashable] = (),
    ) -> None:
        self.of: dict[str, Seat] = {}
        self._kinds: dict[Hashable, ShapeSeats] = {}
        for i, (key, uid, shape) in enumerate(taken):
            kind = self._kind(shape)
            kind.slots.append(i)
            self.of[key] = Seat(i, kind, uid)
        for i, shape in enumerate(spare, start=len(taken)):
            kind = self._kind(shape)
            kind.slots.append(i)
            kind.free.append(i)

    def __len__(self) -> int:
        return len(self.of)

    def _kind(self, shape: Hashable) -> ShapeSeats:
        found = self._kinds.get(shape)
        if found is None:
            found = self._kinds[shape] = ShapeSeats(shape, [], [])
        return found

    def kind(self, shape: Hashable) -> ShapeSeats | None:
        """Return the slots of a shape, None where there are none."""
        return self._kinds.get(shape)

    def take(self, key: str, uid: str, kind: ShapeSeats) -> Seat:
        """Give a pod a free slot."""
        seat = self.of[key] = Seat(kind.free.pop(), kind, uid)
        return seat

    def leave(self, key: str) -> None:
        """Take a pod's slot back."""
        seat = self.of.pop(key)
        seat.kind.free.append(seat.i)

    @staticmethod
    def wanted(kind: ShapeSeats) -> int:
        """Return how many slots a shape without a free one is to get."""
        return max(len(kind.slots), _FEWEST)

    @staticmethod
    def add(kind: ShapeSeats, slots: Iterable[int]) -> None:
        """Know of more slots of a shape, which are free."""
        new = list(slots)
        kind.slots += new
        kind.free += new
