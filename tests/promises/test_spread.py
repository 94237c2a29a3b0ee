"""Topology spread where the order, the group or the minimum matters.

Each row is one round with its exact optimum, a comment says why; tiers that a row does not name are 0.
"""

import pytest
from support.builders import cluster, node, pod
from support.rows import Row, both_engines, evicted, high, low, scheduled, web

ROWS = [
    Row(
        "constraints that differ only in maxSkew are counted apart",
        cluster(
            node("a", zone="z1", cpu="9"),
            node("b", zone="z2", cpu="0"),
            web.named("one").req(cpu="1").spread("zone", max_skew=1),
            web.named("two").req(cpu="1").spread("zone", max_skew=2),
        ),
        # one first (1 - 0 <= 1), then two (2 - 0 <= 2); as one group of maxSkew 1 they would not fit
        {scheduled(0): 2},
    ),
    Row(
        "no order exists for what the end state would admit",
        cluster(
            node("a", zone="z1", cpu="9"),
            node("b", zone="z2", cpu="0"),
            web.named("one").req(cpu="1").spread("zone", max_skew=1),
            web.named("two").req(cpu="1").spread("zone", max_skew=2).times(2),
        ),
        # each group alone is within its maxSkew, but whoever comes third sees 3 - 0
        {scheduled(0): 2},
    ),
    Row(
        "constraints that differ only in their eligible nodes are counted apart",
        cluster(
            node("a", zone="z1", cpu="9").label(disk="ssd"),
            node("b", zone="z2", cpu="0").label(disk="hdd"),
            web.named("any").req(cpu="1").spread("zone"),
            web.named("ssd").req(cpu="1").spread("zone").select(disk="ssd").times(3),
        ),
        # z1 is the only domain of ssd, whose skew is then its own count minus itself; any goes first
        {scheduled(0): 4},
    ),
    Row(
        "a selector that does not match its own pod never fills a domain",
        cluster(
            node("a", zone="z1", cpu="9"),
            node("b", zone="z2", cpu="3"),
            web.named("r").on("a").times(2),
            pod("p").label(app="api").req(cpu="1").spread("zone", select={"app": "web"}).times(4),
        ),
        # z1 has skew 2 - 0 for good; all that b has room for go there, uncounted
        {scheduled(0): 3},
    ),
    Row(
        "a selector that asks for nothing counts nobody",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2", cpu="0"),
            web.req(cpu="1").spread("zone", select={}).times(3),
        ),
        # every step sees 0 + 1 - 0
        {scheduled(0): 3},
    ),
    Row(
        "a matching pod without the constraint raises the minimum, in the right order",
        cluster(
            node("a", zone="z1", cpu="2"),
            node("b", zone="z2", cpu="500m"),
            web.named("c").req(cpu="1").spread("zone").times(2),
            web.named("u").req(cpu="500m").priority(-10),
        ),
        # c to z1, u to z2, c to z1; the queue would try u last
        {scheduled(0): 2, scheduled(-10): 1},
    ),
    Row(
        "imbalance that already runs stays, only the emptier domain is open",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2", cpu="2"),
            web.named("r").on("a").times(3),
            web.req(cpu="1").spread("zone").times(3),
        ),
        # two fit on b; with 3 and 2 z1 is still closed (3 + 1 - 2 > 1)
        {scheduled(0): 2},
    ),
    Row(
        "fewer domains than minDomains count from zero",
        cluster(node("a", zone="z1"), node("b", zone="z2"), web.spread("zone", min_domains=3).times(4)),
        # KEP-3022: one pod a domain is all
        {scheduled(0): 2},
    ),
    Row(
        "a tainted domain holds the minimum down unless taints are honoured",
        cluster(
            node("a", zone="z1"),
            node("b", zone="z2").taint("dedicated", "x"),
            web.named("ignore").spread("zone").times(2),
            pod("honor").label(app="db").spread("zone", node_taints="Honor").times(2),
        ),
        # KEP-3094: z2 counts with 0 for ignore and does not exist for honor
        {scheduled(0): 3},
    ),
    Row(
        "a node without the key takes no carrier",
        cluster(node("a", zone="z1", cpu="1"), node("b"), web.req(cpu="1").spread("zone").times(2)),
        # b has no zone
        {scheduled(0): 1},
    ),
    Row(
        "a victim that leaves makes its domain emptier for those that come",
        cluster(
            node("a", zone="z1", cpu="1"),
            node("b", zone="z2", cpu="0"),
            low.named("v").label(app="web").on("a"),
            high.label(app="web").spread("zone"),
        ),
        # 1 - 1 + 1 - 0 <= 1
        {scheduled(100): 1, evicted(100, 0): 1},
    ),
]


@both_engines
@pytest.mark.parametrize("row", ROWS, ids=Row.title)
def test_optimum(row, engine):
    """The row's values are the optimum: for the search of all plans and for the solver."""
    assert engine(row.snapshot) == row.tiers
