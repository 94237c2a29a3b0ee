"""Plans from the columns: hold the whole parts of what the master takes, price anew, and so on.

    1. The master says how often each column is taken. The floors are held; where there are none, the column
       that is taken most, without the pods that are no longer there.
    2. What is left is priced for some rounds, and the master solved again, until no node is left.
    3. Some nodes, drawn at random, are emptied and filled in the same way; what is no worse stays.

Source: Sadykov, Vanderbeck, Pessoa, Tahiri and Uchoa, Primal heuristics for branch and price.
"""

from __future__ import annotations

import random
import time
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from .master import NOTHING
from .pricing import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..model.sparse_rows import Ints
    from .generation import Columns
    from .master import MasterSolution
    from .params import ColumnParams

Filled = tuple[int, Column]
"""A node of a type with what stands on it."""


def dive(columns: Columns, start: MasterSolution | None, until: float, rounds: int) -> list[Filled]:
    """Fill the nodes that are left to the columns; out of time as the master has them, maybe not all."""
    held: list[Filled] = []
    found = start
    while found is not None and any(columns.nodes) and not columns.stopped:
        late = time.monotonic() >= until
        taken = _take_all(columns, found) if late else _take(columns, found)
        if not taken:
            break
        left, nodes = columns.left.copy(), list(columns.nodes)
        for kind, column, number in taken:
            held += [(kind, column)] * number
            left -= number * column.pods
            nodes[kind] -= number
        columns.leave(left, nodes)
        if late:
            break
        found = columns.tighten(until, rounds)
    return held


class Dives:
    """The first plan and better ones.

    Attributes
    ----------
    filled : list of Filled
        The best plan.
    worth : int
        What its pods are worth together.
    """

    def __init__(self, columns: Columns, weights: Ints, seed: int, params: ColumnParams) -> None:
        self._columns, self._weights, self._params = columns, weights, params
        self._random = random.Random(seed)
        self._sizes, self._nodes = columns.left.copy(), tuple(columns.nodes)
        self.filled: list[Filled] = []
        self.worth, self._best = 0, 0.0

    def first(self, start: MasterSolution, until: float) -> None:
        """Make the first plan."""
        self._duals = start
        self._keep(dive(self._columns, start, until, self._params.dive_rounds))

    def improve(self, target: int, until: float) -> None:
        """Empty some nodes and fill them anew, until the plan is worth the target or nothing helps."""
        # where every node is emptied each time, a second dive is like the first
        most_idle = self._params.idle_dives if len(self.filled) > self._params.freed_nodes else 1
        idle = 0
        while self.worth < target and idle < most_idle:
            if time.monotonic() >= until or self._columns.stopped:
                break
            # what few nodes cannot give, more of them may: sizes take turns while nothing is better
            stays = self._drawn(self._params.freed_nodes * (1 + idle % self._params.freed_sizes))
            self._columns.leave(*self._rest(stays))
            start = self._columns.tighten(until, self._params.dive_rounds)
            found = stays + dive(self._columns, start, until, self._params.dive_rounds)
            value = self._value(found)
            idle = 0 if value > self._best + NOTHING else idle + 1
            if value >= self._best - NOTHING:
                self._keep(found)

    def _drawn(self, free: int) -> list[Filled]:
        """Draw so many nodes that are emptied, one half of them by what they lose; return the others."""
        order = self._random.sample(self.filled, len(self.filled))
        losses = [self._columns.loss(kind, column, self._duals) for kind, column in order]
        chance = [self._random.random() ** (1 / max(loss, NOTHING)) for loss in losses]
        first = sorted(range(len(order)), key=chance.__getitem__, reverse=True)[: free // 2]
        freed = {*first, *range(free - len(first))}
        return [one for k, one in enumerate(order) if k not in freed]

    def _rest(self, filled: Sequence[Filled]) -> tuple[Ints, list[int]]:
        """Return the pods of each class and the nodes of each type that a plan leaves."""
        left, nodes = self._sizes.copy(), list(self._nodes)
        for kind, column in filled:
            left -= column.pods
            nodes[kind] -= 1
        return left, nodes

    def _value(self, filled: Sequence[Filled]) -> float:
        return sum(self._columns.worth(kind, column) for kind, column in filled)

    def _keep(self, filled: list[Filled]) -> None:
        self.filled, self._best = filled, self._value(filled)
        self.worth = worth(self._weights, filled)


def worth(weights: Ints, filled: Sequence[Filled]) -> int:
    """Return what the pods of a plan are worth together."""
    return sum(int(weights @ column.pods) for _, column in filled)


def _take(columns: Columns, found: MasterSolution) -> list[tuple[int, Column, int]]:
    """Choose the columns to hold next, each with a number of nodes; none where the master takes nothing."""
    left, nodes = columns.left.copy(), list(columns.nodes)
    taken: list[tuple[int, Column, int]] = []
    for q in np.flatnonzero(found.often > 1 - NOTHING).tolist():
        kind, column = columns.known[q]
        some = column.pods > 0
        number = int(min(found.often[q] + NOTHING, nodes[kind], *(left[some] // column.pods[some])))
        if number:
            taken.append((kind, column, number))
            left -= number * column.pods
            nodes[kind] -= number
    if not taken and found.often.max(initial=0.0) > NOTHING:
        kind, column = columns.known[int(found.often.argmax())]
        taken.append((kind, Column(np.minimum(column.pods, left), column.devices), 1))
    return taken


def _take_all(columns: Columns, found: MasterSolution) -> list[tuple[int, Column, int]]:
    """Round up what the master takes, the most frequent columns first, as far as pods and nodes suffice."""
    left, nodes = columns.left.copy(), list(columns.nodes)
    taken: list[tuple[int, Column, int]] = []
    for q in np.argsort(-found.often, kind="stable").tolist():
        kind, column = columns.known[q]
        for _ in range(min(ceil(found.often[q] - NOTHING), nodes[kind])):
            pods = np.minimum(column.pods, left)
            taken.append((kind, Column(pods, column.devices), 1))
            left -= pods
            nodes[kind] -= 1
    return taken
