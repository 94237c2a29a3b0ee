"""What a round leaves for the next one, and when its bounds hold there too."""

from dataclasses import replace
from datetime import timedelta

import pytest
from support.builders import budget, cluster, group, node, pod
from support.proof import OPTIONS

from kubestow.framework.build import build_cluster
from kubestow.framework.state.moves import Bind
from kubestow.solver.api import solve_round
from kubestow.solver.warm import Warmth, is_restriction, start_from

NODES = (node("n-1", cpu="4"), node("n-2", cpu="4"))
RUNS = pod("runs").req(cpu="1").on("n-1").started(5)
BIG, SMALL = pod("big").req(cpu="4").priority(5), pod("small").req(cpu="2").priority(5)
WAITS = (BIG, SMALL, pod("other").req(cpu="3").priority(5))
ROUND = cluster(*NODES, RUNS, *WAITS)
GANG = cluster(*NODES, group("g", gang=2), pod("a").req(cpu="1").member("g"), pod("b").member("g"))


def changed(snapshot=ROUND, *, pods=(), without=(), now=None, **fields):
    """Return a round with other pods in place of those of the same name, without some, at another time."""
    new = {item.name: item for item in (each.build() for each in pods)}
    kept = tuple(new.get(each.name, each) for each in snapshot.pods if each.name not in without)
    later = snapshot.now + (now or timedelta())
    return replace(snapshot, pods=kept, now=later, **fields)


HOLDS = [
    pytest.param(ROUND, changed(), id="everything is as it was"),
    pytest.param(ROUND, changed(now=timedelta(hours=1)), id="only time has passed"),
    pytest.param(ROUND, changed(without=["small"]), id="a pod no longer waits"),
    pytest.param(ROUND, changed(pods=[SMALL.unschedulable()]), id="an attempt has left its condition"),
]

DOES_NOT_HOLD = [
    pytest.param(changed(without=["small"]), ROUND, id="a pod more waits"),
    pytest.param(ROUND, changed(without=["runs"]), id="a running pod has gone"),
    pytest.param(ROUND, changed(pods=[SMALL.on("n-2")]), id="a pod was bound"),
    pytest.param(ROUND, changed(pods=[SMALL.req(cpu="1")]), id="a pod asks for less"),
    pytest.param(ROUND, changed(pods=[RUNS.terminating()]), id="a running pod terminates"),
    pytest.param(ROUND, changed(nodes=ROUND.nodes[:1]), id="a node has gone"),
    pytest.param(
        ROUND,
        changed(pod_disruption_budgets=(budget("b", app="x", allowed=1).build(),)),
        id="a budget has come",
    ),
    pytest.param(GANG, changed(GANG, without=["a"]), id="a member of a group no longer waits"),
]


@pytest.mark.parametrize("before, now", HOLDS)
def test_bounds_hold_of_a_restriction(before, now):
    solved = solve_round(before, OPTIONS)
    found = Warmth.of(solved, build_cluster(now)).bounds
    assert [(b.tier, b.value) for b in found] == [(t.name, t.bound) for t in solved.plan.tiers]


@pytest.mark.parametrize("before, now", DOES_NOT_HOLD)
def test_bounds_are_dropped_where_anything_else_has_changed(before, now):
    assert not is_restriction(build_cluster(now), build_cluster(before))
    assert Warmth.of(solve_round(before, OPTIONS), build_cluster(now)).bounds == ()


def test_what_stays_behind_is_not_searched_again():
    """Three pods of which two fit: that they are the most is proven once."""
    first = solve_round(ROUND, OPTIONS)
    again = solve_round(changed(now=timedelta(seconds=5)), OPTIONS, after=first)
    assert first.plan.stats.variables > again.plan.stats.variables == 0
    assert again.plan.tiers == first.plan.tiers


def test_steps_are_brought_over_by_name():
    solved = solve_round(ROUND, OPTIONS)
    now = build_cluster(replace(ROUND, nodes=ROUND.nodes[::-1], pods=ROUND.pods[::-1]))
    start = start_from(solved, now)
    named = {now.pods[m.pod].key: now.node_names[m.node] for m in start.moves if isinstance(m, Bind)}
    assert named == solved.plan.placed()


def test_a_plan_all_of_whose_pods_run_is_no_start():
    solved = solve_round(ROUND, OPTIONS)
    placed = solved.plan.placed()
    bound = [
        each.on(placed[f"default/{each.build().name}"])
        for each in WAITS
        if f"default/{each.build().name}" in placed
    ]
    assert start_from(solved, build_cluster(changed(pods=bound))) is None
