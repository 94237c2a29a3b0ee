"""Bounds that are rounded outward hold exactly, whatever the duals."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kubestow.encoders.linear import HIGHEST, LOWEST
from kubestow.solver.bounds.lp_relaxation import linear, relaxed, safe_bound
from kubestow.solver.model.sparse_rows import Rows, Sparse

sizes = st.integers(1, 5)


@st.composite
def row_sets(draw, enforced=False):
    """Rows over a few variables with large and small coefficients."""
    variables, rows = draw(sizes), draw(st.integers(0, 5))
    high = np.array(draw(st.lists(st.integers(0, 3), min_size=variables, max_size=variables)))
    start, column, value, floor, ceiling = [0], [], [], [], []
    whose, wanted, begins = [], [], [0]
    for _ in range(rows):
        inside = sorted(draw(st.sets(st.integers(0, variables - 1), min_size=1)))
        column += inside
        value += [draw(st.integers(-(2**31), 2**31)) for _ in inside]
        start.append(len(column))
        ends = sorted(draw(st.integers(-(2**33), 2**33)) for _ in range(2))
        floor.append(draw(st.sampled_from([LOWEST, ends[0]])))
        ceiling.append(draw(st.sampled_from([HIGHEST, ends[1]])))
        if enforced and draw(st.booleans()):
            literals = [v for v in range(variables) if high[v] == 1][: draw(st.integers(0, 2))]
            whose += literals
            wanted += [draw(st.integers(0, 1)) for _ in literals]
        begins.append(len(whose))
    ints = lambda xs: np.array(xs, dtype=np.int64)  # noqa: E731
    return Rows(
        np.zeros(variables, dtype=np.int64),
        ints(high),
        Sparse(ints(start), ints(column), ints(value)),
        ints(floor),
        ints(ceiling),
        Sparse(ints(begins), ints(whose), ints(wanted)),
    )


def solutions(rows):
    """Every assignment that satisfies the rows."""
    for values in np.ndindex(*(rows.high + 1).tolist()):
        x = np.array(values)
        if all(_holds(rows, r, x) for r in range(len(rows.floor))):
            yield x


def _holds(rows, r, x):
    literals, wanted = rows.literals.of(r)
    if (x[literals] != wanted).any():
        return True
    columns, values = rows.terms.of(r)
    return rows.floor[r] <= int(values @ x[columns]) <= rows.ceiling[r]


duals_of = st.one_of(st.floats(-2, 2), st.floats(-1e-8, 1e-8), st.integers(-3, 3).map(float))


@given(rows=row_sets(), data=st.data())
def test_no_solution_costs_less_than_the_bound_of_any_duals(rows, data):
    size = len(rows.low)
    cost = np.array(data.draw(st.lists(st.integers(-5, 5), min_size=size, max_size=size)))
    count = len(rows.floor)
    duals = np.array(data.draw(st.lists(duals_of, min_size=count, max_size=count)))
    bound = safe_bound(rows, cost, duals)
    assert all(int(cost @ x) >= bound for x in solutions(rows))
    assert bound <= math.ceil(exact(rows, cost, duals))


def exact(rows, cost, duals):
    """The Lagrangian in exact arithmetic."""
    total, reduced = Fraction(0), [Fraction(int(c)) for c in cost]
    for r, y in enumerate(map(Fraction, duals.tolist())):
        side = int(rows.floor[r]) if y > 0 else int(rows.ceiling[r])
        if y == 0 or side in (LOWEST, HIGHEST):
            continue
        total += y * side
        for column, value in zip(*rows.terms.of(r), strict=True):
            reduced[column] -= y * int(value)
    return total + sum(
        min(d * int(lo), d * int(hi)) for d, lo, hi in zip(reduced, rows.low, rows.high, strict=True)
    )


@given(rows=row_sets(enforced=True), data=st.data())
def test_rows_without_their_literals_keep_every_solution(rows, data):
    plain = linear(rows)
    for x in solutions(rows):
        sums = plain.terms.times(x)
        assert ((sums >= plain.floor) & (sums <= plain.ceiling)).all()


@given(rows=row_sets(enforced=True), data=st.data())
def test_a_relaxation_is_no_more_than_the_best_solution(rows, data):
    size = len(rows.low)
    cost = np.array(data.draw(st.lists(st.integers(-5, 5), min_size=size, max_size=size)))
    bound = relaxed(rows, cost, 10.0)
    best = min((int(cost @ x) for x in solutions(rows)), default=None)
    assert best is None or bound is None or bound <= best
