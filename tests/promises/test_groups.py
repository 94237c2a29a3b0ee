"""The promises with pod groups in the mix."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from support.builders import cluster, group, node, pod, workload
from support.group_rounds import small_groups, tiny_group_rounds, tiny_groups
from support.grouped import CURRENT, rack
from support.oracle.exhaustive import best_plan
from support.proof import HURRIED, check_optimal, solve_and_replay, told
from support.sweeps import few_or_all

from kubestow.framework.build import build_cluster


@pytest.mark.parametrize("seed", range(few_or_all(80, 220)))
def test_the_plan_equals_the_exhaustive_search(seed):
    """Equal in every tier, all proven; or greedy's inadmissible outcome is better, and is said to be so."""
    check_optimal(tiny_groups(seed))


@settings(max_examples=few_or_all(15, 30))
@given(snapshot=tiny_group_rounds)
def test_no_round_that_hypothesis_finds_is_solved_worse(snapshot):
    check_optimal(snapshot)


@pytest.mark.parametrize("seed", range(few_or_all(60, 200)))
def test_the_plan_is_never_worse_than_greedys(seed):
    """Lexicographically at least as good, and both plans pass their replay; at any time limit."""
    snapshot = small_groups(seed)
    optimal, greedy = solve_and_replay(snapshot, HURRIED)
    assert optimal.vector() <= greedy.vector(), told(snapshot, f"greedy has {greedy.vector()}", plan=optimal)


def in_the_current_form(snapshot):
    return replace(snapshot, configuration=cluster(configuration=CURRENT).configuration)


@pytest.mark.parametrize("seed", range(2000, 2000 + few_or_all(20, 40)))
def test_the_plan_equals_the_exhaustive_search_beside_the_current_form(seed):
    """Greedy's other form, which preempts for groups, is another floor under the same optimum."""
    check_optimal(in_the_current_form(tiny_groups(seed)))


@pytest.mark.parametrize("seed", range(2000, 2000 + few_or_all(20, 60)))
def test_the_plan_is_never_worse_than_the_current_forms(seed):
    snapshot = in_the_current_form(small_groups(seed))
    optimal, greedy = solve_and_replay(snapshot, HURRIED)
    assert optimal.vector() <= greedy.vector(), told(snapshot, f"greedy has {greedy.vector()}", plan=optimal)


@pytest.mark.parametrize("seed", range(1000, 1000 + few_or_all(15, 40)))
def test_pods_of_one_class_are_alike(seed):
    """The exhaustive search finds the same, whether it takes equal pods as equal or tries every one."""
    snapshot = tiny_groups(seed)
    by_class, one_by_one = (best_plan(build_cluster(snapshot), by_class=choice) for choice in (True, False))
    assert by_class.tiers == one_by_one.tiers, told(snapshot, "pods of one class differ")


LOW = pod("v").req(cpu="4").priority(0)
MEMBER = pod("m").req(cpu="2").priority(10).member("g")

