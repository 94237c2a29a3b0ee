"""Node types, patterns, and the bounds and plans that column generation makes of them."""

import time

import numpy as np
import pytest
from ortools.math_opt.python import mathopt
from support.builders import cluster, node, pod
from support.optima import best, holds
from support.proof import OPTIONS, PLENTY

from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.instances.generated import packing
from kubestow.instances.manifests import snapshot_of
from kubestow.models import tiers
from kubestow.solver.model.round_model import Completion, RoundModel
from kubestow.solver.patterns.node_types import node_types_of
from kubestow.solver.search.tier_bounds import Bounding


def round_model(snapshot):
    return RoundModel(build_problem(build_cluster(snapshot)), OPTIONS)


def split(model):
    node_of = model.variable_index.node_of(np.arange(len(model.rows.low)))
    return node_types_of(model.rows, node_of, [model.cost(name) for name in model.goals])


def sizes(model):
    return sorted(len(kind.members) for kind in split(model).types)


def nodes(prefix, count, **kwargs):
    return [node(f"{prefix}-{k}", **kwargs) for k in range(count)]


WEB = pod("web").req(cpu="1").label(app="web")

ROUNDS = [
    pytest.param(cluster(*nodes("n", 3, cpu="4"), WEB.times(5)), [3], id="nodes alike are one type"),
    pytest.param(
        cluster(*nodes("n", 2, cpu="4"), *nodes("m", 2, cpu="3"), WEB.times(5)),
        [2, 2],
        id="nodes with other room are another type",
    ),
    pytest.param(
        cluster(
            *nodes("n", 2, cpu="4", zone="a"),
            *nodes("m", 2, cpu="4", zone="b"),
            WEB.spread("zone", max_skew=1, select={"app": "web"}).times(5),
        ),
        [2, 2],
        id="where pods spread over zones, so are nodes of another zone",
    ),
    pytest.param(
        cluster(
            *nodes("n", 3, cpu="4"),
            pod("old").req(cpu="1").priority(0).on("n-0"),
            pod("new").req(cpu="1").priority(10).times(5),
        ),
        [1, 2],
        id="a node with somebody who may be evicted is of its own type",
    ),
]


@pytest.mark.parametrize("snapshot, wanted", ROUNDS)
def test_nodes_that_can_trade_places_are_of_one_type(snapshot, wanted):
    assert sizes(round_model(snapshot)) == wanted


@pytest.mark.parametrize("snapshot, wanted", ROUNDS)
def test_members_of_a_type_trade_places_in_any_solution(snapshot, wanted):
    model = round_model(snapshot)
    name = next(iter(model.goals))
    value, solution = best(model.context.model, model.cost(name))
    for kind in split(model).types:
        swapped = solution.copy()
        first, last = kind.members[0], kind.members[-1]
        swapped[first], swapped[last] = solution[last], solution[first]
        assert holds(model.rows, swapped)
        assert model.cost(name) @ swapped == value


def started(model, outcome=()):
    assert model.complete(dict(outcome), {}, [next(iter(model.goals))], PLENTY) is Completion.COMPLETE
    return Bounding(model, OPTIONS)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("utilisation", [0.95, 1.0, 1.05])
def test_the_bound_holds_and_the_plan_is_one(seed, utilisation):
    snapshot = snapshot_of(packing(3, 4, 1, utilisation, seed))
    model = round_model(snapshot)
    name = tiers.scheduled(0)
    optimum = -best(model.context.model, model.cost(name))[0]
    bounding = started(model)
    bound, solution = bounding.by_columns(name, time.monotonic() + PLENTY)
    assert optimum <= bound <= bounding.relax(name, PLENTY)
    assert solution is None or 0 < solution.goals[name] <= optimum


def test_whole_pods_bound_more_tightly_than_shares_of_them():
    """Two nodes of 10 cpu hold one pod of 6 cpu each; by shares they hold three."""
    name = tiers.scheduled(0)
    mixed = round_model(
        cluster(
            *nodes("n", 2, cpu="10"),
            *(pod(f"p{k}").req(cpu=f"600{k}m") for k in range(4)),
        )
    )
    bounding = started(mixed)
    assert bounding.relax(name, PLENTY) == 3
    bound, solution = bounding.by_columns(name, time.monotonic() + PLENTY)
    assert bound == 2
    assert solution.goals[name] == 2


def test_without_a_solution_to_start_from_there_are_no_columns():
    model = round_model(cluster(node("n"), pod("p")))
    assert Bounding(model, OPTIONS).by_columns(tiers.scheduled(0), time.monotonic() + PLENTY) == (None, None)


def test_a_solution_of_columns_satisfies_the_model():
    model = round_model(snapshot_of(packing(4, 4, 2, 1.0, 1)))
    name = tiers.scheduled(1)
    bounding = started(model)
    _, solution = bounding.by_columns(name, time.monotonic() + PLENTY)
    counts = np.zeros(len(model.rows.low), dtype=np.int64)
    for key, count in solution.counts.items():
        counts[model.context.counts[key].index] = count
    assert holds(model.rows, counts)
    assert model.solution(counts) == solution


def test_a_linear_solver_that_breaks_down_bounds_nothing(monkeypatch):
    def broken(*args, **kwargs):
        raise AttributeError("'StatusNotOk' object has no attribute 'canonical_code'")

    monkeypatch.setattr(mathopt, "solve", broken)
    monkeypatch.setattr(mathopt.IncrementalSolver, "solve", broken)
    model = round_model(cluster(node("n", cpu="1"), pod("p").req(cpu="600m").times(3)))
    bounding = started(model)
    assert bounding.relax(tiers.scheduled(0), PLENTY) is None
    assert bounding.by_columns(tiers.scheduled(0), time.monotonic() + PLENTY)[0] is None


def test_a_bound_of_nothing_is_a_bound():
    """Nothing has to be evicted, the solution to start from evicts, and columns know a better one."""
    model = round_model(
        cluster(
            nodes("n", 2, cpu="2"),
            pod("old").on("n-0").req(cpu="2").priority(-1),
            pod("p").req(cpu="2"),
        )
    )
    model.fix(tiers.scheduled(0), 1)
    name = tiers.evicted(0, -1)
    assert model.complete({(0, 0): 1}, {0: 1}, [name], PLENTY) is Completion.COMPLETE
    bound, found = Bounding(model, OPTIONS).by_columns(name, time.monotonic() + PLENTY)
    assert bound == 0
    assert found.goals[name] == 0
