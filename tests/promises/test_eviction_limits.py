"""Limits on evictions: --no-evictions, --max-evictions, --max-violations and --never-evict.

Each row is one round with its exact optimum, a comment says why; tiers that a row does not name are 0.
"""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from support.apart import APART, WHOLE, parts_of, solved
from support.builders import budget, cluster, group, node
from support.limit_rounds import tiny_limit_rounds, tiny_limits
from support.proof import OPTIONS, check_optimal, check_same, solve_and_replay
from support.rows import Row, both_engines, evicted, high, low, scheduled, violations
from support.side_by_side import side_by_side
from support.strategies import tiny
from support.sweeps import few_or_all

from kubestow.framework.build import build_cluster
from kubestow.models.eviction_limits import EvictionLimits, PodSelector
from kubestow.models.kube_version import KubeVersion
from kubestow.solver.api import solve
from kubestow.solver.compare import compare
from kubestow.solver.plans.objective import valuate
from kubestow.solver.plans.replay import ReplayFailure, moves_of, outcome_of, replay

NONE = EvictionLimits(evictions=0)


def limited(snapshot, evictions=None, violations=None, *never):
    limits = EvictionLimits(evictions, violations, tuple(map(PodSelector.parse, never)))
    return replace(snapshot, limits=limits)


FULL = cluster(
    node("a", cpu="2"),
    node("b", cpu="1"),
    low.named("u").label(app="db").on("a"),
    low.named("v").label(app="web").on("a"),
    low.named("w").label(app="web").on("b"),
    high.named("p").req(cpu="2"),
    high.named("q").nodes("hostname", "In", "b"),
)
COVERED = cluster(
    node("a", cpu="1"),
    node("b", cpu="1"),
    low.named("v").label(app="web").on("a"),
    low.named("w").label(app="web").on("b"),
    high.named("p"),
    high.named("q"),
    budget("app", app="web", allowed=0),
)

ROWS = [
    Row("nothing limits it: three leave", FULL, {scheduled(100): 2, evicted(100, 0): 3}),
    Row("no evictions: nothing fits", limited(FULL, 0), {}),
    # the pod that needs one victim, not the one that needs two
    Row("one eviction goes where it is enough", limited(FULL, 1), {scheduled(100): 1, evicted(100, 0): 1}),
    # two are one too few for both pods, and one of them is enough for one
    Row("two evictions are no better than one", limited(FULL, 2), {scheduled(100): 1, evicted(100, 0): 1}),
    Row("a limit that is reached exactly", limited(FULL, 3), {scheduled(100): 2, evicted(100, 0): 3}),
    Row(
        "a pod that is spared keeps its node from the pod that needs all of it",
        limited(FULL, None, None, "app=db"),
        # u stays, so v or w makes room for q
        {scheduled(100): 1, evicted(100, 0): 1},
    ),
    Row("a namespace is spared", limited(FULL, None, None, "default:"), {}),
    Row(
        "a selector in another namespace spares nobody",
        limited(FULL, None, None, "other:app"),
        {scheduled(100): 2, evicted(100, 0): 3},
    ),
    Row(
        "one violation of two",
        limited(COVERED, None, 1),
        {scheduled(100): 1, violations(100): 1, evicted(100, 0): 1},
    ),
    Row("no violation, and the budget has nothing left", limited(COVERED, None, 0), {}),
    Row(
        "a violation needs an eviction",
        limited(COVERED, 1, 5),
        {scheduled(100): 1, violations(100): 1, evicted(100, 0): 1},
    ),
    Row(
        "who terminates already is not evicted",
        limited(
            cluster(
                node("a", cpu="1"),
                low.named("v").label(app="db").on("a").terminating(),
                high,
            ),
            0,
            None,
            "app=db",
        ),
        # a preemptor may use its room as a nomination
        {scheduled(100): 1},
    ),
    Row(
        "a group that is evicted whole stays with a member that is spared",
        limited(
            cluster(
                node("a", cpu="1"),
                node("b", cpu="1"),
                low.named("v").label(app="db").on("a").member("g"),
                low.named("w").on("b").member("g"),
                high,
                group("g", gang=2, version="v1beta1", disruption_mode={"all": {}}),
                release=KubeVersion.V1_37,
            ),
            None,
            None,
            "app=db",
        ),
        {},
    ),
    Row(
        "no violation: who leaves is the victim without a budget",
        limited(
            cluster(
                node("a", cpu="2"),
                node("b", cpu="1"),
                low.named("u").label(app="x").on("a"),
                low.named("v").label(app="y").on("a"),
                low.named("w").label(app="x").on("b"),
                high.req(cpu="1"),
                budget("x", app="x", allowed=0),
            ),
            None,
            0,
        ),
        {scheduled(100): 1, evicted(100, 0): 1},
    ),
]


@both_engines
@pytest.mark.parametrize("row", ROWS, ids=Row.title)
def test_the_best_plan_within_the_limits(row, engine):
    assert engine(row.snapshot) == row.tiers


@pytest.mark.parametrize("seed", range(50))
def test_the_plan_equals_the_exhaustive_search(seed):
    check_optimal(tiny_limits(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50, few_or_all(75, 150)))
def test_many_plans_equal_the_exhaustive_search(seed):
    check_optimal(tiny_limits(seed))


