"""Both schedulers do with every bundled instance what its story says."""

import pytest

from kubestow.instances import catalogue
from kubestow.instances.catalogue import Outcome
from kubestow.instances.manifests import load_snapshot
from kubestow.models.features import FeatureGates
from kubestow.models.plan import Plan
from kubestow.solver.api import solve_both

NAMES = catalogue.names()


def outcome(plan: Plan) -> Outcome:
    return Outcome(
        scheduled=len(plan.placed()),
        evictions=len(plan.evictions),
        violations=sum(bool(e.violates) for e in plan.evictions),
        fallbacks=sum(f.applied for f in plan.fallbacks),
    )


def solved(name: str, gates: FeatureGates) -> tuple[Plan, Plan]:
    return solve_both(load_snapshot([str(catalogue.path(name))], feature_gates=gates))


@pytest.mark.parametrize("name", NAMES)
def test_the_story_is_true(name):
    optimal, greedy = solved(name, FeatureGates())
    expect = catalogue.describe(name).expect
    assert outcome(greedy) == expect.greedy
    assert outcome(optimal) == expect.optimal
    assert optimal.status == "OPTIMAL"
    assert optimal.stats.verified
    assert optimal.vector() <= greedy.vector()


@pytest.mark.parametrize("name", [n for n in NAMES if catalogue.describe(n).without])
def test_the_story_without_the_proposal_is_true(name):
    without = catalogue.describe(name).without
    optimal, greedy = solved(name, FeatureGates(frozenset(without.feature_gates)))
    assert outcome(greedy) == without.greedy
    assert outcome(optimal) == without.optimal


def test_the_budget_story_differs_in_who_is_evicted():
    """Its counts are equal, so the victims are told apart here."""
    optimal, greedy = solved("budget-hits-the-wrong-pod", FeatureGates())
    assert [e.pod for e in greedy.evictions] == ["shop/trio-0"]
    assert [e.pod for e in optimal.evictions] == ["shop/trio-2"]


def test_the_gang_story_differs_in_who_is_evicted():
    """The job's last pod alone is no plan; the batch pod is."""
    optimal, greedy = solved("group-evicted-whole", FeatureGates())
    assert [e.pod for e in greedy.evictions] == ["shop/train-2"]
    assert [e.pod for e in optimal.evictions] == ["shop/batch-0"]
    assert (greedy.stats.admissible, optimal.stats.admissible) == (False, True)


def test_two_rejectors_are_both_named():
    optimal, _ = solved("hints-two-rejectors", FeatureGates())
    assert set(optimal.unschedulable[0].blocked_by) == {"NodeResourcesFit", "NodeAffinity"}
