"""Nodes of a cell as bins that are filled with pods of classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ...framework.vocabulary.arrays import Ints


@dataclass
class Bins:
    """Nodes of a cell, by column: what they have, and how many pods of each class are put there.

    Attributes
    ----------
    names : list of int
        An own node of the cluster, as the problem numbers it; of one that is bought its offer, as -1 - offer.
    free : int array (R+1, N)
        The last row is pod slots.
    most, counts : int array (C, N)
    """

    names: list[int]
    free: Ints
    most: Ints
    counts: Ints

    def add(self, offer: int, free: Ints, most: Ints) -> None:
        """Add an empty node of an offer."""
        self.names.append(-1 - offer)
        self.free = np.column_stack((self.free, free))
        self.most = np.column_stack((self.most, most))
        self.counts = np.column_stack((self.counts, np.zeros(len(self.counts), dtype=np.int64)))

    def exchange(self, n: int, offer: int, free: Ints, most: Ints) -> None:
        """Replace a node by one of another offer, with the same pods."""
        self.names[n] = -1 - offer
        self.free[:, n], self.most[:, n] = free, most

    def remove(self, n: int) -> None:
        """Take a node away, with its pods."""
        del self.names[n]
        self.free = np.delete(self.free, n, axis=1)
        self.most = np.delete(self.most, n, axis=1)
        self.counts = np.delete(self.counts, n, axis=1)


def filled(wanted: Ints, asked: Ints, free: Ints, most: Ints) -> Ints:
    """Fill nodes, the largest first, each with the pods that fit what it has left best.

    Parameters
    ----------
    wanted : int array (C,)
        Pods of each class.
    asked : int array (C, R)
    free : int array (R, N)
    most : int array (C, N)
    """
    left, counts = wanted.copy(), np.zeros_like(most)
    scale = np.maximum(free.max(axis=1), 1).astype(float)
    shares = asked / scale
    for n in np.argsort(-(free / scale[:, None]).sum(axis=0), kind="stable").tolist():
        room = free[:, n].copy()
        while True:
            fits = (left > 0) & (counts[:, n] < most[:, n]) & (asked <= room).all(axis=1)
            if not fits.any():
                break
            c = int(np.where(fits, shares @ (room / scale), -1.0).argmax())
            counts[c, n] += 1
            left[c] -= 1
            room -= asked[c]
    return counts
