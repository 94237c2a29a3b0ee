"""The pods of a blueprint put on its nodes, cell by cell, as a purchase with a plan to start its round from.

Each cell is packed by itself: room, slots and the most of each class only, first by filling one node after
another with the pods that fit its shape best, else by `tight_packing` and `swaps`. For pods that find
no room then the cheapest nodes more are bought that take them. What comes of it is put in an order with every
filter, and is only a plan to begin with.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from ...encoders.build import build_problem
from ...framework.build import build_cluster
from ..ordering.assignment import Assignment
from ..ordering.decoding import complete, salvage
from ..ordering.sequencer import Sequencer
from .bins import Bins, filled
from .resize import Resizing
from .swaps import Swaps
from .tight_packing import crammed, eased, searched

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...framework.vocabulary.arrays import Ints
    from ..plans.outcome import Outcome
    from .blueprint import Draft
    from .cells import Division
    from .trial import Counts, Market


@dataclass(frozen=True)
class Packed:
    """A purchase, and its cluster's plan to begin with."""

    counts: Counts
    outcome: Outcome


class Packer:
    """Packs drafts of one division.

    Parameters
    ----------
    most : tuple of int
        How many nodes of each offer are of use.
    budget : int or None
        The most that may be spent, in millionths.
    """

    def __init__(self, market: Market, division: Division, most: Counts, budget: int | None) -> None:
        self._market, self._division = market, division
        self._most, self._budget = most, budget
        problem = division.problem
        self._asked = division.asked
        free = np.vstack((problem.free_now, problem.slots_now[None, :])).astype(np.int64)
        self._free = np.maximum(free, 0)
        self._limits = np.array([np.where(cls.mask, cls.limit, 0) for cls in problem.classes], dtype=np.int64)

    def pack(self, draft: Draft, until: float) -> Packed:
        """Put the pods of a draft on its nodes, and on as few more as they need."""
        pods: dict[int, Ints] = {}
        for (c, k), n in draft.pods.items():
            if n:
                pods.setdefault(k, np.zeros(len(self._asked), dtype=np.int64))[c] = n
        cells: list[Bins] = []
        total = list(draft.counts)
        for done, (k, wanted) in enumerate(sorted(pods.items())):
            end = time.monotonic() + (until - time.monotonic()) / (len(pods) - done)
            bins = self._bins(k, draft.counts)
            self._fill(k, bins, wanted, end)
            resizing = self._resizing(k)
            resizing.enough(bins, wanted, total)
            resizing.tight(bins, total)
            cells.append(bins)
        return self._outcome(tuple(total), cells, until)

    def _bins(self, k: int, counts: Counts) -> Bins:
        """Return a cell's own nodes and those that are bought, empty."""
        cell, names = self._division.cells[k], self._division.nodes
        bought = [offer for offer in cell.offers for _ in range(counts[offer])]
        nodes = np.array([*cell.own, *(names[offer] for offer in bought)], dtype=np.int64)
        limits = self._limits[:, nodes]
        return Bins(
            [*cell.own, *(-1 - offer for offer in bought)],
            self._free[:, nodes],
            limits,
            np.zeros_like(limits),
        )

    def _fill(self, k: int, bins: Bins, wanted: Ints, until: float) -> None:
        """Put as many pods as have room on nodes."""
        first, shape_of = self._shapes(k, wanted)
        asked = self._asked[first]
        number = np.bincount(shape_of, wanted[wanted > 0], len(first)).astype(np.int64)
        found = filled(number, asked, bins.free, bins.most[first])
        if int(found.sum()) < int(number.sum()):
            found = crammed(asked, bins.free, bins.most[first], number, until)
            swapped = Swaps(asked, bins.free, bins.most[first], found).run(until)
            found = eased(asked, bins.free, swapped)
            if int(found.sum()) < int(number.sum()):
                found = searched(
                    self._market.options, asked, bins.free, bins.most[first], number, found, until
                )
        for c, shape in zip(np.flatnonzero(wanted).tolist(), shape_of.tolist(), strict=True):
            left = int(wanted[c])
            for n in np.flatnonzero(found[shape]).tolist():
                bins.counts[c, n] = taken = min(left, int(found[shape, n]))
                found[shape, n] -= taken
                left -= taken

    def _shapes(self, k: int, wanted: Ints) -> tuple[Ints, Ints]:
        """Gather classes that are alike on all nodes of a cell.

        Returns
        -------
        int array (S,)
            A class of each shape.
        int array
            The shape of each class that is wanted, in their order.
        """
        cell, classes = self._division.cells[k], np.flatnonzero(wanted)
        nodes = [*cell.own, *(self._division.nodes[offer] for offer in cell.offers)]
        known: dict[bytes, int] = {}
        for c in classes.tolist():
            known.setdefault(self._key(c, nodes), c)
        place = {key: s for s, key in enumerate(known)}
        return np.array([*known.values()]), np.array([place[self._key(c, nodes)] for c in classes.tolist()])

    def _key(self, c: int, nodes: Sequence[int]) -> bytes:
        return bytes(self._asked[c].tobytes() + self._limits[c, nodes].tobytes())

    def _resizing(self, k: int) -> Resizing:
        offers = self._division.cells[k].offers
        nodes = [self._division.nodes[offer] for offer in offers]
        free, limits = self._free[:, nodes], self._limits[:, nodes]
        return Resizing(self._market, offers, free, limits, self._asked, self._most, self._budget)

    def _outcome(self, counts: Counts, cells: Iterable[Bins], until: float) -> Packed:
        """Name pods and nodes, and put the pods in an order."""
        bought = self._market.bought(counts)
        problem = build_problem(build_cluster(bought.snapshot))
        cluster, known = problem.cluster, self._division.problem
        new = [iter(names) for names in bought.nodes]
        pods = [iter(cls.pods) for cls in known.classes]
        placed: dict[int, int] = {}
        for bins in cells:
            for n, name in enumerate(bins.names):
                node = known.cluster.node_names[name] if name >= 0 else next(new[-1 - name])
                for c in np.flatnonzero(bins.counts[:, n]).tolist():
                    for i in islice(pods[c], int(bins.counts[c, n])):
                        placed[cluster.pod_index[known.cluster.pods[i].key]] = cluster.node_index[node]
        result = Sequencer(problem).order(Assignment(placed, frozenset()), until)
        # nothing but filters was looked at: of a gang, say, there may be too few pods
        moves = salvage(problem, result.partial if result.moves is None else result.moves, {})
        return Packed(counts, complete(problem, moves, {}).outcome)