@settings(max_examples=few_or_all(15, 30))
@given(snapshot=tiny_limit_rounds)
def test_no_round_that_hypothesis_finds_is_solved_worse(snapshot):
    check_optimal(snapshot)


def test_the_rounds_are_such_that_limits_bite():
    """Otherwise the comparisons above would hold by themselves."""
    worse = 0
    for seed in range(20):
        snapshot = tiny_limits(seed)
        within, _ = solve_and_replay(snapshot)
        free, _ = solve_and_replay(replace(snapshot, limits=EvictionLimits()))
        assert free.vector() <= within.vector()
        worse += free.vector() < within.vector()
    assert worse > 5


@pytest.mark.parametrize("seed", range(few_or_all(6, 12)))
@pytest.mark.parametrize("limits", [EvictionLimits(evictions=1), EvictionLimits(violations=0), NONE])
def test_a_limit_over_the_whole_round_is_kept_by_its_parts(limits, seed):
    beside = side_by_side(tiny(2 * seed), tiny(2 * seed + 1), name=f"limited-two-{seed}")
    snapshot = replace(beside, limits=limits)
    check_same(snapshot, solved(snapshot, WHOLE), solved(snapshot, APART))


def test_only_a_limit_that_can_be_exceeded_ties_the_parts():
    one = cluster(node("a", cpu="1"), low.on("a"), high)
    beside = side_by_side(one, one, one)
    found = [len(parts_of(replace(beside, limits=EvictionLimits(evictions=k)))) for k in (0, 1, 2, 3)]
    assert found == [3, 1, 1, 3]


def test_a_comparison_says_what_evictions_are_good_for():
    snapshot = cluster(
        node("a", cpu="1"), node("b", cpu="1"), low.named("v").on("a"), high.named("p"), high.named("q")
    )
    found = compare(snapshot, OPTIONS, without_evictions=True)
    [pod] = found.without_evictions.pods
    assert pod.optimal == "a"
    assert pod.without_evictions in (None, "b")
    assert len(found.without_evictions.plan.placed()) == 1
    assert not found.without_evictions.plan.evictions
    assert found.without_evictions.plan.status == "OPTIMAL"
    assert found.model_dump(by_alias=True)["withoutEvictions"]["pods"]


def test_an_optimum_that_evicts_nobody_is_the_best_plan_without_evictions():
    found = compare(cluster(node("a", cpu="1"), low, high), OPTIONS, without_evictions=True)
    assert found.without_evictions.plan == found.optimal
    assert found.without_evictions.pods == ()
    assert "withoutEvictions" not in compare(FULL, OPTIONS).model_dump(by_alias=True)


def test_the_options_of_a_search_are_those_of_the_round():
    plan = solve(FULL, replace(OPTIONS, limits=EvictionLimits(1, 2, (PodSelector.parse("app=db"),))))
    assert plan.model_dump(by_alias=True)["limits"] == {
        "maxEvictions": 1,
        "maxViolations": 2,
        "neverEvict": ("app=db",),
    }
    assert "limits" not in solve(FULL, OPTIONS).model_dump(by_alias=True)


@pytest.mark.parametrize(
    "limits, words",
    [
        pytest.param((2, None), "3 pods are evicted, and at most 2 may be", id="too many evictions"),
        pytest.param(
            (None, None, "app=db"), "default/u is evicted, which is never to be", id="one is spared"
        ),
    ],
)
def test_the_replay_refuses_a_plan_that_breaks_a_limit(limits, words):
    with pytest.raises(ReplayFailure, match=words):
        replay(build_cluster(limited(FULL, *limits)), solve(FULL, OPTIONS))


def test_the_replay_refuses_a_plan_with_too_many_violations():
    with pytest.raises(ReplayFailure, match="2 victims violate their budgets, and at most 1 may"):
        replay(build_cluster(limited(COVERED, None, 1)), solve(COVERED, OPTIONS))


@pytest.mark.parametrize(
    "within, limits",
    [
        pytest.param(True, (3,), id="as many as may be"),
        pytest.param(False, (2,), id="too many evictions"),
        pytest.param(False, (None, None, "app=db"), id="one is spared"),
    ],
)
def test_a_search_keeps_no_plan_that_breaks_a_limit(within, limits):
    """However it was made: a heuristic need not know the limits."""
    plan = solve(FULL, OPTIONS)
    index = build_cluster(FULL)
    outcome = outcome_of(plan, moves_of(index, plan), {})
    assert valuate(build_cluster(limited(FULL, *limits)), outcome).guarded is within


def test_a_plan_names_the_limits_of_its_round():
    with pytest.raises(ReplayFailure, match="limits are not those of the round"):
        replay(build_cluster(limited(FULL, 3)), solve(FULL, OPTIONS))


def test_greedy_makes_no_preemption_that_would_exceed_a_limit():
    """Both pods of node a would have to leave for p, which is left out; q is not."""
    _, greedy = solve_and_replay(limited(FULL, 1))
    assert greedy.placed() == {"default/q": "b"}
    [left_out] = greedy.unschedulable
    assert left_out.message.endswith("preemption: not made: it would exceed the limits on evictions.")


def test_greedy_says_that_no_pod_is_to_be_evicted_where_none_may():
    _, greedy = solve_and_replay(limited(FULL, 0))
    ends = {left_out.message.partition("preemption: ")[2] for left_out in greedy.unschedulable}
    assert ends == {"not made: no pod is to be evicted."}
