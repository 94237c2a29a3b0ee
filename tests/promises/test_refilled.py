"""The promises where refill search comes first, at sizes that are too small for it."""

import pytest
from support.guard_rounds import tiny_guards
from support.proof import check_optimal
from support.search_params import search_with
from support.strategies import tiny

from kubestow.solver.refill.params import RefillParams

EAGER = RefillParams(least_nodes=0, least_pods=0.0, moves_per_node=20, attempts=3, first_slack=0)
"""Every round is large enough, and a block gives up soon."""

ROUNDS = [
    *((tiny_guards, seed) for seed in range(30008, 30024)),
    *((tiny, seed) for seed in range(30000, 30008)),
]


@pytest.mark.parametrize("make, seed", ROUNDS)
def test_the_plan_equals_the_exhaustive_search(make, seed, monkeypatch):
    search_with(monkeypatch, quick_share=0.0, small_model=0, refill=EAGER)
    check_optimal(make(seed))
