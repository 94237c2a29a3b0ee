"""The promises where packing has to find the plans, at sizes that do not need it."""

import pytest
from support.packing_rounds import tiny_packing
from support.proof import OPTIONS, check_optimal
from support.search_params import search_with
from support.strategies import tiny
from support.sweeps import few_or_all

from kubestow.solver.api import solve
from kubestow.solver.packing import search as packing_search
from kubestow.solver.packing.packer import Packer
from kubestow.solver.packing.params import PackingParams
from kubestow.solver.packing.search import Packing
from kubestow.solver.search import phases, tier_search

ROUNDS = [
    *((tiny_packing, seed) for seed in range(few_or_all(40, 5000))),
    *((tiny, seed) for seed in range(7100, 7100 + few_or_all(10, 500))),
]


@pytest.fixture
def packed_first(monkeypatch):
    """No plan is known at first, and packing comes before all other phases; the fixture sets its limits."""
    monkeypatch.setattr(tier_search.Search, "_consider", lambda search, outcome: None)
    monkeypatch.setattr(tier_search.Search, "_construct", lambda search: None)
    monkeypatch.setattr(tier_search, "SMALL_MODEL", (phases.add_up, phases.pack, *phases.SMALL_MODEL))

    def limit(**changes):
        search_with(monkeypatch, packing=PackingParams(brim=2, **changes))

    return limit


def pack_closely(monkeypatch):
    """Nothing is packed in one go."""
    monkeypatch.setattr(packing_search, "best_fit", lambda side: None)


@pytest.mark.parametrize("make, seed", ROUNDS)
def test_the_plan_equals_the_exhaustive_search(make, seed, packed_first, monkeypatch):
    packed_first(last=1 + seed % 4)  # nodes are filled one by one, or some of them at once
    if seed // 4 % 2:
        pack_closely(monkeypatch)
    check_optimal(make(seed))


def pack_in_one_go(monkeypatch):
    """Nothing is packed closely."""
    monkeypatch.setattr(Packer, "run", lambda packer, until, effort: None)


@pytest.mark.parametrize(
    "limited",
    [
        pytest.param(lambda monkeypatch: None, id="in any way"),
        pytest.param(pack_in_one_go, id="in one go"),
        pytest.param(pack_closely, id="closely"),
    ],
)
def test_most_of_these_rounds_are_packed(limited, packed_first, monkeypatch):
    """The sweep above would say little if other phases found its plans."""
    found = []
    limited(monkeypatch)

    def noted(packing, *args):
        plan = made(packing, *args)
        found.append(plan)
        return plan

    made = Packing.plan
    monkeypatch.setattr(Packing, "plan", noted)
    packed_first()
    for seed in range(8):
        solve(tiny_packing(seed), OPTIONS)
    assert sum(plan is not None for plan in found) >= 8
    assert any(plan is not None and plan.leaving for plan in found)
