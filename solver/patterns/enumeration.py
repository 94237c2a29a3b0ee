"""All patterns of a node that leave little room: met in the middle.

A solution that has to fill nodes almost to the brim uses only patterns whose load lies in a narrow window in
each resource. There are few of these, and they are listed: the variables of a block are split in two, all
assignments of each half that fit are made, and pairs whose loads add up to one within the windows are found
in a grid with cells as wide as the windows.

Source: Horowitz and Sahni, Computing partitions with applications to the knapsack problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...encoders.linear import HIGHEST

if TYPE_CHECKING:
    from ..model.sparse_rows import Ints, Rows
    from .node_types import NodeType

# Assignments of half a block, and pairs that may fit, beyond which nothing is listed; fewer where more rows
# than this have a load of each.
MOST_HALVES = 1_000_000
MOST_PAIRS = 2_000_000
FEW_ROWS = 4


@dataclass(frozen=True)
class Knapsacks:
    """Local rows of a block that limit sums without negative terms.

    Attributes
    ----------
    weights : ints, shape (rows, variables of the block)
        Coefficients.
    ceiling : ints, shape (rows,)
        What each row allows.
    """

    weights: Ints
    ceiling: Ints


def knapsacks(rows: Rows, kind: NodeType) -> Knapsacks:
    """Pick the knapsack rows of a type of blocks whose variables are not negative; there may be none."""
    local = rows.subset(kind.local)
    weights = _dense(local, kind)
    chosen = (np.diff(local.literals.start) == 0) & (local.ceiling != HIGHEST)
    chosen &= (weights >= 0).all(axis=1) & bool((rows.low[kind.first] >= 0).all())
    return Knapsacks(weights[chosen], local.ceiling[chosen])


def patterns_within(rows: Rows, kind: NodeType, known: Knapsacks, floor: Ints, most: int) -> Ints | None:
    """List the assignments of a block that satisfy its local rows and leave little room in some.

    Parameters
    ----------
    floor : ints, shape (rows of `known`,)
        Least load in each knapsack row.
    most : int
        How many there may be.

    Returns
    -------
    ints, shape (patterns, variables of the block), or None where they, or halves of them, are too many
    """
    low, high = rows.low[kind.first], rows.high[kind.first]
    floor, room = np.maximum(floor, 0) - known.weights @ low, known.ceiling - known.weights @ low
    found = loads_between(known.weights, high - low, floor, room, most)
    if found is None:
        return None
    found = (found + low)[np.lexsort(found.T)]
    return found[_hold(rows.subset(kind.local), kind, found)]


def loads_between(weights: Ints, copies: Ints, floor: Ints, room: Ints, most: int) -> Ints | None:
    """List all x, 0 <= x <= copies, with floor <= weights·x <= room in every row.

    Parameters
    ----------
    weights : ints, shape (rows, variables)
        None negative.
    most : int
        How many there may be.

    Returns
    -------
    ints, shape (found, variables), or None where they, or halves of them, are too many
    """
    # what weighs most goes first: where little fits after it, little is made
    heavy = (weights / np.maximum(room, 1)[:, None]).max(axis=0, initial=0.0)
    order = np.argsort(-heavy, kind="stable")
    halves = []
    for mine in (order[::2], order[1::2]):
        half = assignments(weights[:, mine], copies[mine], room, _fewer(MOST_HALVES, room))
        if half is None:
            return None
        halves.append((mine, half))
    (left, ones), (right, others) = halves
    pairs = _pairs(ones.loads, others.loads, floor, room)
    if pairs is None or len(pairs[0]) > most:
        return None
    found = np.empty((len(pairs[0]), len(copies)), dtype=np.int64)
    found[:, left], found[:, right] = ones.of(pairs[0]), others.of(pairs[1])
    return found


@dataclass(frozen=True)
class Assignments:
    """Assignments of some variables: each but the first, which is all zeros, adds to another before it.

    Attributes
    ----------
    loads : ints, shape (assignments, rows)
        What they take.
    base, variable, count : ints, shape (assignments,)
        To which assignment each adds how much of which variable.
    variables : int
        How many there are.
    """

    loads: Ints
    base: Ints
    variable: Ints
    count: Ints
    variables: int

    def of(self, chosen: Ints) -> Ints:
        """Return the values of all variables in some assignments, row by row."""
        found = np.zeros((len(chosen), self.variables), dtype=np.int64)
        row = np.flatnonzero(chosen)
        at = chosen[row]
        while len(at):
            found[row, self.variable[at]] = self.count[at]
            at = self.base[at]
            row, at = row[at > 0], at[at > 0]
        return found


def assignments(weights: Ints, copies: Ints, room: Ints, most: int) -> Assignments | None:
    """Make all assignments 0 <= x <= copies with weights·x <= room, and their loads.

    None where they are too many: `most` is how many may be tried for one variable.
    """
    loads = np.zeros((1, len(room)), dtype=np.int64)
    none = np.zeros(1, dtype=np.int64)
    made = [(none, none, none)]
    for variable, (weight, top) in enumerate(zip(weights.T, copies.tolist(), strict=True)):
        if len(loads) * (top + 1) > most:
            return None
        counts = np.arange(1, top + 1)
        new = (loads[:, None, :] + counts[None, :, None] * weight).reshape(-1, len(room))
        fits = np.flatnonzero((new <= room).all(axis=1))
        made.append((fits // max(top, 1), np.full(len(fits), variable), fits % max(top, 1) + 1))
        loads = np.concatenate((loads, new[fits]))
    base, variables, count = (np.concatenate(part) for part in zip(*made, strict=True))
    return Assignments(loads, base, variables, count, weights.shape[1])


def _fewer(most: int, room: Ints) -> int:
    """Return how many loads there may be in so many rows."""
    return most * FEW_ROWS // max(len(room), FEW_ROWS)


def _pairs(ones: Ints, others: Ints, floor: Ints, room: Ints) -> tuple[Ints, Ints] | None:
    """Find the pairs whose loads add up to between floor and room in every row."""
    width = room - floor + 1
    if (width <= 0).any() or (room < 0).any():
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    # the two rows with the narrowest windows make the grid; with one row it is a line
    narrow = np.argsort(width / (room + 1), kind="stable")[:2]
    x, y = narrow[0], narrow[-1]
    lines = room[y] // width[y] + 3
    cells = others // width
    keys = cells[:, x] * lines + cells[:, y]
    sorted_by = np.argsort(keys, kind="stable")
    keys = keys[sorted_by]
    # a partner's load is at least this, and less than one cell more
    wanted = np.maximum(floor - ones, 0)
    corner = wanted // width
    found = []
    for step in (0, 1):
        at = (corner[:, x] + step) * lines + corner[:, y]
        begin, end = np.searchsorted(keys, at), np.searchsorted(keys, at + 2)
        number = end - begin
        if number.sum() > _fewer(MOST_PAIRS, room):
            return None
        one = np.repeat(np.arange(len(ones)), number)
        other = sorted_by[np.arange(len(one)) + np.repeat(begin - np.cumsum(number) + number, number)]
        total = ones[one] + others[other]
        good = ((total >= floor) & (total <= room)).all(axis=1)
        found.append((one[good], other[good]))
    first, second = (np.concatenate(part) for part in zip(*found, strict=True))
    return first, second


def _dense(local: Rows, kind: NodeType) -> Ints:
    """Coefficients of local rows by place in the block."""
    place = np.zeros(len(local.low), dtype=np.int64)
    place[kind.first] = np.arange(len(kind.first))
    found = np.zeros((len(local.floor), len(kind.first)), dtype=np.int64)
    np.add.at(found, (local.terms.row, place[local.terms.column]), local.terms.value)
    return found


def _hold(local: Rows, kind: NodeType, patterns: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which patterns satisfy every local row that is in force."""
    place = np.zeros(len(local.low), dtype=np.int64)
    place[kind.first] = np.arange(len(kind.first))
    good = np.ones(len(patterns), dtype=np.bool_)
    for r, weights in enumerate(_dense(local, kind)):
        columns, values = local.literals.of(r)
        force = (patterns[:, place[columns]] == values).all(axis=1)
        total = patterns @ weights
        good &= ~force | ((total >= local.floor[r]) & (total <= local.ceiling[r]))
    return good
