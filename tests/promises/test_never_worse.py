"""Never worse than greedy: on small rounds of every kind, each plan of either scheduler replayed."""

import pytest
from hypothesis import given, settings
from support.proof import HURRIED, solve_and_replay, told
from support.strategies import small, small_rounds
from support.sweeps import few_or_all

SEEDS = range(few_or_all(100, 300))


def check_not_worse(snapshot):
    """Hold the optimal plan against greedy's in the lexicographic order."""
    optimal, greedy = solve_and_replay(snapshot, HURRIED)
    assert [t.name for t in optimal.tiers] == [t.name for t in greedy.tiers]
    assert optimal.vector() <= greedy.vector(), told(
        snapshot, f"greedy has {greedy.vector()}, the optimal plan {optimal.vector()}"
    )
    assert optimal.stats.verified
    assert greedy.stats.verified
    # greedy's values are no news to the bounds either: down to the first difference they hold for it
    if greedy.stats.admissible:
        for mine, other in zip(optimal.tiers, greedy.tiers, strict=True):
            assert mine.bound >= other.value if mine.sense == "max" else mine.bound <= other.value, told(
                snapshot, f"{mine.name}: bound {mine.bound}, greedy attains {other.value}"
            )
            if mine.value != other.value:
                break
    return optimal, greedy


@pytest.mark.parametrize("seed", SEEDS)
def test_the_plan_is_never_worse_than_greedys(seed):
    """Lexicographically at least as good, and both plans pass their replay."""
    check_not_worse(small(seed))


@settings(max_examples=few_or_all(15, 30))
@given(snapshot=small_rounds)
def test_no_round_that_hypothesis_finds_is_solved_worse_than_by_greedy(snapshot):
    check_not_worse(snapshot)
