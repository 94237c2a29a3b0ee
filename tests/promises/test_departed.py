"""The promises where who leaves each node is chosen first, at sizes that are too small for it."""

import pytest
from support.guard_rounds import tiny_guards
from support.proof import check_optimal, solve_and_replay
from support.refill_rounds import tiny_refills
from support.search_params import search_with
from support.strategies import tiny
from support.sweeps import few_or_all

from kubestow.solver.departures.params import DepartureParams
from kubestow.solver.departures.search import Departing

EAGER = DepartureParams(most_pods=100.0, scarce=0.0, least_nodes=0, exchange_stall=2)
"""Every round is large enough, and exchanges end soon."""

ROUNDS = [
    *((tiny_refills, seed) for seed in range(60_000, 60_000 + few_or_all(16, 3_000))),
    *((tiny_guards, seed) for seed in range(60_000, 60_000 + few_or_all(8, 1_000))),
    *((tiny, seed) for seed in range(60_000, 60_000 + few_or_all(4, 500))),
]


@pytest.fixture
def eager(monkeypatch):
    """Have every search begin with who leaves each node."""
    search_with(monkeypatch, quick_share=0.0, small_model=0, departures=EAGER)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("make, seed", ROUNDS)
def test_the_plan_equals_the_exhaustive_search(make, seed):
    check_optimal(make(seed))


@pytest.mark.usefixtures("eager")
def test_rounds_of_the_sweep_find_plans_that_way(monkeypatch):
    """Of 40 rounds several get a plan from it: it does not wait before phases that prove everything."""
    found = []
    plan = Departing.plan

    def noted(*given):
        found.append(plan(*given))
        return found[-1]

    monkeypatch.setattr(Departing, "plan", noted)
    for seed in range(40):
        solve_and_replay(tiny_refills(seed))
    assert sum(departed is not None for departed in found) >= 5
