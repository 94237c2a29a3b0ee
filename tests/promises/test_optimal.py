"""Optimal means optimal: on tiny rounds no admissible plan is better, and every tier is said to be proven."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from support.proof import OPTIONS, check_optimal
from support.search_params import search_with
from support.strategies import tiny, tiny_rounds
from support.sweeps import few_or_all

SEEDS = range(few_or_all(200, 600))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_plan_equals_the_exhaustive_search(seed):
    """Equal in every tier, all proven; or greedy's inadmissible outcome is better, and is said to be so."""
    check_optimal(tiny(seed))


@pytest.mark.parametrize("seed", range(few_or_all(15, 40)))
def test_several_workers_prove_the_same(seed, monkeypatch):
    """Where one worker has not proven a small round soon, all of them search it, and in other ways."""
    search_with(monkeypatch, quick_share=0.0)
    check_optimal(tiny(seed), replace(OPTIONS, workers=3))


@settings(max_examples=few_or_all(40, 100))
@given(snapshot=tiny_rounds)
def test_no_round_that_hypothesis_finds_is_solved_worse(snapshot):
    check_optimal(snapshot)
