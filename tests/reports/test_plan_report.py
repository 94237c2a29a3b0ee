"""What a person reads of a plan, word for word."""

import io

from kubestow.models.plan import Plan
from kubestow.reports.layout import show
from kubestow.reports.plan import plan_report

NO_CPU = "0/2 nodes are available: 2 Insufficient cpu."
PLAN = {
    "instance": "dump.yaml",
    "scheduler": "optimal",
    "status": "OPTIMAL",
    "tiers": [
        {"name": "scheduled[priority=500]", "sense": "max", "value": 2, "bound": 2, "proven": True},
        {"name": "violations[priority=500]", "sense": "min", "value": 1, "bound": 1, "proven": True},
        {"name": "evicted[priority=500,victim=0]", "sense": "min", "value": 1, "bound": 1, "proven": True},
        {"name": "scheduled[priority=0]", "sense": "max", "value": 1, "bound": 1, "proven": True},
        {"name": "violations[priority=0]", "sense": "min", "value": 0, "bound": 0, "proven": True},
    ],
    "steps": [
        {"bind": "shop/a", "node": "n1"},
        {"mark": "shop/v"},
        {"leave": "shop/v"},
        {"bind": "shop/b", "node": "n2"},
    ],
    "bindings": [{"pod": "shop/a", "node": "n1"}, {"pod": "shop/c", "node": "n1"}],
    "nominations": [{"pod": "shop/b", "node": "n2", "victims": ["shop/v"]}],
    "evictions": [{"pod": "shop/v", "node": "n2", "preemptor": "shop/b", "violates": ["shop/keep"]}],
    "fallbacks": [
        {"pod": "shop/c", "topologyKey": "topology.kubernetes.io/zone", "criteria": ["PreemptionFailed"],
         "applied": True, "skew": 2, "maxSkew": 1},
    ],
    "unschedulable": [
        {"pod": "shop/d", "message": NO_CPU, "blockedBy": ["NodeResourcesFit"]},
        {"pod": "shop/e", "message": NO_CPU, "blockedBy": ["NodeResourcesFit"]},
    ],
    "stats": {"wallSeconds": 0.42, "variables": 10, "constraints": 12, "verified": True, "admissible": True},
}  # fmt: skip

REPORT = """\
dump.yaml: 3 of 5 pods scheduled, 1 eviction, 1 budget violation, 1 fallback applied
proven optimal, 0.4 s, replayed in 4 steps

Tiers, most important first
  tier                             value   bound
  ───────────────────────────────────────────────────────
  scheduled[priority=500]              2       2   proven
  violations[priority=500]             1       1   proven
  evicted[priority=500,victim=0]       1       1   proven
  scheduled[priority=0]                1       1   proven

Placements (* nominated: after an eviction)
  node   pods
  ────────────────────────────
  n1        2   shop/a, shop/c
  n2        1   shop/b*

Evictions
  pod      node   makes room for   violates
  ──────────────────────────────────────────
  shop/v   n2     shop/b           shop/keep

Fallbacks
  pod      topology key                  criteria           applied
  ───────────────────────────────────────────────────────────────────────────
  shop/c   topology.kubernetes.io/zone   PreemptionFailed   skew 2, maxSkew 1

Left out
  pods             blocked by         kube-scheduler's message
  ────────────────────────────────────────────────────────────────────────────────
  shop/d, shop/e   NodeResourcesFit   0/2 nodes are available: 2 Insufficient cpu.
"""


def report(**changes) -> str:
    file = io.StringIO()
    show(plan_report(Plan.model_validate(PLAN | changes)), file)
    return file.getvalue()


def test_the_whole_report():
    assert report() == REPORT


def test_an_unproven_plan_names_its_first_gap():
    tiers = [
        {"name": "scheduled[priority=0]", "sense": "max", "value": 12, "bound": 15, "proven": False},
        {"name": "evicted[priority=0,victim=-5]", "sense": "min", "value": 4, "bound": 1, "proven": False},
    ]
    assert report(status="FEASIBLE", tiers=tiers).splitlines()[1] == (
        "best plan found in 0.4 s; scheduled[priority=0] is 12, at most 15 (gap 3), replayed in 4 steps"
    )


def test_a_tier_to_minimise_has_its_bound_below():
    tier = {"name": "evicted[priority=0,victim=-5]", "sense": "min", "value": 4, "bound": 1, "proven": False}
    assert "is 4, at least 1 (gap 3)" in report(status="FEASIBLE", tiers=[tier])


def test_a_tier_without_a_bound_says_so():
    tiers = [{"name": "scheduled[priority=0]", "sense": "max", "value": 12, "bound": None, "proven": False}]
    assert "scheduled[priority=0] is 12, with no bound yet" in report(status="FEASIBLE", tiers=tiers)


def test_greedy_claims_nothing():
    text = report(scheduler="greedy", status="FEASIBLE", stats=PLAN["stats"] | {"verified": False})
    assert text.splitlines()[1] == "greedy, 0.4 s"


def test_an_inadmissible_outcome_is_explained():
    text = report(scheduler="greedy", stats=PLAN["stats"] | {"admissible": False})
    assert "not admissible: an eviction was wasted" in text


def test_a_wasted_eviction_makes_room_for_nobody():
    eviction = {"pod": "shop/v", "node": "n2", "preemptor": None, "violates": []}
    assert "nobody (wasted)" in report(evictions=[eviction])


def test_a_fallback_on_a_node_without_the_key_has_no_skew():
    fallback = PLAN["fallbacks"][0] | {"applied": True, "skew": None}
    assert "the node does not have the key" in " ".join(report(fallbacks=[fallback]).split())


def test_a_fallback_that_was_not_applied_is_not_needed():
    fallback = PLAN["fallbacks"][0] | {"applied": False, "skew": 1}
    text = report(fallbacks=[fallback])
    assert "not needed" in text
    assert "fallback applied" not in text


def test_groups_and_devices_have_their_sections():
    text = report(
        placements=[{"podGroup": "shop/ring", "key": "rack", "domain": "r1", "scheduled": 3}],
        allocations=[{"claim": "shop/c", "node": "n1", "devices": [
            {"request": "gpu", "driver": "d", "pool": "p", "device": "card-0"}]}],
    )  # fmt: skip
    assert "shop/ring   rack   r1                 3" in text
    assert "shop/c   n1     gpu=p/card-0" in text


def test_many_pods_on_one_node_are_cut_short():
    bindings = [{"pod": f"shop/p{i}", "node": "n1"} for i in range(20)]
    text = report(bindings=bindings, nominations=[])
    assert "20   shop/p0, shop/p1, shop/p2, shop/p3, shop/p4 and 15 more" in text


def test_many_nodes_are_cut_short():
    bindings = [{"pod": f"shop/p{i}", "node": f"n{i:03}"} for i in range(100)]
    text = report(bindings=bindings, nominations=[])
    assert "and 60 more nodes (--all shows every row)" in text
    assert "n039" in text
    assert "n040" not in text
