"""A model read as sparse rows says the same as the model."""

import numpy as np
import pytest
from ortools.sat.python import cp_model
from support.builders import cluster, node, pod
from support.device_rounds import tiny_devices
from support.group_rounds import tiny_groups
from support.optima import best, holds
from support.strategies import tiny

from kubestow.encoders.build import build_problem
from kubestow.encoders.linear import HIGHEST, LOWEST
from kubestow.framework.build import build_cluster
from kubestow.solver.model.round_model import RoundModel
from kubestow.solver.model.sparse_rows import rows_of
from kubestow.solver.model.submodel import Submodels
from kubestow.solver.options import SolveOptions

ROUNDS = [(make, seed) for make in (tiny, tiny_groups, tiny_devices) for seed in range(12)]


def round_model(make, seed):
    problem = build_problem(build_cluster(make(seed)))
    return RoundModel(problem, SolveOptions(workers=1)) if problem.classes else None


@pytest.mark.parametrize("make, seed", ROUNDS)
def test_a_part_with_everything_free_has_the_same_optimum(make, seed):
    model = round_model(make, seed)
    if model is None:
        return
    rows = model.rows
    for name in list(model.goals)[:2]:
        cost = model.cost(name)
        value, solution = best(model.context.model, cost)
        assert holds(rows, solution)
        everything = Submodels(rows, np.zeros_like(cost)).extract(np.arange(len(cost)))
        found, other = best(everything.model, cost)
        assert found == value
        assert holds(rows, other)


@pytest.mark.parametrize("make, seed", ROUNDS)
def test_a_part_keeps_what_is_not_free(make, seed):
    model = round_model(make, seed)
    if model is None:
        return
    rows = model.rows
    cost = model.cost(next(iter(model.goals)))
    value, solution = best(model.context.model, cost)
    free = np.arange(0, len(cost), 2)
    found, part = best(Submodels(rows, solution).extract(free).model, cost[free])
    merged = solution.copy()
    merged[free] = part
    assert holds(rows, merged)
    assert found + cost[1::2] @ solution[1::2] == value


def test_what_is_added_to_a_model_is_read_too():
    snapshot = cluster(node("a"), pod("p").times(3))
    model = RoundModel(build_problem(build_cluster(snapshot)), SolveOptions(workers=1))
    before = len(model.rows.floor)
    name = next(iter(model.goals))
    model.fix(name, 2)
    assert len(model.rows.floor) == before + 1
    assert model.rows.floor[-1] == 2
    assert model.rows.ceiling[-1] == HIGHEST


@pytest.mark.parametrize(
    "add, good, bad",
    [
        pytest.param(lambda m, a, b, c: m.add_bool_or([a, b.negated()]), (0, 0, 0), (0, 1, 0), id="a clause"),
        pytest.param(lambda m, a, b, c: m.add_implication(a, b), (0, 1, 0), (1, 0, 0), id="an implication"),
        pytest.param(
            lambda m, a, b, c: m.add_at_most_one([a, b, c.negated()]), (0, 1, 1), (0, 1, 0), id="at most one"
        ),
        pytest.param(
            lambda m, a, b, c: m.add(a + b >= 2).only_enforce_if(c.negated()),
            (1, 0, 1),
            (1, 0, 0),
            id="a row that a negated literal enforces",
        ),
        pytest.param(
            lambda m, a, b, c: m.add_bool_and([a, b]).only_enforce_if(c),
            (1, 1, 1),
            (1, 0, 1),
            id="a conjunction",
        ),
    ],
)
def test_every_kind_of_constraint_becomes_rows(add, good, bad):
    model = cp_model.CpModel()
    add(model, *(model.new_bool_var(name) for name in "abc"))
    rows = rows_of(model)
    assert holds(rows, np.array(good))
    assert not holds(rows, np.array(bad))
    assert (rows.floor > LOWEST).any() or (rows.ceiling < HIGHEST).any()
