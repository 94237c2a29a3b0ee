"""Constraints that fell back cost what they exceed (KEP-3990).

Each row is one round with its exact optimum, a comment says why; tiers that a row does not name are 0.
"""

from dataclasses import replace

import pytest
from support.builders import cluster, node
from support.proof import OPTIONS, solve_and_replay
from support.rows import Row, both_engines, low, scheduled, web

ROWS = [
    Row(
        "a constraint that fell back costs what it exceeds",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2", cpu="0"),
            web.req(cpu="1").spread("zone", fallback=["PreemptionFailed"]).unschedulable().times(3),
        ),
        # KEP-3990: 3 - 0 - maxSkew
        {scheduled(0): 3, "fallback": 2},
    ),
    Row(
        "a constraint that fell back is still kept where it can be",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2"),
            web.req(cpu="1").spread("zone", fallback=["PreemptionFailed"]).unschedulable().times(3),
        ),
        # 2 and 1
        {scheduled(0): 3},
    ),
    Row(
        "criteria that do not all hold leave the constraint hard",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2", cpu="0"),
            web.req(cpu="1")
            .spread("zone", fallback=["PreemptionFailed", "NodeProvisioningFailed"])
            .unschedulable()
            .condition("NodeProvisioningInProgress", "True")
            .times(3),
        ),
        {scheduled(0): 1},
    ),
    Row(
        "with the gate off the criteria are ignored",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2", cpu="0"),
            web.req(cpu="1").spread("zone", fallback=["PreemptionFailed"]).unschedulable().times(3),
            gates="PodTopologySpreadFallbackMode=false",
        ),
        {scheduled(0): 1},
    ),
    Row(
        "a newcomer that the constraint still holds counts in the domain",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2", cpu="0"),
            web.named("q").req(cpu="1").spread("zone", select={"app": "web"}, max_skew=2).times(2),
            web.req(cpu="1").spread("zone", fallback=["PreemptionFailed"]).unschedulable(),
        ),
        # all three are in z1: 3 - 0 - 1
        {scheduled(0): 3, "fallback": 2},
    ),
    Row(
        "a newcomer without the constraint counts in the domain",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2", cpu="0"),
            web.named("q").req(cpu="1").times(2),
            web.req(cpu="1").spread("zone", fallback=["PreemptionFailed"]).unschedulable(),
        ),
        {scheduled(0): 3, "fallback": 2},
    ),
    Row(
        "a newcomer without the constraint makes room where a pod whose constraint fell back is",
        cluster(
            node("a", zone="z1", cpu="2"),
            node("b", zone="z2", cpu="2"),
            web.named("v").req(cpu="1").on("a"),
            web.named("q").req(cpu="1").times(2),
            web.req(cpu="1").spread("zone", fallback=["PreemptionFailed"]).unschedulable(),
        ),
        # 2 and 2, whoever stands where
        {scheduled(0): 3},
    ),
    Row(
        "a node without the key costs more than the fullest domain",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2", cpu="0"),
            node("c").without("zone"),
            web.named("v").on("a"),
            web.req(cpu="1").spread("zone", fallback=["PreemptionFailed"]).unschedulable(),
        ),
        # 2 - 0 - 1 on a; on c one more than two pods in one domain would cost
        {scheduled(0): 1, "fallback": 1},
    ),
    Row(
        "a node without the key is taken where there is no other",
        cluster(
            node("a", zone="z1", cpu="0"),
            node("c").without("zone"),
            web.named("v").on("a"),
            web.req(cpu="1").spread("zone", fallback=["PreemptionFailed"]).unschedulable(),
        ),
        # two pods that match, in one domain: 2 - 0 - 1, and one more
        {scheduled(0): 1, "fallback": 2},
    ),
    Row(
        "an eviction is dearer than breaking a constraint that fell back",
        cluster(
            node("a", zone="z1", cpu="3"),
            node("b", zone="z2", cpu="1"),
            low.named("v").on("b"),
            web.req(cpu="1")
            .priority(100)
            .spread("zone", fallback=["PreemptionFailed"])
            .unschedulable()
            .times(3),
        ),
        # evicting v would keep the skew at 1; the tier of evictions is above that of fallbacks
        {scheduled(100): 3, "fallback": 2},
    ),
]


@both_engines
@pytest.mark.parametrize("row", ROWS, ids=Row.title)
def test_optimum(row, engine):
    """The row's values are the optimum: for the search of all plans and for the solver."""
    assert engine(row.snapshot) == row.tiers


two_zones = (node("a", zone="z1"), node("b", zone="z2", cpu="0"))
fallen = web.req(cpu="1").spread("zone", fallback=["PreemptionFailed"]).unschedulable()


@pytest.mark.parametrize(
    "snapshot, applied, skew",
    [
        pytest.param(cluster(two_zones, fallen), False, 1, id="within maxSkew: not needed"),
        pytest.param(
            cluster(two_zones, web.named("v").on("a"), fallen), True, 2, id="its step breaks maxSkew"
        ),
        pytest.param(
            cluster(node("c").without("zone"), two_zones[1], fallen), True, None, id="a node without the key"
        ),
        pytest.param(cluster(two_zones[1], fallen), False, None, id="left out"),
    ],
)
def test_a_fallback_is_applied_where_nothing_else_lets_the_pod_in(snapshot, applied, skew):
    for plan in solve_and_replay(snapshot):
        assert [(f.applied, f.skew, f.max_skew) for f in plan.fallbacks] == [(applied, skew, 1)]


@pytest.mark.parametrize("prefer", ["none", "pack", "spread", "scores"])
def test_no_preference_hides_what_a_fallback_costs(prefer):
    """Fewest nodes in use comes after a skew of 2, whatever else stands in the domain."""
    snapshot = cluster(
        node("a", zone="z1"),
        node("b", zone="z2"),
        web.named("q").req(cpu="1").nodes("hostname", "In", "a").times(2),
        fallen.priority(10),
    )
    optimal, _ = solve_and_replay(snapshot, replace(OPTIONS, prefer=prefer))
    assert optimal.placed()["default/web"] == "b"
