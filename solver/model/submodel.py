"""Submodels of a large model: some variables are free, all others keep their values.

A submodel costs what it contains, not what the model contains: rows are reached from the free variables,
their other terms are known from the row's activity, and limits are propagated before CP-SAT sees the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from ortools.sat.python import cp_model

from ...encoders.linear import HIGHEST, LOWEST
from .sparse_rows import entries

if TYPE_CHECKING:
    from .sparse_rows import Bools, Ints, Rows

# Limits are clipped to this, so that their differences fit in 64 bits; activities of rows are far smaller.
FAR = 2**61

# Passes of propagation: further ones find little.
PASSES = 3


@dataclass(frozen=True)
class Submodel:
    """A submodel; `variables` gives the variable of the large model for each of its own."""

    model: cp_model.CpModel
    variables: Ints
    low: Ints
    high: Ints

    def aim(self, cost: Ints) -> None:
        """Set the objective: a cost of the large model's variables, to be minimised."""
        mine = cost[self.variables]
        aimed = np.flatnonzero((mine != 0) & (self.low < self.high))
        self.model.proto.objective.vars.extend(aimed.tolist())
        self.model.proto.objective.coeffs.extend(mine[aimed].tolist())


class Submodels:
    """Extracts submodels of rows around a point, and keeps the point."""

    def __init__(self, rows: Rows, x: Ints) -> None:
        self.rows = rows
        self.columns = rows.terms.transposed(len(rows.low))
        self.literals = rows.literals.transposed(len(rows.low))
        self._place = np.full(len(rows.low), -1)
        self.floor = np.maximum(rows.floor, -FAR)
        self.ceiling = np.minimum(rows.ceiling, FAR)
        self.move_to(x)

    def move_to(self, x: Ints) -> None:
        """Move to another point, which may violate rows."""
        self.x = x.copy()
        self.activity = self.rows.terms.times(self.x)

    def rows_at(self, variables: Ints) -> Ints:
        """Rows in which some variables occur, as a term or as a condition."""
        terms, _ = entries(self.columns.start, variables)
        literals, _ = entries(self.literals.start, variables)
        return np.unique(np.concatenate((self.columns.column[terms], self.literals.column[literals])))

    def broken(self, rows: Ints | None = None) -> Ints:
        """Rows that are in force at the point and do not hold."""
        picked = np.arange(len(self.floor)) if rows is None else rows
        activity = self.activity[picked]
        bad = picked[(activity < self.floor[picked]) | (activity > self.ceiling[picked])]
        return bad[self._in_force(bad)] if len(bad) else bad

    def _in_force(self, rows: Ints) -> Bools:
        found, owner = entries(self.rows.literals.start, rows)
        unmet = self.x[self.rows.literals.column[found]] != self.rows.literals.value[found]
        return np.asarray(np.bincount(owner[unmet], minlength=len(rows)) == 0)

    def move(self, variables: Ints, values: Ints) -> Ints:
        """Change some variables of the point; return the rows that they occur in."""
        changed = self.x[variables] != values
        variables, values = variables[changed], values[changed]
        found, owner = entries(self.columns.start, variables)
        delta = (values - self.x[variables])[owner] * self.columns.value[found]
        np.add.at(self.activity, self.columns.column[found], delta)
        self.x[variables] = values
        return self.rows_at(variables)

    def extract(self, free: Ints) -> Submodel | None:
        """Build the model of some distinct variables; None where the others leave them no values."""
        rows = self.rows
        found, column = entries(self.columns.start, free)
        touched = self.rows_at(free)
        terms = Triplets(
            np.searchsorted(touched, self.columns.column[found]), column, self.columns.value[found]
        )
        rest = self.activity[touched] - terms.sums(self.x[free], len(touched))
        floor, ceiling = self.floor[touched] - rest, self.ceiling[touched] - rest
        self._place[free] = np.arange(len(free))
        inside, owner = entries(rows.literals.start, touched)
        literal, wanted = rows.literals.column[inside], rows.literals.value[inside]
        place = self._place[literal]
        self._place[free] = -1
        unmet = (place < 0) & (self.x[literal] != wanted)
        stated = np.bincount(owner[unmet], minlength=len(touched)) == 0
        here = place >= 0
        conditions = Triplets(owner[here], place[here], wanted[here])
        conditional = np.bincount(conditions.row, minlength=len(touched)) > 0
        limits = propagated(rows.low[free], rows.high[free], terms.of(stated & ~conditional), floor, ceiling)
        if (limits[0] > limits[1]).any():
            return None
        least, most = terms.reach(*limits, len(touched))
        stated &= (least < floor) | (most > ceiling)
        model = _model(*limits, terms.of(stated), conditions.of(stated), floor, ceiling, stated)
        return Submodel(model, free, *limits)


