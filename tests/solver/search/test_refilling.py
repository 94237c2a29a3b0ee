"""Refill search as a phase, and the bounds of tiers that time was too short for."""

from dataclasses import replace

import pytest
from support.builders import budget, cluster, node
from support.proof import OPTIONS
from support.rows import high, low

from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.models import tiers
from kubestow.solver.plans.greedy_baseline import greedy_outcome
from kubestow.solver.refill.params import RefillParams
from kubestow.solver.refill.search import one_by_one
from kubestow.solver.search import phases, tier_search
from kubestow.solver.search.params import SearchParams
from kubestow.solver.search.refilling import refill
from kubestow.solver.search.tier_run import TierRun
from kubestow.solver.search.tier_search import Search

VIOLATIONS, LEAVING = tiers.violations(100), tiers.evicted(100, 0)

EAGER = RefillParams(least_nodes=0, least_pods=0.0, moves_per_node=200, first_slack=0)

OBJECTS = (
    *(node(name, cpu="4") for name in "abcd"),
    *(low.named(f"{name}1").label(app="web").req(cpu="3").on(name) for name in "abcd"),
    *(low.named(f"{name}2").label(app="db").req(cpu="1").on(name) for name in "abcd"),
    high.named("large").req(cpu="3").times(2),
    high.named("small").req(cpu="1").times(2),
    budget("web", app="web", allowed=1),
    budget("db", app="db", allowed=2),
)
WASTEFUL = cluster(*OBJECTS)
"""Eight cores are wanted: two of the large victims must leave, and one disruption of them is allowed."""


def search_of(side_by_side=one_by_one, of=WASTEFUL, **changes):
    """A search of the round with greedy's plan: it evicts more than it must."""
    problem = build_problem(build_cluster(of))
    params = SearchParams(**{"small_model": 0, "refill": EAGER} | changes)
    search = Search(problem, OPTIONS, params=params, side_by_side=side_by_side)
    greedy, _ = greedy_outcome(problem.cluster, "none")
    search.state.offer(greedy)
    return search


def run_of(search):
    state = search.state
    names = [tier.name for tier in state.incumbent.valuation.tiers]
    first = names.index(VIOLATIONS)
    for name in names[:first]:
        state.settle(name)
    return TierRun.of(state, names, first)


def test_the_phase_finds_the_plan_at_the_bound():
    run = run_of(search_of())
    phases.add_up(run)
    before = run.state.value(VIOLATIONS)
    refill(run)
    assert run.state.value(VIOLATIONS) == run.state.bound(VIOLATIONS) == 1
    assert before > 1


def test_no_model_is_built_where_sums_and_refill_search_prove_every_tier():
    search = search_of()
    search.run([])
    assert all(proven for _, proven in search.proven().values())
    assert search.size == (0, 0)


@pytest.mark.parametrize("most, built", [(0, False), (1_000, True)], ids=["too large", "not too large"])
def test_no_model_is_built_of_a_round_that_is_too_large_for_one(most, built):
    search = search_of(most_modelled=most, refill=replace(EAGER, attempts=0))
    search.run([])
    assert (search.size != (0, 0)) is built
    assert (search.state.value(VIOLATIONS) == 1) is built
    assert search.bounds[VIOLATIONS] == 1


def test_the_phase_leaves_small_rounds_alone():
    search = search_of()
    search.state.params = replace(search.state.params, refill=RefillParams())
    run = run_of(search)
    before = run.state.incumbent.best
    refill(run)
    assert run.state.incumbent.best is before


def test_the_phase_waits_for_all_tiers_of_placed_pods():
    search = search_of()
    names = [tier.name for tier in search.state.incumbent.valuation.tiers]
    before = search.best
    refill(TierRun.of(search.state, names, 0))
    assert search.best is before


def test_a_tier_that_no_phase_had_time_for_is_bounded_by_sums(monkeypatch):
    for phases_of in ("BEFORE_LARGE", "LARGE_MODEL"):
        monkeypatch.setattr(tier_search, phases_of, ())
    search = search_of()
    search.run([])
    assert search.state.value(VIOLATIONS) > search.bounds[VIOLATIONS] == 1


@pytest.mark.parametrize(
    "by, known, bound, leaving",
    [
        pytest.param("the clock", True, 1, 3, id="the clock, rows are there"),
        pytest.param("the clock", False, 1, 3, id="the clock, no rows yet"),
        pytest.param("Ctrl-C", True, 1, 3, id="Ctrl-C, rows are there"),
        pytest.param("Ctrl-C", False, 0, 0, id="Ctrl-C, no rows yet"),
    ],
)
def test_where_a_search_ends_early_open_tiers_get_the_bounds_that_cost_a_moment(by, known, bound, leaving):
    search = search_of(last_sums_limit=10.0, last_sums_share=1.0)
    state = search.state
    if known:
        state.sum_bounds.of(VIOLATIONS, (), 10.0)
    if by == "the clock":
        state.end()
    state.interrupted = by == "Ctrl-C"
    search.run([])
    assert state.value(VIOLATIONS) > 1
    assert state.bound(VIOLATIONS) == bound
    assert state.bound(LEAVING) == leaving


@pytest.mark.parametrize(
    "objects, constructed",
    [
        pytest.param(OBJECTS, 0, id="pods that are all placed and for which others must leave"),
        pytest.param([*OBJECTS, *(node(name, cpu="2") for name in "efgh")], 1, id="sums have room for all"),
        pytest.param([*OBJECTS, high.named("more").req(cpu="4").times(9)], 1, id="pods are left out"),
        pytest.param([node("e", cpu="9"), high.named("all").req(cpu="1")], 0, id="every tier is closed"),
    ],
)
def test_no_plan_without_evictions_is_built_where_it_cannot_be_the_best(monkeypatch, objects, constructed):
    seen = []
    monkeypatch.setattr(Search, "_construct", lambda search: seen.append(search))
    monkeypatch.setattr(tier_search, "BEFORE_LARGE", ())
    monkeypatch.setattr(tier_search, "LARGE_MODEL", ())
    search_of(of=cluster(*objects)).run([])
    assert len(seen) == constructed


def test_ctrl_c_in_a_block_leaves_the_best_plan_so_far():
    def interrupted(work, number, pieces):
        raise KeyboardInterrupt

    search = search_of(interrupted)
    before = search.state.value(VIOLATIONS)
    search.run([])
    assert search.interrupted
    assert search.state.value(VIOLATIONS) == before
