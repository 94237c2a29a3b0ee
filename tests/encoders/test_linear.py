"""Rows of any width are exact: brute force over all assignments says the same, with presolve and without."""

from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ortools.sat.python import cp_model

from kubestow.encoders.linear import LIMIT, add_at_most, add_row

GI, EI = 2**30, 2**60

amounts = st.one_of(
    st.integers(-5, 5),
    st.integers(-3, 3).map(lambda k: k * GI),
    st.integers(-(2**33), 2**33),
    st.integers(-3, 3).map(lambda k: k * EI),
    st.integers(-(2**62), 2**62),
)


@st.composite
def rows(draw):
    """Coefficients, uppers of the variables, and a right side that is on the edge of some assignment."""
    count = draw(st.integers(1, 4))
    coefficients = draw(st.lists(amounts, min_size=count, max_size=count))
    uppers = draw(st.lists(st.integers(1, 3), min_size=count, max_size=count))
    at = [draw(st.integers(0, upper)) for upper in uppers]
    edge = sum(c * x for c, x in zip(coefficients, at, strict=True))
    return coefficients, uppers, edge + draw(st.sampled_from([-1, 0, 1, GI, -GI]))


def model_of(row, *, enforced):
    coefficients, uppers, bound = row
    model = cp_model.CpModel()
    variables = [model.new_int_var(0, upper, f"x{k}") for k, upper in enumerate(uppers)]
    when = model.new_bool_var("when") if enforced else None
    add_at_most(model, coefficients, variables, uppers, bound, when=when, name="row")
    return model, variables, when


def satisfying(row):
    coefficients, uppers, bound = row
    everything = product(*(range(upper + 1) for upper in uppers))
    return {x for x in everything if sum(c * v for c, v in zip(coefficients, x, strict=True)) <= bound}


class _Collector(cp_model.CpSolverSolutionCallback):
    def __init__(self, variables):
        super().__init__()
        self._variables = variables
        self.found = set()

    def on_solution_callback(self):
        self.found.add(tuple(self.value(v) for v in self._variables))


def all_solutions(model, variables):
    solver = cp_model.CpSolver()
    solver.parameters.enumerate_all_solutions = True
    solver.parameters.num_workers = 1
    collector = _Collector(variables)
    assert solver.solve(model, collector) in (cp_model.OPTIMAL, cp_model.INFEASIBLE)
    return collector.found


edges = [
    ([1, 1], [3, 3], -1),
    ([-3], [2], -6),
    ([2**31 - 1, 1], [1, 1], 2**31 - 1),
    ([2**31, 2**31 + 1], [1, 1], 2**31),
    ([EI, EI + 1, -EI], [1, 1, 1], EI),
    ([6 * EI - 1, 3 * EI, 3 * EI], [1, 1, 1], 6 * EI - 1),
    ([2**62, -(2**62)], [3, 3], 0),
]


def with_edges(test):
    for row in edges:
        test = example(row=row)(test)
    return test


@with_edges
@settings(max_examples=150)
@given(row=rows())
def test_a_row_admits_what_brute_force_admits(row):
    model, variables, _ = model_of(row, enforced=False)
    assert all_solutions(model, variables) == satisfying(row)


@with_edges
@settings(max_examples=150)
@given(row=rows())
@pytest.mark.slow
def test_an_enforced_row_binds_only_where_it_is_enforced(row):
    model, variables, when = model_of(row, enforced=True)
    everything = set(product(*(range(upper + 1) for upper in row[1])))
    expected = {(0, *x) for x in everything} | {(1, *x) for x in satisfying(row)}
    assert all_solutions(model, [when, *variables]) == expected


@pytest.mark.parametrize("presolve", [True, False])
@with_edges
@settings(max_examples=60)
@given(row=rows())
def test_the_optimum_over_an_enforced_row_is_brute_forces(presolve, row):
    """Enforcement pays more than any assignment, so it is chosen wherever the row can hold at all."""
    model, variables, when = model_of(row, enforced=True)
    model.maximize(sum((k + 1) * v for k, v in enumerate(variables)) + 100 * when)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.cp_model_presolve = presolve
    solver.parameters.presolve_inclusion_work_limit = 0
    assert solver.solve(model) == cp_model.OPTIMAL
    wins = [100 + sum((k + 1) * v for k, v in enumerate(x)) for x in satisfying(row)]
    free = sum((k + 1) * upper for k, upper in enumerate(row[1]))
    assert solver.value(sum((k + 1) * v for k, v in enumerate(variables)) + 100 * when) == max([free, *wins])


@pytest.mark.parametrize("enforced", [False, True])
def test_no_term_at_all(enforced):
    """Nothing <= -1 holds nowhere, nothing <= 0 everywhere."""
    for bound, values in ((-1, set()), (0, {(0,), (1,)})):
        model, variables, when = model_of(([0], [1], bound), enforced=enforced)
        if enforced:
            model.add(when == 1)
        assert all_solutions(model, variables) == values


@settings(max_examples=100)
@given(row=rows(), enforced=st.booleans())
def test_every_row_of_the_model_is_narrow(row, enforced):
    """No row reaches the width from which CP-SAT may lose its enforcement (google/or-tools#5293)."""
    model, _, _ = model_of(row, enforced=enforced)
    uppers = [max(variable.domain) for variable in model.proto.variables]
    for constraint in model.proto.constraints:
        linear = constraint.linear
        assert sum(abs(c) * uppers[v] for c, v in zip(linear.coeffs, linear.vars, strict=True)) < LIMIT


def test_a_variable_that_stands_twice_in_a_row_is_one_term():
    model = cp_model.CpModel()
    x, y = model.new_int_var(0, 3, "x"), model.new_int_var(0, 3, "y")
    add_row(model, [2, 5, -1], [x, y, x], 6, 7)
    [row] = model.proto.constraints
    assert list(row.linear.vars) == [x.index, y.index]
    assert list(row.linear.coeffs) == [1, 5]
    assert all_solutions(model, [x, y]) == {(1, 1), (2, 1)}
