"""Constraints that fell back cost what they exceed (KEP-3990).

Each row is one round with its exact optimum, a comment says why; tiers that a row does not name are 0.
"""

import pytest
from support.builders import cluster, node
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
