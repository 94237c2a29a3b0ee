"""Tightened sides of the rows, given that a tier attains its bound.

Where all that fits has to be placed, hardly any room may be left on any node, and no class may be short of a
pod. For each row the least (or most) it can be is bounded safely by the linear relaxation
(`solver.bounds.lp_relaxation`), over all solutions in which the tier attains its target.

Blocks of a type trade places in any solution, so one block of each type and the sum of its others stand for
all: the program is as small as if there were two nodes of each type.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from ...encoders.linear import HIGHEST, LOWEST
from ..bounds.lp_relaxation import linear, relaxed
from ..model.sparse_rows import Rows, Sparse

if TYPE_CHECKING:
    from ortools.util.python.solve_interrupter import SolveInterrupter

    from ..model.sparse_rows import Bools, Ints
    from .node_types import NodeType, NodeTypes


class SlackBounds:
    """Sides of rows, given that a cost is at most a target.

    Parameters
    ----------
    rows, blocks
        The model; `links` are its linking rows without literals.
    cost : ints, shape (variables,)
        Cost of the tier.
    target : int
        What it has to attain.
    """

    def __init__(
        self,
        rows: Rows,
        blocks: NodeTypes,
        links: Rows,
        cost: Ints,
        target: int,
        interrupter: SolveInterrupter,
    ) -> None:
        self._interrupter, self._links = interrupter, links
        self._first = _ids(len(rows.low), [kind.first for kind in blocks.types], 0)
        size = int(self._first.max(initial=-1)) + 1
        seconds = [kind.members[1] for kind in blocks.types if len(kind.members) > 1]
        rest = _ids(len(rows.low), seconds, size)
        size = max(size, int(rest.max(initial=-1)) + 1)
        shared = _ids(len(rows.low), [blocks.shared], size)
        self._all = np.maximum(np.maximum(self._first, rest), shared)
        self._size = max(size, int(shared.max(initial=-1)) + 1)
        low, high = np.zeros(self._size, dtype=np.int64), np.zeros(self._size, dtype=np.int64)
        for ids in (self._first, shared):
            low[ids[ids >= 0]], high[ids[ids >= 0]] = rows.low[ids >= 0], rows.high[ids >= 0]
        whole = self._vector(np.arange(len(cost)), cost, self._all)
        parts = [
            (_renamed(links.terms, self._all), links.floor, links.ceiling),
            (
                Sparse(np.array([0, self._size]), np.arange(self._size), whole),
                np.array([LOWEST]),
                np.array([target]),
            ),
        ]
        for kind in blocks.types:
            local, times = linear(rows.subset(kind.local)), len(kind.members) - 1
            parts.append((_renamed(local.terms, self._first), local.floor, local.ceiling))
            if times:
                other = np.full(len(rows.low), -1)
                other[kind.first] = rest[kind.members[1]]
                low[other[kind.first]], high[other[kind.first]] = (
                    times * side[kind.first] for side in (rows.low, rows.high)
                )
                sides = _scaled(local.floor, times), _scaled(local.ceiling, times)
                parts.append((_renamed(local.terms, other), *sides))
        first, *others = (terms for terms, _, _ in parts)
        terms = first.above(*others)
        self._program = Rows(
            low=low,
            high=high,
            terms=terms,
            floor=np.concatenate([floor for _, floor, _ in parts]),
            ceiling=np.concatenate([ceiling for _, _, ceiling in parts]),
            literals=Sparse(np.zeros_like(terms.start), terms.column[:0], terms.value[:0]),
        )

    def floors(self, kind: NodeType, weights: Ints, until: float) -> Ints:
        """Bound from below what some sums over one block of a type can be.

        Parameters
        ----------
        weights : ints, shape (sums, variables of the block)
            Coefficients of each.
        """
        return np.array([self._least(self._vector(kind.first, w, self._first), until) for w in weights])

    def linking(self, until: float) -> tuple[Ints, Ints]:
        """Return the sides of the linking rows, with bounds in place of open ones."""
        floor, ceiling = self._links.floor.copy(), self._links.ceiling.copy()
        for r in range(len(floor)):
            vector = self._vector(*self._links.terms.of(r), self._all)
            if floor[r] == LOWEST:
                floor[r] = self._least(vector, until)
            elif ceiling[r] == HIGHEST and (most := self._least(-vector, until)) != LOWEST:
                ceiling[r] = -most
        return floor, ceiling

    def _least(self, vector: Ints, until: float) -> int:
        left = until - time.monotonic()
        found = relaxed(self._program, vector, left, self._interrupter) if left > 0 else None
        # far from the best duals a bound may be any number, also one that no row can have
        return LOWEST if found is None or found < LOWEST else min(found, HIGHEST)

    def _vector(self, columns: Ints, values: Ints, ids: Ints) -> Ints:
        """Coefficients in the program of a sum over the model; those of blocks like the second are its."""
        found = np.zeros(self._size, dtype=np.int64)
        known: Bools = ids[columns] >= 0
        found[ids[columns][known]] = values[known]
        return found


def _ids(variables: int, groups: list[Ints], start: int) -> Ints:
    """Number the variables of some groups from a start on; -1 for the others."""
    found = np.full(variables, -1)
    for group in groups:
        found[group] = np.arange(start, start + len(group))
        start += len(group)
    return found


def _renamed(terms: Sparse, ids: Ints) -> Sparse:
    """Rows over the variables that have a number, renumbered."""
    known = ids[terms.column] >= 0
    start = np.concatenate(([0], np.cumsum(known)))[terms.start]
    return Sparse(start, ids[terms.column[known]], terms.value[known])


def _scaled(sides: Ints, times: int) -> Ints:
    """Return the sides of the sum of a number of like rows."""
    none = (sides == LOWEST) | (sides == HIGHEST)
    return np.where(none, sides, np.where(none, 0, sides) * times)
