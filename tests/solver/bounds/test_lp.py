"""Linear solvers that break down."""

import time

import numpy as np
import pytest
from ortools.math_opt.python import mathopt
from support.proof import OPTIONS, PLENTY

from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.instances.generated import packing
from kubestow.instances.manifests import snapshot_of
from kubestow.models import tiers
from kubestow.solver.bounds.lp import Glop
from kubestow.solver.model.round_model import Completion, RoundModel
from kubestow.solver.packing.covering import Covering, Relaxation
from kubestow.solver.search.tier_bounds import Bounding


def break_down(*args, **kwargs):
    raise AttributeError("'StatusNotOk' object has no attribute 'canonical_code'")


@pytest.fixture
def worn_out(monkeypatch):
    """Have GLOP break down whenever it goes on from an earlier basis; return how often it did."""
    solve, used, broken = mathopt.IncrementalSolver.solve, set(), []

    def once(self, *args, **kwargs):
        if self in used:
            broken.append(self)
            break_down()
        used.add(self)
        return solve(self, *args, **kwargs)

    monkeypatch.setattr(mathopt.IncrementalSolver, "solve", once)
    return broken


def small():
    """The least x that is 2 or more."""
    model = mathopt.Model()
    x = model.add_variable(lb=2.0)
    model.minimize(x)
    return model, x


def test_glop_begins_anew_where_it_breaks_down_on_its_last_basis(worn_out):
    model, x = small()
    solver = Glop(model)
    for least in (2.0, 3.0, 4.0):
        x.lower_bound = least
        assert solver.solve(PLENTY).objective_value() == pytest.approx(least)
    assert len(worn_out) == 2


def test_glop_that_breaks_down_from_the_beginning_too_has_no_solution(monkeypatch):
    monkeypatch.setattr(mathopt.IncrementalSolver, "solve", break_down)
    assert Glop(small()[0]).solve(PLENTY) is None


def bound_by_columns():
    """Bound a round by patterns of its nodes, and by sums of shares."""
    model = RoundModel(build_problem(build_cluster(snapshot_of(packing(3, 4, 1, 1.0, 0)))), OPTIONS)
    name = tiers.scheduled(0)
    assert model.complete({}, {}, [name], PLENTY) is Completion.COMPLETE
    return Bounding(model, OPTIONS).by_columns(name, time.monotonic() + PLENTY)[0]


def nodes_of_a_covering():
    """Count nodes that hold two pods of one class or one of the other, after a first question."""
    patterns = np.array([[2, 0], [0, 1]], dtype=np.int8)
    covering = Covering(patterns, 10, np.array([4, 3]), [np.array([0, 1])], [0])
    relaxation = Relaxation(covering)
    until = time.monotonic() + PLENTY
    relaxation.solve(np.array([2, 1]), until)
    found = relaxation.solve(covering.sizes, until)
    return None if found is None else round(found.nodes, 6)


@pytest.mark.parametrize("search", [bound_by_columns, nodes_of_a_covering])
def test_a_search_goes_on_where_glop_breaks_down_on_its_last_basis(search, request):
    expected = search()
    broken = request.getfixturevalue("worn_out")
    assert search() == expected is not None
    assert broken