@dataclass(frozen=True)
class Triplets:
    """Terms of rows in any order: row, column and value of each."""

    row: Ints
    column: Ints
    value: Ints

    def of(self, rows: Bools) -> Triplets:
        """Keep the terms of some rows."""
        mine = rows[self.row]
        return Triplets(self.row[mine], self.column[mine], self.value[mine])

    def sums(self, x: Ints, rows: int) -> Ints:
        """Value of each row."""
        return _sums(self.row, self.value * x[self.column], rows)

    def reach(self, low: Ints, high: Ints, rows: int) -> tuple[Ints, Ints]:
        """Least and most value of each row."""
        at_low, at_high = self.value * low[self.column], self.value * high[self.column]
        least, most = np.minimum(at_low, at_high), np.maximum(at_low, at_high)
        return _sums(self.row, least, rows), _sums(self.row, most, rows)


def propagated(low: Ints, high: Ints, terms: Triplets, floor: Ints, ceiling: Ints) -> tuple[Ints, Ints]:
    """Tighten limits by the rows: what one term may add when all others are at their least, or most."""
    up, size = terms.value > 0, np.abs(terms.value)
    for _ in range(PASSES):
        least, most = terms.reach(low, high, len(floor))
        below, above = (ceiling - least)[terms.row] // size, (most - floor)[terms.row] // size
        narrow_low, narrow_high = low.copy(), high.copy()
        np.minimum.at(narrow_high, terms.column, low[terms.column] + np.where(up, below, above))
        np.maximum.at(narrow_low, terms.column, high[terms.column] - np.where(up, above, below))
        done = (narrow_low == low).all() and (narrow_high == high).all()
        low, high = narrow_low, narrow_high
        if done or (low > high).any():
            break
    return low, high


def _sums(row: Ints, values: Ints, rows: int) -> Ints:
    """Add up integers by row, exactly."""
    total = np.zeros(rows, dtype=np.int64)
    np.add.at(total, row, values)
    return total


def _model(
    low: Ints, high: Ints, terms: Triplets, conditions: Triplets, floor: Ints, ceiling: Ints, stated: Bools
) -> cp_model.CpModel:
    """Write the rows that are not redundant."""
    model = cp_model.CpModel()
    variables = model.proto.variables
    for pair in np.stack((low, high), axis=1).tolist():
        variables.add().domain.extend(pair)
    order = np.argsort(terms.row, kind="stable")
    column, value = terms.column[order].tolist(), terms.value[order].tolist()
    rows = np.flatnonzero(stated)
    first = np.searchsorted(terms.row[order], rows).tolist()
    end = np.searchsorted(terms.row[order], rows, side="right").tolist()
    when: dict[int, list[int]] = {}
    literals = (conditions.row.tolist(), conditions.column.tolist(), conditions.value.tolist())
    for r, place, wanted in zip(*literals, strict=True):
        when.setdefault(r, []).append(place if wanted else -place - 1)
    lowest = np.where(floor[rows] < -FAR // 2, LOWEST, floor[rows]).tolist()
    highest = np.where(ceiling[rows] > FAR // 2, HIGHEST, ceiling[rows]).tolist()
    for k, r in enumerate(rows.tolist()):
        constraint = model.proto.constraints.add()
        constraint.linear.vars.extend(column[first[k] : end[k]])
        constraint.linear.coeffs.extend(value[first[k] : end[k]])
        constraint.linear.domain.extend((lowest[k], highest[k]))
        if r in when:
            constraint.enforcement_literal.extend(when[r])
    return model
