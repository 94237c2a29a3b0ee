"""What sums bound out of time, before any numbers were found."""

from random import Random
from types import SimpleNamespace

import pytest
from ortools.sat.python import cp_model

from kubestow.solver.bounds.sums import Sums

ITEMS, ROWS = 40, 5
"""Numbers of 0 and 1 that meet five sums exactly: there are some, and they take long to find."""


class Split(Sums):
    """A model that is known to have numbers, and what they are worth."""

    def __init__(self, sense, sign):
        random = Random(2)
        self.model = cp_model.CpModel()
        known = [random.randint(0, 1) for _ in range(ITEMS)]
        taken = [self.model.new_bool_var("") for _ in range(ITEMS)]
        for _ in range(ROWS):
            weights = [random.randint(0, 99) for _ in range(ITEMS)]
            total = sum(w * x for w, x in zip(weights, known, strict=True))
            self.model.add(cp_model.LinearExpr.weighted_sum(taken, weights) == total)
        worth = [sign * (k + 1) for k in range(ITEMS)]
        self.known = sum(w * x for w, x in zip(worth, known, strict=True))
        self.trivial = sum(worth) if (sense == "max") == (sign > 0) else 0
        goal = cp_model.LinearExpr.weighted_sum(taken, worth)
        self.goals = {"worth": SimpleNamespace(sense=sense, terms=SimpleNamespace(expression=lambda: goal))}


def solver_for(work):
    """A solver that stops after the same work on every machine."""
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = work
    return solver


@pytest.mark.parametrize("sense", ["max", "min"])
@pytest.mark.parametrize("sign", [1, -1])
def test_what_was_proven_before_numbers_were_found_is_a_bound(sense, sign):
    sums, solver = Split(sense, sign), solver_for(0.5)
    bound = sums.bound("worth", [], solver)
    assert solver.response_proto.status == cp_model.UNKNOWN
    between = (sums.known, bound, sums.trivial) if sense == "max" else (sums.trivial, bound, sums.known)
    assert between[0] <= between[1] <= between[2]
    assert bound != sums.trivial


@pytest.mark.parametrize("sense", ["max", "min"])
@pytest.mark.parametrize("sign", [1, -1])
def test_without_any_work_there_is_no_bound(sense, sign):
    solver = solver_for(0.0)
    assert Split(sense, sign).bound("worth", [], solver) is None
    assert solver.response_proto.status == cp_model.UNKNOWN


@pytest.mark.parametrize("sense", ["max", "min"])
def test_of_values_that_nothing_attains_there_is_no_bound(sense):
    sums = Split(sense, 1)
    sums.model.add_bool_or([])
    assert sums.bound("worth", [], solver_for(0.5)) is None
