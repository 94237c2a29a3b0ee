"""Pods that fit into a room and are worth most at given prices, for all rooms up to the largest one at once.

The worth of each room is exact: amounts and prices are whole numbers. Of a class up to `most` pods may be
taken, in packages of 1, 2, 4, …: every number up to `most` is a sum of some of them.

Source: Martello and Toth, Knapsack Problems, chapter 3 (binary expansion of bounded items).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...framework.vocabulary.arrays import Ints


class Knapsack:
    """The best pods for every room.

    Parameters
    ----------
    need, most, prices : sequences of int
        By class: units that a pod takes, how many may be taken, and what one is worth.
    units : int
        The largest room.

    Attributes
    ----------
    worth : int array (units + 1,)
        By room, what the best pods that fit are worth together; it never falls.
    """

    def __init__(self, need: Sequence[int], most: Sequence[int], prices: Sequence[int], units: int) -> None:
        self._classes = len(need)
        self.worth = np.zeros(units + 1, dtype=np.int64)
        self._free: list[tuple[int, int]] = []
        self._packages: list[tuple[int, int, int]] = []
        taken = []
        for c, (each, number, price) in enumerate(zip(need, most, prices, strict=True)):
            if price <= 0 or number <= 0 or each > units:
                continue
            if each == 0:
                self._free.append((c, number))
                self.worth += number * price
                continue
            for often in _packages(min(number, units // each)):
                weight = often * each
                more = self.worth[:-weight] + often * price
                better = np.zeros(units + 1, dtype=bool)
                np.greater(more, self.worth[weight:], out=better[weight:])
                self.worth[weight:] = np.maximum(self.worth[weight:], more)
                taken.append(better)
                self._packages.append((c, often, weight))
        self._taken = np.array(taken).reshape(len(taken), units + 1)

    def pods(self, rooms: Ints) -> Ints:
        """Return how many pods of each class are the best ones for some rooms, (rooms, classes)."""
        found = np.zeros((len(rooms), self._classes), dtype=np.int64)
        for c, number in self._free:
            found[:, c] = number
        left = rooms.copy()
        for (c, often, weight), taken in zip(reversed(self._packages), self._taken[::-1], strict=True):
            here = taken[left]
            found[here, c] += often
            left[here] -= weight
        return found


def _packages(number: int) -> Iterator[int]:
    """Yield 1, 2, 4, … and a rest, which add up to a number."""
    often = 1
    while number > 0:
        yield min(often, number)
        number -= often
        often *= 2
