"""Submodels of rows: exactly what the whole model says where the others keep their values."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ortools.sat.python import cp_model

from kubestow.encoders.linear import LOWEST, add_row
from kubestow.solver.model.sparse_rows import rows_of
from kubestow.solver.model.submodel import Submodels

VARIABLES = 5


def model_of(rows):
    """A model of variables in [0, 3], the first two literals; rows are (terms, bound, literal)."""
    model = cp_model.CpModel()
    x = [model.new_int_var(0, 1 if k < 2 else 3, f"x{k}") for k in range(VARIABLES)]
    for coefficients, bound, literal in rows:
        picked = [k for k, c in enumerate(coefficients) if c]
        when = None if literal is None else x[literal]
        add_row(model, [coefficients[k] for k in picked], [x[k] for k in picked], LOWEST, bound, when=when)
    return model


def value(coefficients, x):
    return sum(c * v for c, v in zip(coefficients, x, strict=True))


def points(rows, free, start):
    """All points that differ from `start` in the free variables only and satisfy every row."""
    domains = [range(2 if k < 2 else 4) if k in free else [start[k]] for k in range(VARIABLES)]
    for x in itertools.product(*domains):
        if all(
            (literal is not None and not x[literal]) or value(coefficients, x) <= bound
            for coefficients, bound, literal in rows
        ):
            yield x


def solutions(submodel, start):
    """All points that a submodel admits."""
    found = set()

    class Collect(cp_model.CpSolverSolutionCallback):
        def on_solution_callback(self):
            x = list(start)
            for k, variable in enumerate(submodel.variables.tolist()):
                x[variable] = self.value(submodel.model.get_int_var_from_proto_index(k))
            found.add(tuple(x))

    solver = cp_model.CpSolver()
    solver.parameters.enumerate_all_solutions = True
    solver.parameters.num_workers = 1
    assert solver.solve(submodel.model, Collect()) in (cp_model.OPTIMAL, cp_model.INFEASIBLE)
    return found


a_row = st.tuples(
    st.lists(st.integers(-3, 3), min_size=VARIABLES, max_size=VARIABLES),
    st.integers(-2, 6),
    st.sampled_from([None, 0, 1]),
)


@settings(deadline=None, max_examples=150)
@given(
    st.lists(a_row, min_size=1, max_size=4),
    st.sets(st.integers(0, VARIABLES - 1), min_size=1),
    st.tuples(*(st.integers(0, 1 if k < 2 else 3) for k in range(VARIABLES))),
)
def test_a_cut_admits_what_the_rows_admit(rows, free, start):
    submodels = Submodels(rows_of(model_of(rows)), np.array(start))
    submodel = submodels.extract(np.array(sorted(free)))
    expected = set(points(rows, free, start))
    touched = {
        k
        for k, (coefficients, _, literal) in enumerate(rows)
        if literal in free or any(coefficients[v] for v in free)
    }
    # rows without a free variable are no part of the submodel
    expected |= set(points([rows[k] for k in sorted(touched)], free, start))
    assert (set() if submodel is None else solutions(submodel, start)) == expected


@settings(deadline=None, max_examples=100)
@given(
    st.lists(a_row, min_size=1, max_size=4),
    st.tuples(*(st.integers(0, 1 if k < 2 else 3) for k in range(VARIABLES))),
    st.tuples(*(st.integers(0, 1 if k < 2 else 3) for k in range(VARIABLES))),
)
def test_broken_rows_are_known_after_every_move(rows, start, end):
    submodels = Submodels(rows_of(model_of(rows)), np.array(start))
    submodels.move(np.arange(VARIABLES), np.array(end))
    broken = [
        k
        for k, (coefficients, bound, literal) in enumerate(rows)
        if (literal is None or end[literal]) and value(coefficients, end) > bound
    ]
    assert submodels.broken().tolist() == broken
    assert submodels.x.tolist() == list(end)


@pytest.mark.parametrize(
    "rows, limits",
    [
        pytest.param([([0, 0, 2, 0, 1], 3, None)], [(0, 1)], id="what others take is no longer there"),
        pytest.param([([0, 0, -1, 0, 1], 0, None)], [(1, 3)], id="what others need has to be there"),
        pytest.param([([0, 0, 2, 0, 1], 1, 0)], [(0, 3)], id="a row whose condition fails says nothing"),
    ],
)
def test_limits_are_narrowed_before_the_search(rows, limits):
    submodels = Submodels(rows_of(model_of(rows)), np.array([0, 0, 0, 0, 1]))
    submodel = submodels.extract(np.array([2]))
    assert list(zip(submodel.low.tolist(), submodel.high.tolist(), strict=True)) == limits
    assert len(submodel.model.proto.constraints) == 0


def test_a_condition_alone_is_decided_by_its_row():
    submodels = Submodels(rows_of(model_of([([0, 0, 1, 0, 0], 1, 0)])), np.array([0, 0, 2, 0, 0]))
    submodel = submodels.extract(np.array([0]))
    assert solutions(submodel, (0, 0, 2, 0, 0)) == {(0, 0, 2, 0, 0)}
