"""Parts solved on their own add up to the round solved as a whole, in every tier and on every engine."""

import time
from dataclasses import replace

import pytest
from support.apart import APART, WHOLE, parts_of, plan_of, solved
from support.builders import budget, cluster, group, node, pod
from support.guard_rounds import tiny_guards
from support.proof import OPTIONS, check_same, told
from support.side_by_side import side_by_side
from support.storage import claim, storage_class
from support.strategies import small, tiny
from support.sweeps import few_or_all

from kubestow.framework.build import build_cluster
from kubestow.solver.decomposition.search import LEAST, search_round
from kubestow.solver.plans.greedy_baseline import greedy_outcome
from kubestow.solver.plans.replay import replay


@pytest.mark.parametrize(
    "make, seed",
    [*((tiny, k) for k in range(few_or_all(20, 40))), *((tiny_guards, k) for k in range(few_or_all(10, 20)))],
)
def test_two_rounds_side_by_side_have_the_sum_of_their_values(make, seed):
    snapshot = side_by_side(make(2 * seed), make(2 * seed + 1), name=f"two-{seed}")
    whole, apart = solved(snapshot, WHOLE), solved(snapshot, APART)
    assert whole.status == apart.status == "OPTIMAL", told(snapshot, "not proven", plan=apart)
    check_same(snapshot, whole, apart)


@pytest.mark.parametrize("seed", range(few_or_all(10, 25)))
@pytest.mark.parametrize("prefer", ["scores", "pack", "spread"])
def test_preferences_add_up_as_well(prefer, seed):
    snapshot = side_by_side(tiny(seed), tiny(seed + 500), name=f"{prefer}-{seed}")
    options = replace(OPTIONS, prefer=prefer)
    check_same(snapshot, solved(snapshot, WHOLE, options), solved(snapshot, APART, options))


def test_rounds_side_by_side_do_fall_apart():
    snapshots = [side_by_side(tiny(2 * seed), tiny(2 * seed + 1)) for seed in range(40)]
    assert sum(len(parts_of(snapshot)) > 1 for snapshot in snapshots) > 30


@pytest.mark.parametrize("seed", range(few_or_all(20, 60)))
@pytest.mark.slow
def test_what_falls_apart_by_itself_adds_up(seed):
    snapshot = small(1000 + seed)
    options = replace(OPTIONS, time_limit=2)
    check_same(snapshot, solved(snapshot, WHOLE, options), solved(snapshot, APART, options))


@pytest.mark.parametrize("seed", range(few_or_all(6, 15)))
@pytest.mark.slow
def test_bounds_of_parts_that_ran_out_of_time_admit_the_best_plan(seed):
    """A bound of a tier holds for every plan that has the values of the tiers above."""
    snapshot = side_by_side(small(seed), small(seed + 300), name=f"hurried-{seed}")
    best = solved(snapshot, WHOLE, replace(OPTIONS, time_limit=5))
    hurried = solved(snapshot, APART, replace(OPTIONS, time_limit=0.001))
    for tier, reached in zip(hurried.tiers, best.tiers, strict=True):
        admits = tier.bound >= reached.value if tier.sense == "max" else tier.bound <= reached.value
        assert admits, told(snapshot, f"{tier} excludes {reached}", plan=hurried)
        if tier.value != reached.value:
            break


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.slow
def test_an_interruption_keeps_what_is_known_of_every_part(seed):
    """The part in work gives its best, those that were not begun give greedy's plan; bounds stay bounds."""
    snapshot = side_by_side(small(seed), small(seed + 40), tiny(seed), name=f"interrupted-{seed}")
    best = solved(snapshot, WHOLE, replace(OPTIONS, time_limit=5))
    index = build_cluster(snapshot)
    greedy, value = greedy_outcome(index)

    def interrupt(progress):
        raise KeyboardInterrupt

    found = search_round(index, greedy, OPTIONS, interrupt, time.monotonic(), least=APART)
    plan = plan_of(index, found)
    replay(index, plan)
    assert found.interrupted
    assert not greedy.admissible or found.valuation.costs <= value.costs
    for tier, reached in zip(plan.tiers, best.tiers, strict=True):
        admits = tier.bound >= reached.value if tier.sense == "max" else tier.bound <= reached.value
        assert admits, told(snapshot, f"{tier} excludes {reached}", plan=plan)
        if tier.value != reached.value:
            break


