"""Packing in one go: large pods first, each on the fullest node that has room for it.

Where few pods share a node and room is to spare, every pod may find a place although no choice of nodes comes
near an even share of the slack: of a pod that asks for two thirds of a node a third stays free, whatever the
others do. Where room is scarce this finds nothing, in next to no time.

Source: the heuristic best-fit decreasing, with a class of pods at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ...framework.vocabulary.arrays import Ints
    from .side import Side


def best_fit(side: Side) -> Ints | None:
    """Pack the pods of a side; None where a pod found no place.

    First it is tried with as few victims who leave as can be, then without a thought for them.

    Returns
    -------
    ints, shape (nodes, classes)
    """
    for free in (side.free, side.rooms):
        found = _Filling(side, free).run()
        if found is not None:
            return found
    return None


class _Filling:
    """Nodes that are filled with one class after another.

    Parameters
    ----------
    free : ints, shape (nodes, rows)
        What pods take first; the rest of the room is taken where nothing of this suffices.
    """

    def __init__(self, side: Side, free: Ints) -> None:
        self._side = side
        self._whole = np.maximum(side.rooms.mean(axis=0), 1)
        self._filled = side.least.copy()
        taken = self._filled @ side.weights.T
        self._room, self._free = side.rooms - taken, free - taken

    def run(self) -> Ints | None:
        """Give each pod a place; None where one found none."""
        side = self._side
        missing = side.demand - self._filled.sum(axis=0)
        if (missing < 0).any() or (self._room < 0).any():
            return None
        size = (side.weights / self._whole[:, None]).max(axis=0)
        for c in np.argsort(-size, kind="stable").tolist():
            left = int(missing[c]) - self._take(c, int(missing[c]), self._free)
            while left:
                taken = self._take(c, left, self._room, once=True)
                if not taken:
                    return None
                left -= taken
        return self._filled

    def _take(self, c: int, left: int, room: Ints, *, once: bool = False) -> int:
        """Put pods of a class on the nodes that are best for them, `once` one on each; return how many."""
        side, asked = self._side, self._side.weights[:, c]
        some = asked > 0
        often = (room[:, some] // asked[some]).min(axis=1, initial=left)
        often = np.clip(often, 0, np.minimum(side.most[:, c] - self._filled[:, c], 1 if once else left))
        # what a pod takes from victims counts first, then how full the node is
        robbed = (np.maximum(asked - np.maximum(self._free, 0), 0) / self._whole).sum(axis=1)
        order = np.lexsort(((self._room / self._whole).sum(axis=1), robbed))
        before = np.cumsum(often[order]) - often[order]
        often[order] = np.clip(left - before, 0, often[order])
        self._filled[:, c] += often
        self._room -= often[:, None] * asked
        self._free -= often[:, None] * asked
        return int(often.sum())
