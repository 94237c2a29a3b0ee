"""A CP-SAT model as sparse rows over its variables, for what is done beside CP-SAT itself.

    low_r <= Σ a_rj·x_j <= high_r        in force where every literal of the row holds

Clauses, implications and at-most-one rows are linear rows over literals too, so one form serves relaxations
(`solver.bounds.lp_relaxation`, `solver.patterns.column_generation`) and models of a part
(`solver.model.submodel`).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np
from ortools.sat.python import cp_model

from ...encoders.linear import HIGHEST, LOWEST
from ...models.errors import InternalError
from ...models.progress import Watch, unwatched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from ortools.sat.python import cp_model

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Sparse:
    """Rows of (column, value) pairs in compressed form: row r is `start[r]:start[r + 1]`."""

    start: Ints
    column: Ints
    value: Ints

    @property
    def row(self) -> Ints:
        """Row of each pair."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def of(self, r: int) -> tuple[Ints, Ints]:
        """Columns and values of a row."""
        where = slice(self.start[r], self.start[r + 1])
        return self.column[where], self.value[where]

    def times(self, x: Ints) -> Ints:
        """Multiply by a vector, exactly as long as no sum passes 2**63."""
        products = self.value * x[self.column]
        sums = np.concatenate(([0], np.cumsum(products)))
        return sums[self.start[1:]] - sums[self.start[:-1]]

    def take(self, rows: Ints) -> Sparse:
        """Some of the rows, in the order asked for."""
        where, _ = entries(self.start, rows)
        start = np.concatenate(([0], np.cumsum(self.start[rows + 1] - self.start[rows])))
        return Sparse(start, self.column[where], self.value[where])

    def beside(self, other: Sparse) -> Sparse:
        """Each row with the pairs of another's behind its own."""
        row = np.concatenate((self.row, other.row))
        order = np.argsort(row, kind="stable")
        return Sparse(
            self.start + other.start,
            np.concatenate((self.column, other.column))[order],
            np.concatenate((self.value, other.value))[order],
        )

    def summed(self) -> Sparse:
        """Each column once a row, in their order, with the sum of its values."""
        row = self.row
        order = np.lexsort((self.column, row))
        row, column, value = row[order], self.column[order], self.value[order]
        first = np.ones(len(row), dtype=bool)
        first[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
        if not len(row):
            return self
        counts = np.bincount(row[first], minlength=len(self.start) - 1)
        return Sparse(
            np.concatenate(([0], np.cumsum(counts))),
            column[first],
            np.add.reduceat(value, np.flatnonzero(first)),
        )

    def above(self, *others: Sparse) -> Sparse:
        """These rows, and others below them."""
        parts = (self, *others)
        ends = np.concatenate([np.diff(p.start) for p in parts])
        return Sparse(
            np.concatenate(([0], np.cumsum(ends))),
            np.concatenate([p.column for p in parts]),
            np.concatenate([p.value for p in parts]),
        )

    def transposed(self, columns: int) -> Sparse:
        """The same pairs, column by column."""
        order = np.argsort(self.column, kind="stable")
        start = np.concatenate(([0], np.cumsum(np.bincount(self.column, minlength=columns))))
        return Sparse(start.astype(np.int64), self.row[order], self.value[order])


@dataclass(frozen=True)
class Rows:
    """A model as rows.

    Attributes
    ----------
    low, high : ints, shape (variables,)
        Domain of each variable.
    terms : Sparse
        Coefficients of the rows.
    floor, ceiling : ints, shape (rows,)
        Limits of each row; `linear.LOWEST` and `linear.HIGHEST` are none.
    literals : Sparse
        Of each row the Booleans that must hold for it to be in force, with value 1, or 0 for a negated one.
    """

    low: Ints
    high: Ints
    terms: Sparse
    floor: Ints
    ceiling: Ints
    literals: Sparse

    def subset(self, rows: Ints) -> Rows:
        """Some of the rows over the same variables."""
        return Rows(
            self.low,
            self.high,
            self.terms.take(rows),
            self.floor[rows],
            self.ceiling[rows],
            self.literals.take(rows),
        )

    def joined(self, newer: Rows) -> Rows:
        """These rows and variables and newer ones of the same model."""
        return Rows(
            np.concatenate((self.low, newer.low)),
            np.concatenate((self.high, newer.high)),
            self.terms.above(newer.terms),
            np.concatenate((self.floor, newer.floor)),
            np.concatenate((self.ceiling, newer.ceiling)),
            self.literals.above(newer.literals),
        )


def entries(start: Ints, picked: Ints) -> tuple[Ints, Ints]:
    """Positions of the pairs of some rows of a `Sparse`, and for each the place of its row in `picked`."""
    lengths = start[picked + 1] - start[picked]
    owner = np.repeat(np.arange(len(picked)), lengths)
    return np.arange(len(owner)) + (start[picked] - np.cumsum(lengths) + lengths)[owner], owner


def extremes(groups: Ints, values: Ints, number: int) -> tuple[Ints, Ints]:
    """Least and most of the values of each group, none of which is negative; the most of none is -1."""
    least, most = np.full(number, np.iinfo(np.int64).max), np.full(number, -1)
    np.minimum.at(least, groups, values)
    np.maximum.at(most, groups, values)
    return least, most


# Constraints between two reports of how many are read.
_CONSTRAINTS_UNHEARD: Final = 1024


def rows_of(
    model: cp_model.CpModel, constraint: int = 0, variable: int = 0, watch: Watch = unwatched
) -> Rows:
    """Read a model's constraints and the limits of its variables, from these numbers on.

    `watch` hears of the constraints read.
    What kubestow's encoders state (linear rows, clauses, at-most-one) is all that it may hold.
    """
    proto = model.proto
    newer = range(variable, len(proto.variables))
    domains = np.array([tuple(proto.variables[k].domain) for k in newer], dtype=np.int64).reshape(-1, 2)
    terms: list[tuple[Sequence[int], Sequence[int]]] = []
    limits: list[tuple[int, int]] = []
    literals: list[Sequence[int]] = []
    for number in range(constraint, len(proto.constraints)):
        if number % _CONSTRAINTS_UNHEARD == 0:
            watch("reading the model: constraints", number, len(proto.constraints))
        stated = proto.constraints[number]
        enforced = list(stated.enforcement_literal)
        if stated.has_linear():
            terms.append((list(stated.linear.vars), list(stated.linear.coeffs)))
            low, high = stated.linear.domain
            limits.append((low, high))
            literals.append(enforced)
        elif stated.has_bool_and():
            for literal in stated.bool_and.literals:
                _clause(terms, limits, [literal], 1, HIGHEST)
                literals.append(enforced)
        elif stated.has_bool_or():
            _clause(terms, limits, list(stated.bool_or.literals), 1, HIGHEST)
            literals.append(enforced)
        elif stated.has_at_most_one():
            _clause(terms, limits, list(stated.at_most_one.literals), LOWEST, 1)
            literals.append(enforced)
        else:
            raise InternalError(f"no linear form is known of {stated}")
    bounds = np.array(limits, dtype=np.int64).reshape(-1, 2)
    return Rows(
        low=domains[:, 0],
        high=domains[:, 1],
        terms=_sparse(terms),
        floor=bounds[:, 0],
        ceiling=bounds[:, 1],
        literals=_sparse([([max(x, -x - 1) for x in xs], [int(x >= 0) for x in xs]) for xs in literals]),
    )


def _clause(
    terms: list[tuple[Sequence[int], Sequence[int]]],
    limits: list[tuple[int, int]],
    literals: Sequence[int],
    low: int,
    high: int,
) -> None:
    """Add a row on how many of some literals hold; a negated one, -x - 1, is 1 less its variable."""
    negated = sum(x < 0 for x in literals)
    columns: dict[int, int] = {}
    for x in literals:
        columns[max(x, -x - 1)] = columns.get(max(x, -x - 1), 0) + (1 if x >= 0 else -1)
    terms.append((list(columns), list(columns.values())))
    limits.append((low if low == LOWEST else low - negated, high if high == HIGHEST else high - negated))


def _sparse(pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Sparse:
    lengths = np.fromiter((len(columns) for columns, _ in pairs), dtype=np.int64, count=len(pairs))
    total = int(lengths.sum())
    flat = chain.from_iterable
    return Sparse(
        np.concatenate(([0], np.cumsum(lengths))),
        np.fromiter(flat(columns for columns, _ in pairs), dtype=np.int64, count=total),
        np.fromiter(flat(values for _, values in pairs), dtype=np.int64, count=total),
    )
