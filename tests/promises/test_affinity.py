"""Inter-pod affinity and host ports where the order or an eviction matters.

Each row is one round with its exact optimum, a comment says why; tiers that a row does not name are 0.
"""

import pytest
from support.builders import cluster, node, pod
from support.rows import Row, both_engines, evicted, high, low, scheduled, web

ROWS = [
    Row(
        "pods that want each other start in one zone and stay there",
        cluster(
            node("a", zone="z1", cpu="2"),
            node("b", zone="z2", cpu="1"),
            web.req(cpu="1").affinity("zone").times(3),
        ),
        # the first pod starts the group, the others follow it: b is out
        {scheduled(0): 2},
    ),
    Row(
        "nobody starts while a match runs elsewhere",
        cluster(
            node("a", zone="z1", cpu="0"),
            node("b", zone="z2"),
            web.named("r").on("a"),
            web.req(cpu="1").affinity("zone"),
        ),
        # the first-pod rule holds only when no pod of the cluster matches
        {},
    ),
    Row(
        "a group starts once the last match has left",
        cluster(
            node("a", zone="z1", cpu="1"),
            node("b", zone="z2", cpu="2"),
            low.named("v").label(app="web").on("a"),
            web.named("p").req(cpu="2").priority(10).affinity("zone"),
            pod("q").req(cpu="1").priority(10),
        ),
        # q takes v's room on a, then p may start on b
        {scheduled(10): 2, evicted(10, 0): 1},
    ),
    Row(
        "support is there before who needs it, whatever the queue says",
        cluster(
            node("a", zone="z1", cpu="2"),
            high.named("p").affinity("zone", {"app": "db"}),
            pod("db").label(app="db").req(cpu="1").priority(0),
        ),
        # db first
        {scheduled(100): 1, scheduled(0): 1},
    ),
    Row(
        "two that need each other and neither itself cannot start",
        cluster(
            node("a", zone="z1"),
            pod("p").label(app="x").affinity("zone", {"app": "y"}),
            pod("q").label(app="y").affinity("zone", {"app": "x"}),
        ),
        # the end state would support both; there is no first
        {},
    ),
    Row(
        "a victim supports who binds before it leaves",
        cluster(
            node("a", zone="z1", cpu="2"),
            low.named("v").label(app="db").on("a"),
            high.named("x").never().affinity("zone", {"app": "db"}),
            high,
        ),
        # x binds beside v, then v makes room for high
        {scheduled(100): 2, evicted(100, 0): 1},
    ),
    Row(
        "a running pod's anti-affinity keeps newcomers out until it leaves",
        cluster(
            node("a", zone="z1", cpu="2"),
            low.named("v").anti("zone", {"app": "web"}).on("a"),
            high.label(app="web"),
        ),
        {scheduled(100): 1, evicted(100, 0): 1},
    ),
    Row(
        "anti-affinity of one side holds for both orders",
        cluster(
            node("a", zone="z1"),
            pod("p").label(app="x").anti("zone", {"app": "y"}),
            pod("q").label(app="y"),
        ),
        # q after p meets p's term, p after q its own
        {scheduled(0): 1},
    ),
    Row(
        "host ports conflict by address and protocol",
        cluster(
            node("a"),
            pod("all").host_port(80),
            pod("one").host_port(80, ip="10.0.0.1"),
            pod("two").host_port(80, ip="10.0.0.2"),
            pod("udp").host_port(80, protocol="UDP"),
        ),
        # all addresses or each of the two, and UDP apart
        {scheduled(0): 3},
    ),
    Row(
        "a host port is free once its holder has left",
        cluster(node("a"), low.named("v").host_port(80).on("a"), high.host_port(80)),
        {scheduled(100): 1, evicted(100, 0): 1},
    ),
]


@both_engines
@pytest.mark.parametrize("row", ROWS, ids=Row.title)
def test_optimum(row, engine):
    """The row's values are the optimum: for the search of all plans and for the solver."""
    assert engine(row.snapshot) == row.tiers
