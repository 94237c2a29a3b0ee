"""Boxes around prices: how they hold duals, and what they stand for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ortools.math_opt.python import mathopt

from kubestow.solver.bounds.boxstep import Box
from kubestow.solver.bounds.lp import Glop

LEAST, MOST, COST = 2.0, 10.0, 3.0
"""A minimum needs 2 at least, and may have 10, at a price of 3 each."""

ROWS = [
    pytest.param(3.0, 1.0, 3.0, 0.0, id="a box around the price stands for nothing"),
    pytest.param(1.0, 1.0, 2.0, 2.0, id="a box below it makes up for what the row needs"),
    pytest.param(6.0, 1.0, 5.0, 8.0, id="a box above it takes all that there is beyond"),
    pytest.param(0.0, 0.0, 0.0, 2.0, id="a box at nothing has everything for nothing"),
    pytest.param(0.0, 9.0, 3.0, 0.0, id="a wide box around nothing is none"),
]


def boxed(is_maximize):
    """A program of one row whose price is 3, and its box."""
    model = mathopt.Model()
    model.objective.is_maximize = is_maximize
    amount = model.add_variable(lb=0.0, ub=MOST)
    row = model.add_linear_constraint(ub=LEAST) if is_maximize else model.add_linear_constraint(lb=LEAST)
    model.objective.set_linear_coefficient(amount, COST)
    row.set_coefficient(amount, 1.0)
    return model, row, Box(model, [row])


@pytest.mark.parametrize("center, radius, price, stands_for", ROWS)
def test_a_box_of_a_minimum(center, radius, price, stands_for):
    model, row, box = boxed(is_maximize=False)
    box.set(np.array([center]), np.array([radius]))
    result = Glop(model).solve(60.0)
    assert result.dual_values(row) == pytest.approx(price)
    assert box.stands_for(result) == pytest.approx(stands_for)


@pytest.mark.parametrize(
    "center, radius, price, stands_for",
    [
        pytest.param(3.0, 1.0, 3.0, 0.0, id="a box around the price stands for nothing"),
        pytest.param(1.0, 1.0, 2.0, 8.0, id="a box below it lets in all that there is"),
        pytest.param(6.0, 1.0, 5.0, 2.0, id="a box above it sells what the row has"),
    ],
)
def test_a_box_of_a_maximum(center, radius, price, stands_for):
    model, row, box = boxed(is_maximize=True)
    box.set(np.array([center]), np.array([radius]))
    result = Glop(model).solve(60.0)
    assert result.dual_values(row) == pytest.approx(price)
    assert box.stands_for(result) == pytest.approx(stands_for)


@pytest.mark.parametrize("is_maximize", [False, True])
def test_without_a_box_and_once_it_is_open_the_price_is_its_own(is_maximize):
    model, row, box = boxed(is_maximize)
    solver = Glop(model)
    assert solver.solve(60.0).dual_values(row) == pytest.approx(COST)
    box.set(np.array([1.0]), np.array([0.5]))
    assert solver.solve(60.0).dual_values(row) == pytest.approx(1.5)
    box.open()
    assert solver.solve(60.0).dual_values(row) == pytest.approx(COST)


amounts = st.integers(0, 6)


@given(
    st.lists(st.tuples(amounts, amounts, amounts, amounts), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(1, 6), st.lists(amounts, min_size=4, max_size=4)), min_size=1, max_size=4),
    st.booleans(),
)
def test_every_price_is_in_its_box(rows, columns, is_maximize):
    """Random rows (need, center, radius) and columns (worth, what it is in each row), up to 6 of each."""
    model = mathopt.Model()
    model.objective.is_maximize = is_maximize
    made = [
        model.add_linear_constraint(ub=need) if is_maximize else model.add_linear_constraint(lb=need)
        for need, *_ in rows
    ]
    box = Box(model, made)
    for worth, inside in columns:
        variable = model.add_variable(lb=0.0, ub=6.0)
        model.objective.set_linear_coefficient(variable, worth)
        for row, number in zip(made, inside, strict=False):
            row.set_coefficient(variable, number)
    center, radius = (np.array([row[k] for row in rows], dtype=float) for k in (1, 2))
    box.set(center, radius)
    result = Glop(model).solve(60.0)
    for row, middle, far in zip(made, center, radius, strict=True):
        assert max(middle - far, 0.0) - 1e-6 <= result.dual_values(row) <= middle + far + 1e-6
