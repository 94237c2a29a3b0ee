"""What a person reads of a comparison: the tiers side by side and why the difference matters."""

import io

import pytest

from kubestow.models.plan import Comparison
from kubestow.reports.comparison import comparison_report, why_it_matters
from kubestow.reports.layout import show


def plan(scheduler, status="OPTIMAL", admissible=True, bindings=(), evictions=(), unschedulable=()):
    return {
        "instance": "dump.yaml", "scheduler": scheduler, "status": status, "tiers": [],
        "bindings": [{"pod": p, "node": n} for p, n in bindings],
        "evictions": [{"pod": p, "node": "n1", "preemptor": None, "violates": v} for p, v in evictions],
        "unschedulable": [{"pod": p, "message": "", "blockedBy": []} for p in unschedulable],
        "stats": {"wallSeconds": 1.26, "verified": True, "admissible": admissible},
    }  # fmt: skip


def tier(name, optimal, greedy, sense="max", proven=True):
    bound = optimal if proven else optimal + 2
    return {
        "name": name,
        "sense": sense,
        "optimal": optimal,
        "bound": bound,
        "proven": proven,
        "greedy": greedy,
    }


def comparison(tiers=(), first=None, pods=(), **plans):
    differ = [{"pod": p, "greedy": g, "optimal": o} for p, g, o in pods]
    optimal = plan("optimal", **plans.get("optimal", {}))
    greedy = plan("greedy", "FEASIBLE", **plans.get("greedy", {}))
    return Comparison.model_validate(
        {"optimal": optimal, "greedy": greedy, "tiers": tiers, "firstDifference": first, "pods": differ}
    )


STRANDED = comparison(
    [
        tier("scheduled[priority=1000]", 1, 1),
        tier("violations[priority=1000]", 0, 0, "min"),
        tier("scheduled[priority=100]", 3, 1),
        tier("evicted[priority=100,victim=0]", 0, 1, "min"),
    ],
    "scheduled[priority=100]",
    [("shop/web-0", "n1", "n2"), ("shop/web-1", None, "n1"), ("shop/web-2", None, "n3")],
    optimal={
        "bindings": [("shop/g", "n1"), ("shop/web-0", "n2"), ("shop/web-1", "n1"), ("shop/web-2", "n3")]
    },
    greedy={
        "bindings": [("shop/g", "n1"), ("shop/web-0", "n1")],
        "evictions": [("shop/old", ["shop/keep"])],
        "unschedulable": ["shop/web-1", "shop/web-2"],
    },
)

REPORT = """\
dump.yaml
  optimal: 4 of 4 pods scheduled, 0 evictions, 0 budget violations (proven optimal, 1.3 s)
  greedy:  2 of 4 pods scheduled, 1 eviction, 1 budget violation

Greedy strands 2 pods of priority 100 that can run: shop/web-1, shop/web-2.

Tiers, most important first
  tier                             optimal   bound   greedy
  ───────────────────────────────────────────────────────────────────────────────
  scheduled[priority=1000]               1       1        1
  scheduled[priority=100]                3       3        1   <- first difference
  evicted[priority=100,victim=0]         0       0        1

Pods that differ
  pod          greedy    optimal
  ─────────────────────────────────────────────────────────
  shop/web-1   pending   n1        runs only in the optimum
  shop/web-2   pending   n3        runs only in the optimum
  shop/web-0   n1        n2        moved
"""


def report(result: Comparison) -> str:
    file = io.StringIO()
    show(comparison_report(result), file)
    return file.getvalue()


def test_the_whole_report():
    assert report(STRANDED) == REPORT


@pytest.mark.parametrize(
    "first, sentence",
    [
        (tier("violations[priority=7]", 0, 2, "min"),
         "Greedy violates budgets with 2 evictions for priority 7; none is needed."),
        (tier("evicted[priority=7,victim=-5]", 1, 3, "min"),
         "Greedy evicts 3 pods of priority -5; 1 is enough."),
        (tier("evicted[priority=7,victim=0]", 2, 3, "min"),
         "Greedy evicts 3 pods of priority 0; 2 are enough."),
        (tier("scheduled[priority=7]", 5, 4), "Greedy strands 1 pod of priority 7 that can run."),
        (tier("fallback", 0, 2, "min"), "Greedy breaks constraints that fell back by a skew of 2 against 0."),
        (tier("firstAvailable", 1, 4, "min"),
         "Greedy's device choices are further from first choice: 4 against 1."),
        (tier("desiredCount", 0, 1, "min"),
         "Greedy leaves less room for pods that groups still expect: 1 against 0."),
        (tier("pack", 3, 5, "min"),
         "Both place the same pods; the preference 'pack' tells them apart: 5 against 3."),
    ],
)  # fmt: skip
def test_the_sentence_names_what_greedy_costs(first, sentence):
    assert why_it_matters(comparison([first], first["name"])) == sentence


def test_equal_and_proven_means_that_greedy_is_optimal():
    result = comparison([tier("scheduled[priority=0]", 3, 3)])
    assert why_it_matters(result) == "Greedy is optimal here: no plan is better in any tier."


def test_equal_and_not_proven_claims_nothing():
    result = comparison([tier("scheduled[priority=0]", 3, 3, proven=False)], optimal={"status": "FEASIBLE"})
    assert why_it_matters(result) == "Equal in every tier so far; what is not proven may still be improved."
    assert "5 (open)" in report(result)


def test_an_inadmissible_greedy_outcome_is_said():
    text = report(comparison(greedy={"admissible": False}))
    assert "Greedy's outcome is not admissible" in text
    assert "Greedy is optimal here" not in text


def test_a_pod_that_only_greedy_places_is_shown():
    assert "runs only with greedy" in report(comparison(pods=[("shop/a", "n1", None)]))
