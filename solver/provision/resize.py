"""A small overflow put right: for pods without room a node more, or a node exchanged for a larger one.

And what is larger than its pods need is exchanged for what costs less.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .bins import filled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...framework.vocabulary.arrays import Ints
    from .bins import Bins
    from .trial import Counts, Market


@dataclass(frozen=True)
class _Step:
    """A node more, or another one in the place of `column`, for so much more, and the pods it takes."""

    column: int | None
    offer: int
    cost: int
    taken: Ints


class Resizing:
    """The nodes that can be bought in one cell.

    Parameters
    ----------
    offers : sequence of int
    free, limits : int array (R+1, offers), (C, offers)
        What one node of each of them has, and how many pods of each class it takes.
    asked : int array (C, R+1)
    most : tuple of int
        How many nodes of each offer of the catalogue are of use.
    budget : int or None
        The most that may be spent, in millionths.
    """

    def __init__(
        self,
        market: Market,
        offers: Sequence[int],
        free: Ints,
        limits: Ints,
        asked: Ints,
        most: Counts,
        budget: int | None,
    ) -> None:
        self._market, self._offers = market, offers
        self._free, self._limits, self._asked = free, limits, asked
        self._most, self._budget = most, budget
        self._limits_of = {item.name: item for item in market.catalogue.limits}
        self._prices = [offer.price for offer in market.catalogue.offers]

    def enough(self, bins: Bins, wanted: Ints, counts: list[int]) -> None:
        """Make room for pods without it, as far as it can be had.

        What takes all of them for least, else what costs least for each.

        Parameters
        ----------
        counts : list of int
            What is bought of each offer; it is changed.
        """
        left = wanted - bins.counts.sum(axis=1)
        while left.any():
            steps = [*self._another(left, counts), *self._larger(bins, left, counts)]
            if not steps:
                return
            number = int(left.sum())
            step = min(steps, key=lambda one: _rank(one, number))
            self._take(bins, step, counts)
            left = left - step.taken

    def tight(self, bins: Bins, counts: list[int]) -> None:
        """Exchange each node for the cheapest one that has room for its pods; return what is empty."""
        for n in reversed(range(len(bins.names))):
            if bins.names[n] >= 0:
                continue
            now = -1 - bins.names[n]
            if not bins.counts[:, n].any() and self._allowed(counts, None, now):
                bins.remove(n)
                counts[now] -= 1
                continue
            for j in sorted(self._holding(bins, n), key=lambda j: self._prices[self._offers[j]]):
                offer = self._offers[j]
                if self._prices[offer] >= self._prices[now]:
                    break
                if self._allowed(counts, offer, now):
                    self._take(bins, _Step(n, offer, 0, np.zeros_like(bins.counts[:, n])), counts)
                    break

    # -- steps ------------------------------------------------------------

    def _another(self, left: Ints, counts: Sequence[int]) -> Iterator[_Step]:
        for j, offer in enumerate(self._offers):
            if self._allowed(counts, offer, None):
                taken = filled(left, self._asked, self._free[:, [j]], self._limits[:, [j]])[:, 0]
                if taken.any():
                    yield _Step(None, offer, self._prices[offer], taken)

    def _larger(self, bins: Bins, left: Ints, counts: Sequence[int]) -> Iterator[_Step]:
        for n, name in enumerate(bins.names):
            if name >= 0:
                continue
            now, here = -1 - name, bins.counts[:, n]
            for j in self._holding(bins, n):
                offer = self._offers[j]
                more = self._prices[offer] - self._prices[now]
                if more <= 0 or not self._allowed(counts, offer, now):
                    continue
                room = self._free[:, [j]] - (self._asked.T @ here)[:, None]
                taken = filled(left, self._asked, room, self._limits[:, [j]] - here[:, None])[:, 0]
                if taken.any():
                    yield _Step(n, offer, more, taken)

    def _holding(self, bins: Bins, n: int) -> list[int]:
        """Return which of the offers have room for the pods of a node."""
        here = bins.counts[:, n]
        room = (self._free >= (self._asked.T @ here)[:, None]).all(axis=0)
        found: list[int] = np.flatnonzero(room & (self._limits >= here[:, None]).all(axis=0)).tolist()
        return found

    def _take(self, bins: Bins, step: _Step, counts: list[int]) -> None:
        j = self._offers.index(step.offer)
        if step.column is None:
            bins.add(step.offer, self._free[:, j], self._limits[:, j])
        else:
            counts[-1 - bins.names[step.column]] -= 1
            bins.exchange(step.column, step.offer, self._free[:, j], self._limits[:, j])
        bins.counts[:, -1 if step.column is None else step.column] += step.taken
        counts[step.offer] += 1

    def _allowed(self, counts: Sequence[int], more: int | None, less: int | None) -> bool:
        """Whether one node more of an offer and one less of another one may be bought."""
        catalogue, change = self._market.catalogue, Counter[str]()
        if less is not None:
            change[catalogue.offers[less].group] -= 1
        if more is not None:
            change[catalogue.offers[more].group] += 1
            stock = catalogue.offers[more].stock
            if counts[more] >= self._most[more] or (stock is not None and counts[more] >= stock):
                return False
        for group, by in change.items():
            limits = self._limits_of[group]
            if by > 0 and limits.most is not None and self._bought(counts, group) >= limits.most:
                return False
            if by < 0 and self._bought(counts, group) <= limits.least:
                return False
        if self._budget is None or more is None:
            return True
        extra = self._prices[more] - (0 if less is None else self._prices[less])
        return catalogue.price(tuple(counts)) + extra <= self._budget

    def _bought(self, counts: Sequence[int], group: str) -> int:
        return sum(counts[k] for k in self._market.catalogue.of_group(group))


def _rank(step: _Step, left: int) -> tuple[bool, float]:
    pods = int(step.taken.sum())
    return pods < left, step.cost / pods
