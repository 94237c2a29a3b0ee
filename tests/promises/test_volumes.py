"""The promises with volumes in the mix."""

import pytest
from hypothesis import given, settings
from support.builders import cluster, node, pod
from support.oracle.exhaustive import best_plan
from support.proof import HURRIED, check_optimal, solve_and_replay, told
from support.storage import WAIT, attachment, bound, claim, csi_node, volume
from support.sweeps import few_or_all
from support.volume_rounds import small_volumes, tiny_volume_rounds, tiny_volumes

from kubestow.framework.build import build_cluster


@pytest.mark.parametrize("seed", range(few_or_all(90, 250)))
def test_the_plan_equals_the_exhaustive_search(seed):
    """Equal in every tier, all proven; or greedy's inadmissible outcome is better, and is said to be so."""
    check_optimal(tiny_volumes(seed))


@settings(max_examples=few_or_all(20, 50))
@given(snapshot=tiny_volume_rounds)
def test_no_round_that_hypothesis_finds_is_solved_worse(snapshot):
    check_optimal(snapshot)


@pytest.mark.parametrize("seed", range(few_or_all(25, 60)))
def test_the_plan_is_never_worse_than_greedys(seed):
    """Lexicographically at least as good, and both plans pass their replay; at any time limit."""
    snapshot = small_volumes(seed)
    optimal, greedy = solve_and_replay(snapshot, HURRIED)
    assert optimal.vector() <= greedy.vector(), told(snapshot, f"greedy has {greedy.vector()}", plan=optimal)


@pytest.mark.parametrize("seed", range(1000, 1000 + few_or_all(30, 80)))
def test_pods_of_one_class_are_alike(seed):
    """The exhaustive search finds the same, whether it takes equal pods as equal or tries every one."""
    snapshot = tiny_volumes(seed)
    by_class, one_by_one = (best_plan(build_cluster(snapshot), by_class=choice) for choice in (True, False))
    assert by_class.tiers == one_by_one.tiers, told(snapshot, "pods of one class differ")


ROUNDS = {
    "the small claim leaves the large volume to the large one": (
        [
            node("a"),
            node("b"),
            WAIT,
            volume("large", 10, on="a"),
            volume("small", 2, on="b"),
            claim("x", 1),
            claim("y", 5),
            pod("p").claim("x").created(2),
            pod("q").claim("y").created(1),
        ],
        2,
    ),
    "who comes first decides which volume is left": (
        [
            node("a"),
            WAIT,
            volume("v", 1, modes=("ReadWriteOnce", "ReadWriteMany"), labels={"media": "ssd"}),
            volume("w", 2, modes=("ReadWriteMany",)),
            claim("x", modes=("ReadWriteMany",)),
            claim("y", select={"media": "ssd"}),
            pod("p").claim("x").priority(10),
            pod("q").claim("y"),
        ],
        2,
    ),
    "no order serves three claims that two volumes suit": (
        [
            node("a"),
            WAIT,
            volume("v", 1, labels={"media": "ssd"}),
            volume("w", 2, labels={"media": "ssd"}),
            volume("u", 3),
            claim("x", 1),
            claim("y", 1, select={"media": "ssd"}),
            claim("z", 2, select={"media": "ssd"}),
            pod("p").claim("x", "y"),
            pod("q").claim("z"),
        ],
        1,
    ),
    "a volume attached without a pod counts twice for the pod that brings it, unless it comes first": (
        [
            node("a"),
            csi_node("a", volumes=2),
            bound("x"),
            bound("y"),
            attachment("a", "x"),
            pod("p").claim("y").priority(10),
            pod("q").claim("x"),
        ],
        2,
    ),
    "an exclusive claim is freed on one node and used on another": (
        [
            node("a", cpu="1"),
            node("b", cpu="1"),
            bound("x", modes=("ReadWriteOncePod",)),
            pod("v").claim("x").req(cpu="1").priority(-10).on("a"),
            pod("p").claim("x").req(cpu="1").priority(5).select(hostname="b"),
            pod("q").req(cpu="1").priority(10).select(hostname="a"),
        ],
        2,
    ),
}


@pytest.mark.parametrize("name", ROUNDS)
def test_rounds_with_a_point(name):
    objects, placed = ROUNDS[name]
    plan, _ = check_optimal(cluster(objects, name=name))
    assert len(plan.placed()) == placed
