"""Pods moved and swapped between nodes until none is overfull: local search for tight packings.

All pods stand somewhere; what counts is by how much nodes are overfull, each resource as a share of the
room of all nodes. A step moves a pod or swaps two, the one that helps most; where none helps, one that hurts
little is taken that was not undone lately (tabu search).

Source: Glover, Tabu search, part I.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from ...framework.vocabulary.arrays import Bools, Ints

# Steps in all, steps without gain after which the search ends, and steps for which a class that left a node
# stays out of it.
_STEPS: Final = 3000
_PATIENCE: Final = 100
_TABU: Final = 7

# Excess that is none but for being a float.
_NONE: Final = 1e-12


class Swaps:
    """A packing that may be overfull.

    Parameters
    ----------
    asked : int array (C, R)
    free : int array (R, N)
    most : int array (C, N)
        Most pods of each class.
    counts : int array (C, N)
        How many there are; within `most`.
    """

    def __init__(self, asked: Ints, free: Ints, most: Ints, counts: Ints) -> None:
        scale = np.maximum(free.sum(axis=1), 1).astype(float)
        nothing = np.zeros((1, asked.shape[1]))
        shares = np.vstack((asked / scale, nothing))
        self._change = (shares[:, None, :] - shares[None, :, :]).transpose(2, 0, 1).copy()
        """What a node loses of each resource that gives one class and takes another, (R, C+1, C+1)."""
        self._most = np.vstack((most, np.full((1, most.shape[1]), len(asked) + counts.sum())))
        self._counts = np.vstack((counts, np.ones((1, counts.shape[1]), dtype=counts.dtype)))
        self._over = (asked.T @ counts - free) / scale[:, None]

    def run(self, until: float) -> Ints:
        """Search; return the least overfull packing that was found."""
        best, least = self._counts[:-1].copy(), self._excess()
        tabu = np.zeros(self._counts.shape, dtype=np.int64)
        stale = 0
        for step in range(1, _STEPS + 1):
            if least <= _NONE or stale >= _PATIENCE or time.monotonic() > until:
                break
            found = self._step(tabu >= step)
            if found is None:
                break
            gives, takes, a, b = found
            self._apply(*found)
            tabu[gives, a] = tabu[takes, b] = step + _TABU + step % 5
            excess = self._excess()
            stale += 1
            if excess < least - _NONE:
                best, least, stale = self._counts[:-1].copy(), excess, 0
        return best

    def _excess(self) -> float:
        return float(np.maximum(self._over, 0).sum())

    def _step(self, tabu: Bools) -> tuple[int, int, int, int] | None:
        """Return the best swap: a class that leaves, one that comes, an overfull node, the other."""
        best: tuple[float, tuple[int, int, int, int]] | None = None
        nobody = len(self._counts) - 1
        excess = np.maximum(self._over, 0).sum(axis=0)
        room = (self._counts < self._most) & ~tabu
        room[nobody] = True
        for a in np.flatnonzero(excess > _NONE).tolist():
            left = np.maximum(self._over[:, a, None, None] - self._change, 0).sum(axis=0)
            for b in range(len(excess)):
                if b == a:
                    continue
                gives = (self._counts[:, a] > 0) & room[:, b]
                takes = (self._counts[:, b] > 0) & room[:, a]
                total = left + np.maximum(self._over[:, b, None, None] + self._change, 0).sum(axis=0)
                total[~gives] = np.inf
                total[:, ~takes] = np.inf
                np.fill_diagonal(total, np.inf)
                k = int(total.argmin())
                gain = float(total.flat[k]) - float(excess[a] + excess[b])
                if best is None or gain < best[0]:
                    best = gain, (*divmod(k, total.shape[1]), a, b)
        return None if best is None or best[0] == np.inf else best[1]

    def _apply(self, gives: int, takes: int, a: int, b: int) -> None:
        for c, source, target in ((gives, a, b), (takes, b, a)):
            if c < len(self._counts) - 1:
                self._counts[c, source] -= 1
                self._counts[c, target] += 1
        moved = self._change[:, gives, takes]
        self._over[:, a] -= moved
        self._over[:, b] += moved
