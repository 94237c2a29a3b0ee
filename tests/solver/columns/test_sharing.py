"""The search by shares against all plans of tiny rounds, and where only it closes a round."""

from dataclasses import replace

import pytest
from support.builders import node, pod
from support.oracle.exhaustive import best_plan
from support.placing import check_placed, placed
from support.proof import OPTIONS, check_optimal
from support.share_rounds import drawn, on_shelf, round_of, sharing, shelf, tiny_shares, tiny_tied
from support.sweeps import few_or_all

from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.solver.api import solve, solve_greedy
from kubestow.solver.columns.params import DEFAULT as COLUMNS
from kubestow.solver.columns.params import ColumnParams
from kubestow.solver.plans.greedy_baseline import greedy_outcome
from kubestow.solver.search.columns import share_out
from kubestow.solver.search.params import default_params
from kubestow.solver.search.tier_search import Search

FEW = ColumnParams(priced_patterns=1, priced_each=1)
"""Columns are made of few patterns, and the bound is proven by all of them."""


def shared_out(snapshot, columns=COLUMNS):
    """The state of a search after this step alone, and whether there was a plan."""
    params = replace(default_params(), columns=columns)
    search = Search(build_problem(build_cluster(snapshot)), OPTIONS, params=params)
    return search.state, share_out(search.state)


@pytest.mark.parametrize("columns", [COLUMNS, FEW], ids=["all patterns", "few patterns"])
@pytest.mark.parametrize("seed", range(few_or_all(12, 400)))
def test_no_value_beats_a_bound_and_no_bound_the_truth(seed, columns):
    snapshot = tiny_shares(seed)
    state, planned = shared_out(snapshot, columns)
    check_placed(state, best_plan(build_cluster(snapshot)))
    assert planned or not state.leaves_out() or all(value == 0 for value, _ in placed(state))


def test_a_share_lies_on_one_device():
    """Three shares of 0.6 are less than two devices, but on each of them there is room for one."""
    snapshot = round_of(shelf("a", "1000", "1000"), *(sharing(f"p{k}", "600", cpu="100m") for k in range(3)))
    state, _ = shared_out(snapshot)
    assert placed(state) == [(2, 2)]


def test_shares_beside_each_other_leave_whole_devices():
    """Whoever takes the emptiest device first has no room for the last whole one."""
    small = [sharing(f"a{k}", "500", cpu="100m") for k in range(4)]
    whole = [sharing(f"b{k}", "1000", cpu="100m") for k in range(2)]
    several = sharing("c", "1000", cpu="100m", count=3)
    snapshot = round_of(shelf("x", *["1000"] * 4), shelf("y", *["1000"] * 3), *small, *whole, several)
    state, _ = shared_out(snapshot)
    assert placed(state) == [(7, 7)]


def test_a_round_is_closed_without_a_model():
    """Its pods are in order, and the plan was replayed; greedy leaves more out."""
    snapshot = drawn(4, nodes=6, pods=40, devices=3, cpu=("8", "16"))
    plan = solve(snapshot, OPTIONS)
    greedy = solve_greedy(snapshot)
    assert (plan.status, plan.stats.variables) == ("OPTIMAL", 0)
    assert plan.tiers[0].value > greedy.tiers[0].value


def test_a_bound_told_as_a_float_below_it_is_not_rounded_down():
    """CP-SAT tells 1048575.9999999999 for the pod without a claim, worth 2 ** 20 of them."""
    plain = pod("plain").req({"cpu": "2", "example.com/x": "1"})
    snapshot = round_of(
        [node("a", cpu="2").offer({"example.com/x": "2"}), *shelf("a", "10", "10")[1:]],
        shelf("b", "6", cpu="1"),
        [plain],
        sharing("p", "5"),
    )
    state, _ = shared_out(snapshot)
    assert placed(state) == [(2, 2)]


def test_higher_priorities_come_first():
    important = [sharing(f"a{k}", "1000", priority=10) for k in range(2)]
    others = [sharing(f"b{k}", "500", priority=0) for k in range(4)]
    state, _ = shared_out(round_of(shelf("x", "1000", "1000", "1000", cpu="8"), *important, *others))
    assert placed(state) == [(2, 2), (2, 2)]