# name -> (objects, pods placed, evictions, other tiers that are not 0)
ROUNDS = {
    "a gang starts whole in the rack that another pod would have taken": (
        [
            rack("r1", ("a", 3)),
            rack("r2", ("b", 4)),
            group("g", "rack", gang=2),
            pod("first").req(cpu="1").priority(10).created(9),
            MEMBER.times(2),
        ],
        (3, 0, {}),
    ),
    "of two gangs one starts rather than half of each": (
        [
            rack("r1", ("a", 4), ("b", 2)),
            group("g", gang=3),
            group("h", gang=2),
            MEMBER.times(3),
            MEMBER.named("n").member("h").times(2),
        ],
        (3, 0, {}),
    ),
    "a gang that cannot start evicts nobody": (
        [rack("r1", ("a", 4)), group("g", gang=3), LOW.on("a"), MEMBER.times(3)],
        (0, 0, {}),
    ),
    "a gang that can start with evictions on two nodes evicts on both": (
        [
            rack("r1", ("a", 4), ("b", 4)),
            group("g", gang=4),
            LOW.on("a"),
            LOW.named("w").on("b"),
            MEMBER.times(4),
        ],
        (4, 2, {}),
    ),
    "late members follow the running ones, though another rack has more room": (
        [
            rack("r1", ("a", 4)),
            rack("r2", ("b", 9)),
            group("g", "rack", gang=3),
            MEMBER.named("old").on("a"),
            MEMBER.times(2),
        ],
        (0, 0, {}),
    ),
    "running members in two racks keep the others out": (
        [
            rack("r1", ("a", 8)),
            rack("r2", ("b", 8)),
            group("g", "rack"),
            MEMBER.named("old").on("a"),
            MEMBER.named("older").on("b"),
            MEMBER,
        ],
        (0, 0, {}),
    ),
    "unless one of them is evicted": (
        [
            rack("r1", ("a", 8)),
            rack("r2", ("b", 2)),
            group("g", "rack"),
            MEMBER.named("old").on("a"),
            MEMBER.named("older").priority(0).on("b"),
            MEMBER,
            pod("p").req(cpu="2").priority(20).select(rack="r2"),
        ],
        (2, 1, {}),
    ),
    "two crossing keys leave one node": (
        [node(n, cpu="4").label(rack=f"r{n[0]}", row=f"w{n[1]}") for n in ("11", "12", "21", "22")]
        + [group("g", "rack", "row", gang=2), pod("q").req(cpu="2").priority(20).on("11"), MEMBER.times(3)],
        (2, 0, {}),
    ),
    "a preferred key costs only where the group needs two domains": (
        [
            rack("r1", ("a", 4)),
            rack("r2", ("b", 4)),
            group("g", gang=3, schedulingConstraints={"topology": [{"key": "rack", "mode": "Preferred"}]}),
            MEMBER.times(3),
        ],
        (3, 0, {"preferredTopology": 1}),
    ),
    "desiredCount is a wish: the group starts where not all can follow": (
        [rack("r1", ("a", 4)), rack("r2", ("b", 4)), group("g", "rack", desired=4), MEMBER.times(2)],
        (2, 0, {"desiredCount": 2}),
    ),
    "each replica of a workload's group has a rack of its own": (
        [
            rack("r1", ("a", 4)),
            rack("r2", ("b", 4)),
            workload(
                "w",
                {
                    "name": "g",
                    "policy": {"gang": {"minCount": 2}},
                    "schedulingConstraints": {"topologyConstraints": [{"level": "rack"}]},
                },
            ),
            pod("x").req(cpu="2").replica("w", "g", "0").times(2),
            pod("y").req(cpu="2").replica("w", "g", "1").times(2),
        ],
        (4, 0, {}),
    ),
    "a gated member does not count, and its gang waits": (
        [rack("r1", ("a", 8)), group("g", gang=2), MEMBER, MEMBER.named("later").gated()],
        (0, 0, {}),
    ),
}


@pytest.mark.parametrize("name", ROUNDS)
def test_rounds_with_a_point(name):
    """The optimum is known; both engines find it."""
    objects, (placed, evicted, others) = ROUNDS[name]
    plan, _ = check_optimal(cluster(objects, name=name))
    assert len(plan.placed()) == placed
    assert len(plan.evictions) == evicted
    rest = {t.name: t.value for t in plan.tiers if t.value and "[" not in t.name}
    assert rest == others


def test_a_gang_that_greedy_leaves_short_is_no_plan():
    """Greedy counts the member that p evicts, and binds another beside it; in the end the gang is short."""
    snapshot = cluster(
        rack("r1", ("a", 2), ("b", 2)),
        group("g", gang=2),
        MEMBER.named("old").on("a"),
        MEMBER,
        pod("p").req(cpu="2").priority(20).select(hostname="a"),
    )
    plan, greedy = check_optimal(snapshot)
    assert len(greedy.placed()) == 2
    assert not greedy.stats.admissible
    # no plan places both: greedy's outcome is the answer, and is said to be none
    assert plan.vector() == greedy.vector()
    assert not plan.stats.admissible
    assert best_plan(build_cluster(snapshot)).tiers["scheduled[priority=10]"] == ("max", 0)
