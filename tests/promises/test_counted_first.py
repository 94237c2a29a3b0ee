"""The promises where nodes are counted before anything else, with no plan known at first."""

import pytest
from support.packing_rounds import tiny_packing
from support.proof import OPTIONS, check_optimal
from support.search_params import search_with
from support.sweeps import few_or_all

from kubestow.solver.api import solve
from kubestow.solver.packing.node_count import NodeCount, Verdict
from kubestow.solver.packing.params import PackingParams
from kubestow.solver.search import phases, tier_search

WAYS = [
    pytest.param({}, id="by a dive, or else by CP-SAT"),
    pytest.param({"dive_steps": 0}, id="by CP-SAT"),
    pytest.param({"most_chosen": 0}, id="by a dive alone"),
]


@pytest.fixture
def counted_first(monkeypatch):
    """No plan and no bound by sums is known; the fixture sets the limits."""
    monkeypatch.setattr(tier_search.Search, "_consider", lambda search, outcome: None)
    monkeypatch.setattr(tier_search.Search, "_construct", lambda search: None)
    monkeypatch.setattr(tier_search, "SMALL_MODEL", (phases.count_nodes, *phases.SMALL_MODEL))

    def limit(**changes):
        search_with(monkeypatch, packing=PackingParams(**changes))

    return limit


@pytest.mark.parametrize("changes", WAYS)
@pytest.mark.parametrize("seed", range(few_or_all(12, 3000)))
def test_the_plan_equals_the_exhaustive_search(changes, seed, counted_first):
    counted_first(**changes)
    check_optimal(tiny_packing(seed))


def test_most_of_these_rounds_are_decided(counted_first, monkeypatch):
    """The sweep above would say little if other phases did all the work."""
    verdicts = []

    def noted(count, *args):
        answer = decide(count, *args)
        verdicts.append(answer.verdict)
        return answer

    decide = NodeCount.decide
    monkeypatch.setattr(NodeCount, "decide", noted)
    counted_first()
    for seed in range(8):
        solve(tiny_packing(seed), OPTIONS)
    assert verdicts.count(Verdict.ATTAINED) >= 4
    assert verdicts.count(Verdict.REFUTED) >= 2
    assert Verdict.OPEN not in verdicts
