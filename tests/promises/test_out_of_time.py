"""Out of time: still a plan, never worse than greedy's, and no bound that a known plan contradicts."""

from dataclasses import replace
from functools import cache

import pytest
from support.device_rounds import small_devices, small_mixed
from support.group_rounds import small_groups
from support.proof import SHORT, solve_and_replay, told
from support.strategies import small
from support.sweeps import few_or_all

from kubestow.solver.api import solve

LIMITS = [1e-6, 0.01, 0.05, 0.2]
ROUNDS = [
    *((small, seed) for seed in range(few_or_all(10, 25))),
    *(
        (make, seed)
        for make in (small_groups, small_devices, small_mixed)
        for seed in range(few_or_all(5, 10))
    ),
]


@cache
def in_time(make, seed):
    """The best known plan of a round."""
    return solve(make(seed), SHORT)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("make, seed", ROUNDS)
def test_bounds_are_honest(make, seed, limit):
    """The bound of a tier admits the best known value, as long as the tiers above are equal."""
    snapshot = make(seed)
    best = in_time(make, seed)
    optimal, greedy = solve_and_replay(snapshot, replace(SHORT, time_limit=limit))
    assert optimal.vector() <= greedy.vector(), told(snapshot, "worse than greedy", plan=optimal)
    assert (optimal.status == "OPTIMAL") == all(t.proven for t in optimal.tiers)
    if not (best.stats.admissible and optimal.stats.admissible):
        return
    for mine, known in zip(optimal.tiers, best.tiers, strict=True):
        admits = mine.bound >= known.value if mine.sense == "max" else mine.bound <= known.value
        assert admits, told(snapshot, f"{mine.name}: bound {mine.bound}, known {known.value}", plan=optimal)
        assert mine.proven == (mine.bound == mine.value)
        if mine.value != known.value:
            assert not mine.proven
            break