def test_who_may_not_come_beside_another_is_left_out():
    """A bound without the constraint is a bound; of the plan the filters leave two on the two nodes."""
    apart = [
        [pods.label(app="a").anti("hostname"), claim]
        for pods, claim in (sharing(f"p{k}", "300", cpu="100m") for k in range(3))
    ]
    state, planned = shared_out(round_of(shelf("x", "1000"), shelf("y", "1000"), *apart))
    assert planned
    assert placed(state) == [(2, 3)]


@pytest.mark.parametrize("seed", range(few_or_all(20, 400)))
def test_what_ties_pods_and_who_may_leave_break_no_bound(seed):
    snapshot = tiny_tied(seed)
    state, _ = shared_out(snapshot)
    check_placed(state, best_plan(build_cluster(snapshot)))


@pytest.mark.parametrize("seed", range(few_or_all(6, 100)))
def test_tied_rounds_are_solved_as_trying_all_plans_does(seed):
    check_optimal(tiny_tied(seed))


def test_zones_get_so_many_pods_of_each_app_as_may_stand_there():
    """Two apps of which each spreads over two zones: only half of each in either zone fills all devices."""
    shelves = [shelf(f"n{k}", "1000", cpu="8", zone=f"z{k % 2}") for k in range(4)]
    waiting = [
        [made.label(app=app).spread("zone", max_skew=1), wants]
        for app in "ab"
        for made, wants in (sharing(f"{app}{k}", "500", cpu="100m") for k in range(6))
    ]
    state, planned = shared_out(round_of(*shelves, *waiting))
    assert planned
    assert placed(state) == [(8, 8)]


def test_who_runs_stays_in_a_plan_though_the_bound_counts_them_gone():
    """With the running pod gone two of three fit; without an eviction one does."""
    waiting = [sharing(f"p{k}", "500", cpu="100m", priority=9) for k in range(3)]
    state, planned = shared_out(round_of(shelf("a", "1000"), on_shelf("r", "a", "g0", "400"), *waiting))
    assert planned
    assert placed(state) == [(1, 2)]


def test_a_plan_without_evictions_is_not_sought_where_one_with_them_is_better():
    """Greedy evicts both running pods and places two, who keep apart; else there is no room."""
    running = [[pod(f"r{name}").req(cpu="2").on(name)] for name in "xy"]
    waiting = [
        [made.label(app="a").anti("hostname"), wants]
        for made, wants in (sharing(f"p{k}", "300", priority=9) for k in range(3))
    ]
    snapshot = round_of(shelf("x", "1000", cpu="2"), shelf("y", "1000", cpu="2"), *running, *waiting)
    search = Search(build_problem(build_cluster(snapshot)), OPTIONS)
    search.run([greedy_outcome(build_cluster(snapshot), "none")[0]])
    assert not search.state.filled
    assert placed(search.state) == [(2, 2)]


MODELLED = [
    pytest.param(1, 0, id="none where the classes and devices are more pairs than that"),
    pytest.param(1_000_000, 1, id="one where they are few"),
]


@pytest.mark.parametrize("most, models", MODELLED)
def test_a_model_beside_filled_nodes(most, models):
    """Three pods that keep apart on two nodes: the bound by shares is not attained."""
    apart = [
        [pods.label(app="a").anti("hostname"), wants]
        for pods, wants in (sharing(f"p{k}", "300", cpu="100m") for k in range(3))
    ]
    snapshot = round_of(shelf("x", "1000"), shelf("y", "1000"), *apart)
    params = replace(default_params(), most_modelled=most, small_model=0)
    search = Search(build_problem(build_cluster(snapshot)), OPTIONS, params=params)
    search.run([])
    assert placed(search.state) == [(2, 3 - models)]
    assert min(search.size[0], 1) == models


def test_what_all_nodes_have_together_may_be_beyond_64_bits():
    """Of a resource of which each of 260 nodes has nearly 2 ** 55, they have more than 2 ** 63."""
    offered = {"example.com/x": str(2**55 - 1)}
    shelves = [shelf(f"n{k}", "1000") for k in range(260)]
    nodes = [[bare.offer(offered), devices] for bare, devices in shelves]
    wanting = [sharing(f"p{k}", "1200" if k else "600") for k in range(2)]
    pods = [[item.req({"cpu": "1", "example.com/x": "1"}), claim] for item, claim in wanting]
    state, _ = shared_out(round_of(*nodes, *pods))
    assert placed(state) == [(1, 1)]