def pool(name, *, pods, size="2"):
    """A pool of two nodes with pods that may stand nowhere else."""
    nodes = [node(f"{name}{k}", zone="z1", cpu=size).label(pool=name) for k in (1, 2)]
    waiting = pod(f"{name}-p").req(cpu="1").priority(10).select(pool=name).label(app=name).times(pods)
    return nodes, waiting


def groups_of(*objects, prefer="none"):
    snapshot = cluster(*objects)
    index = build_cluster(snapshot)
    return sorted(
        sorted({index.pods[i].key.split("/")[1].split("-")[0] for i in part.pods})
        for part in parts_of(snapshot, prefer)
    )


NODES_A, A = pool("a", pods=2)
NODES_B, B = pool("b", pods=2)
POOLS = (*NODES_A, *NODES_B)
OWN = [["a"], ["b"]]
ONE = [["a", "b"]]
OLD = [pod("va").on("a1").priority(0).req(cpu="2"), pod("vb").on("b1").priority(0).req(cpu="2")]
OLD_WEB = [v.label(app="old") for v in OLD]


@pytest.mark.parametrize(
    "objects, expected",
    [
        pytest.param([*POOLS, A, B], OWN, id="pools have nothing to do with each other"),
        pytest.param(
            [*POOLS, A, B, pod("c").req(cpu="1").label(app="c")],
            [["a", "b", "c"]],
            id="a pod that may go anywhere ties all nodes",
        ),
        pytest.param(
            [*POOLS, A.spread("hostname"), B.spread("hostname")], OWN, id="constraints on their own pods"
        ),
        pytest.param(
            [*POOLS, A.spread("hostname", select={"app": "b"}, node_affinity="Ignore"), B],
            ONE,
            id="a constraint that counts the others",
        ),
        pytest.param(
            [*POOLS, A.spread("zone", when="ScheduleAnyway", select={"app": "b"}), B],
            OWN,
            id="a soft constraint matters only to the preference for scores",
        ),
        pytest.param([*POOLS, A.anti("zone", {"app": "b"}), B], ONE, id="anti-affinity to the others"),
        pytest.param([*POOLS, A.anti("zone", {"app": "a"}), B], OWN, id="anti-affinity among themselves"),
        pytest.param([*POOLS, A.affinity("zone", {"app": "b"}), B], ONE, id="affinity to the others"),
        pytest.param(
            [*POOLS, A, B, OLD[0].anti("zone", {"app": "b"})],
            ONE,
            id="a running pod that may leave repels the others",
        ),
        pytest.param(
            [*POOLS, A, B, OLD[0].priority(99).anti("zone", {"app": "b"})],
            OWN,
            id="a running pod that stays ties nobody",
        ),
        pytest.param(
            [*POOLS, A, B, *OLD_WEB, budget("x", {"app": "old"}, allowed=1)],
            ONE,
            id="a budget that both could use up",
        ),
        pytest.param(
            [*POOLS, A, B, *OLD_WEB, budget("x", {"app": "old"}, allowed=2)],
            OWN,
            id="a budget that is enough for all",
        ),
        pytest.param(
            [*POOLS, A.member("g"), B.member("g"), group("g", gang=2)], ONE, id="members of one gang"
        ),
        pytest.param(
            [*POOLS, A.member("g"), B.member("h"), group("g", gang=2), group("h", gang=2)],
            OWN,
            id="members of two gangs",
        ),
        pytest.param(
            [*POOLS, A.claim("x"), B.claim("x"), claim("x"), storage_class("wait")],
            ONE,
            id="users of one claim",
        ),
        pytest.param(
            [*POOLS, A.claim("x"), B.claim("y"), claim("x"), claim("y"), storage_class("wait")],
            OWN,
            id="claims of their own, with volumes made for them",
        ),
    ],
)
def test_what_ties_pods_together(objects, expected):
    assert groups_of(*objects) == expected


def test_soft_criteria_tie_where_they_are_preferred():
    objects = [
        *POOLS,
        A.spread("zone", when="ScheduleAnyway", select={"app": "b"}, node_affinity="Ignore"),
        B,
    ]
    assert groups_of(*objects, prefer="scores") == ONE


def test_small_rounds_are_searched_as_a_whole():
    """Every part of a test's size is below what a search of its own is worth."""
    assert sum(part.weight for part in parts_of(cluster(*POOLS, A, B))) < LEAST
