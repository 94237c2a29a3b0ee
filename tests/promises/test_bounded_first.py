"""The promises where relaxations and column generation come before the search, at sizes that need neither."""

import pytest
from support.device_rounds import tiny_devices, tiny_mixed
from support.group_rounds import tiny_groups
from support.proof import check_optimal
from support.search_params import search_with
from support.strategies import tiny
from support.sweeps import few_or_all

from kubestow.solver.search.params import SearchParams

ROUNDS = [
    *((tiny, seed) for seed in range(7000, 7000 + few_or_all(20, 60))),
    *((tiny_groups, seed) for seed in range(7000, 7000 + few_or_all(10, 25))),
    *((tiny_devices, seed) for seed in range(7000, 7000 + few_or_all(10, 25))),
    *((tiny_mixed, seed) for seed in range(7000, 7000 + few_or_all(8, 15))),
]


@pytest.mark.parametrize("size", [SearchParams().small_model, 0], ids=["as small models", "as large models"])
@pytest.mark.parametrize("make, seed", ROUNDS)
def test_the_plan_equals_the_exhaustive_search(make, seed, size, monkeypatch):
    search_with(monkeypatch, quick_share=0.0, small_model=size)
    check_optimal(make(seed))
