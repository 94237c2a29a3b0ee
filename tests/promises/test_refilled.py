"""The promises where refill search comes first, at sizes that are too small for it."""

import pytest
from support.device_rounds import tiny_mixed
from support.group_rounds import tiny_groups
from support.guard_rounds import tiny_guards
from support.proof import check_optimal, solve_and_replay
from support.refill_rounds import tiny_refills
from support.search_params import search_with
from support.strategies import tiny
from support.sweeps import few_or_all

from kubestow.solver.refill.params import RefillParams
from kubestow.solver.refill.search import Refill

EAGER = RefillParams(least_nodes=0, least_pods=0.0, moves_per_node=20, attempts=3, first_slack=0)
"""Every round is large enough, and a block gives up soon."""

ROUNDS = [
    *((tiny_refills, seed) for seed in range(few_or_all(24, 4000))),
    *((tiny_guards, seed) for seed in range(30008, 30008 + few_or_all(12, 600))),
    *((tiny, seed) for seed in range(30000, 30000 + few_or_all(4, 250))),
    *((tiny_groups, seed) for seed in range(30000, 30000 + few_or_all(2, 100))),
    *((tiny_mixed, seed) for seed in range(30000, 30000 + few_or_all(2, 50))),
]


@pytest.fixture
def eager(monkeypatch):
    """Have every search begin with refill search."""
    search_with(monkeypatch, quick_share=0.0, small_model=0, refill=EAGER)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("make, seed", ROUNDS)
def test_the_plan_equals_the_exhaustive_search(make, seed):
    check_optimal(make(seed))


@pytest.mark.usefixtures("eager")
def test_rounds_of_the_sweep_are_those_that_refill_search_is_for(monkeypatch):
    """Of 40 rounds it is carried out in several: it does not wait before phases that prove everything."""
    seen = []
    carry_out = Refill.carry_out
    monkeypatch.setattr(
        Refill, "carry_out", lambda self, *given, **more: seen.append(self) or carry_out(self, *given, **more)
    )
    for seed in range(40):
        solve_and_replay(tiny_refills(seed))
    assert len({id(refill) for refill in seen}) >= 5
