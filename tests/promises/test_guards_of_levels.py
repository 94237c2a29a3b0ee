"""Guards and budgets that several priority levels contest: the optimum of every tier is that of all plans."""

import pytest
from guard_rounds import tiny_guard_rounds, tiny_guards
from hypothesis import given, settings
from support.proof import check_optimal

SEEDS = range(300)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_plan_equals_the_exhaustive_search(seed):
    check_optimal(tiny_guards(seed))


@settings(max_examples=100)
@given(snapshot=tiny_guard_rounds)
def test_no_round_that_hypothesis_finds_is_solved_worse(snapshot):
    check_optimal(snapshot)
