"""The search by node types where no devices are shared: all plans of tiny rounds, and larger ones."""

import random

import numpy as np
import pytest
from support.builders import cluster, node, pod
from support.oracle.exhaustive import best_plan
from support.placing import check_placed, placed
from support.proof import OPTIONS, check_optimal
from support.search_params import search_with
from support.sweeps import few_or_all
from support.type_rounds import drawn_types, nodes_of, tiny_tied_types, tiny_types

from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.solver.api import solve, solve_greedy
from kubestow.solver.columns.reading import type_round
from kubestow.solver.columns.shared_devices import Evictable
from kubestow.solver.columns.type_relaxation import TypeRelaxation
from kubestow.solver.search.columns import fill_types, share_out
from kubestow.solver.search.tier_run import TierRun
from kubestow.solver.search.tier_search import Search


def begun(snapshot):
    """The state of a search that knows no plan yet."""
    return Search(build_problem(build_cluster(snapshot)), OPTIONS).state


def filled(snapshot):
    """The same after the phase."""
    state = begun(snapshot)
    names = [tier.name for tier in state.incumbent.valuation.tiers]
    fill_types(TierRun.before_model(state, names, 0))
    return state


@pytest.mark.parametrize("seed", range(few_or_all(12, 400)))
def test_no_value_beats_a_bound_and_no_bound_the_truth(seed):
    snapshot = tiny_types(seed)
    state = filled(snapshot)
    check_placed(state, best_plan(build_cluster(snapshot)))


@pytest.mark.parametrize("seed", range(few_or_all(12, 400)))
def test_what_ties_pods_breaks_no_bound(seed):
    snapshot = tiny_tied_types(seed)
    state = filled(snapshot)
    check_placed(state, best_plan(build_cluster(snapshot)))


@pytest.fixture
def large(monkeypatch):
    """Every model counts as a large one."""
    search_with(monkeypatch, small_model=0)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("tiny", [tiny_types, tiny_tied_types])
@pytest.mark.parametrize("seed", range(few_or_all(6, 100)))
def test_rounds_are_solved_as_trying_all_plans_does(tiny, seed):
    check_optimal(tiny(seed))


MANY = [
    pytest.param(150, id="more pods than there is room for"),
    pytest.param(84, id="all pods fit, if they stand right"),
]


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("pods", MANY)
def test_a_round_is_closed_without_a_model(pods):
    """Its pods are in order, and the plan was replayed; greedy leaves more out."""
    snapshot = drawn_types(1, nodes=40, pods=pods)
    plan, greedy = solve(snapshot, OPTIONS), solve_greedy(snapshot)
    assert (plan.status, plan.stats.variables) == ("OPTIMAL", 0)
    assert plan.tiers[0].value > greedy.tiers[0].value


@pytest.mark.parametrize("pods", [80, 92])
def test_pods_that_fit_with_room_to_spare_are_all_placed(pods):
    assert placed(filled(drawn_types(3, nodes=40, pods=pods))) == [(pods, pods)]


def test_pods_that_fit_in_fractions_only_are_bounded_by_whole_ones():
    """Two nodes have six cores, three pods take six; on each node there is room for one."""
    nodes = [node(name, cpu="3") for name in "ab"]
    state = filled(cluster(*nodes, *(pod(f"p{k}").req(cpu="2") for k in range(3))))
    assert placed(state) == [(2, 2)]


def test_who_may_leave_is_left_to_other_phases():
    snapshot = cluster(node("a", cpu="2"), pod("r").req(cpu="1").on("a"), pod("p").req(cpu="2").priority(9))
    state = filled(snapshot)
    assert placed(state) == [(0, 1)]
    assert not state.filled


def test_devices_are_shared_out_before_any_tier_and_nothing_else_is():
    state = begun(tiny_types(0))
    assert not share_out(state)
    assert not state.filled


def relaxation(*parts):
    round_ = type_round(build_problem(build_cluster(cluster(*parts))), 64, Evictable.STAY)
    return round_, TypeRelaxation(round_, [[] for _ in round_.types])


def test_nodes_that_alone_have_what_is_short_cost_most():
    """Large pods fit large nodes alone and take most of them; small ones fit everywhere."""
    nodes = nodes_of([{"cpu": "2"}] * 4 + [{"cpu": "8"}] * 2)
    large = [pod(f"l{k}").req(cpu="7") for k in range(2)]
    small = [pod(f"s{k}").req(cpu="1") for k in range(3)]
    round_, relaxed = relaxation(*nodes, *large, *small)
    spare = relaxed.spare(np.ones(len(round_.classes), dtype=np.int64), 10.0)
    cost = {int(kind.room[0]): spare.worth.nodes[t] for t, kind in enumerate(round_.types)}
    assert cost[8000] > cost[2000] == 0
    assert spare.pods.sum() == pytest.approx(5)


def test_what_nodes_cost_is_less_than_any_pod_is_worth():
    rng = random.Random(7)
    for _ in range(5):
        round_, relaxed = relaxation(
            *nodes_of([{"cpu": "4"}] * 5 + [{"cpu": "9"}] * 3),
            *(pod(f"p{k}").req(cpu=str(rng.randint(1, 4))) for k in range(15)),
        )
        spare = relaxed.spare(np.ones(len(round_.classes), dtype=np.int64), 10.0)
        assert (spare.duals > 0).all()


def test_there_is_none_to_spare_where_pods_do_not_fit():
    round_, relaxed = relaxation(node("a", cpu="2"), *(pod(f"p{k}").req(cpu="1") for k in range(3)))
    assert relaxed.spare(np.ones(len(round_.classes), dtype=np.int64), 10.0) is None
