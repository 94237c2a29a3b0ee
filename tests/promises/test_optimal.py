"""Optimal means optimal: on tiny rounds no admissible plan is better, and every tier is said to be proven."""

import pytest
from hypothesis import given, settings
from proof import check_optimal
from strategies import tiny, tiny_rounds

SEEDS = range(600)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_plan_equals_the_exhaustive_search(seed):
    """Equal in every tier, all proven; or greedy's inadmissible outcome is better, and is said to be so."""
    check_optimal(tiny(seed))


@settings(max_examples=100)
@given(snapshot=tiny_rounds)
def test_no_round_that_hypothesis_finds_is_solved_worse(snapshot):
    check_optimal(snapshot)
