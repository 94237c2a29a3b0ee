"""The promises with trees of pod groups in the mix."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from support.oracle.exhaustive import best_plan
from support.proof import OPTIONS, check_optimal, solve_and_replay, told
from support.tree_rounds import small_trees, tiny_tree_rounds, tiny_trees

from kubestow.framework.build import build_cluster


@pytest.mark.parametrize("seed", range(200))
def test_the_plan_equals_the_exhaustive_search(seed):
    """Equal in every tier, all proven; or greedy's inadmissible outcome is better, and is said to be so."""
    check_optimal(tiny_trees(seed))


@settings(max_examples=30)
@given(snapshot=tiny_tree_rounds)
def test_no_round_that_hypothesis_finds_is_solved_worse(snapshot):
    check_optimal(snapshot)


@pytest.mark.parametrize("seed", range(60))
def test_the_plan_is_never_worse_than_greedys(seed):
    """Lexicographically at least as good, and both plans pass their replay; at any time limit."""
    snapshot = small_trees(seed)
    optimal, greedy = solve_and_replay(snapshot, replace(OPTIONS, time_limit=2))
    assert optimal.vector() <= greedy.vector(), told(snapshot, f"greedy has {greedy.vector()}", plan=optimal)


@pytest.mark.parametrize("seed", range(1000, 1030))
def test_pods_of_one_class_are_alike(seed):
    """The exhaustive search finds the same, whether it takes equal pods as equal or tries every one."""
    snapshot = tiny_trees(seed)
    by_class, one_by_one = (best_plan(build_cluster(snapshot), by_class=choice) for choice in (True, False))
    assert by_class.tiers == one_by_one.tiers, told(snapshot, "pods of one class differ")
