"""Who leaves, for whom, and in which steps.

Each row is one round with its exact optimum, a comment says why; tiers that a row does not name are 0.
"""

import pytest
from support.builders import cluster, node, pod
from support.rows import Row, both_engines, evicted, high, low, scheduled, web

ROWS = [
    Row(
        "a pod binds between the mark and the leave of a victim",
        cluster(
            node("a", zone="z1", cpu="3"),
            node("b", zone="z2", cpu="1"),
            pod("v").label(app="db", group="g").req(cpu="2").priority(0).on("a"),
            pod("x")
            .label(app="api", group="g")
            .req(cpu="1")
            .priority(0)
            .affinity("zone", {"app": "db"})
            .spread("zone", select={"group": "g"}),
            pod("p").req(cpu="2").priority(100),
        ),
        # x needs v beside it (affinity counts it while it terminates) and out of the count (spread does not)
        {scheduled(100): 1, scheduled(0): 1, evicted(100, 0): 1},
    ),
    Row(
        "a marked pod lowers the minimum: who still needs it counted binds before the mark",
        cluster(
            node("a", zone="z1", cpu="2"),
            node("b", zone="z2", cpu="2"),
            pod("v").label(app="web").req(cpu="2").priority(0).on("b"),
            pod("w").label(app="web").req(cpu="1").priority(100).on("a"),
            web.named("x").req(cpu="1").priority(100).spread("zone", max_skew=1),
            pod("p").req(cpu="2").priority(100),
        ),
        # x goes to z1 while v is the one web pod of z2 (2 - 1 = 1); once v is marked it would be 2 - 0
        {scheduled(100): 2, evicted(100, 0): 1},
    ),
    Row(
        "who needs a victim beside it cannot be its preemptor, but another newcomer can",
        cluster(
            node("a", cpu="1"),
            node("b", cpu="1"),
            pod("v").label(app="db", group="g").priority(0).on("a"),
            pod("x")
            .label(app="api", group="g")
            .priority(10)
            .affinity("hostname", {"app": "db"})
            .spread("hostname", select={"group": "g"}),
            pod("q").req(cpu="1").priority(10),
        ),
        # x binds after the mark of v and before its leave; q must be on a, though it fits on b too
        {scheduled(10): 2, evicted(10, 0): 1},
    ),
    Row(
        "no pod that was bound in the round is evicted in it",
        cluster(
            node("a", cpu="1", pods="1"),
            low.named("p").priority(10),
            high.named("q").never(),
        ),
        # q does not preempt and p could not be put there first to make room for anything
        {scheduled(100): 1},
    ),
    Row(
        "a victim must have a preemptor on its own node",
        cluster(
            node("a", zone="z1", cpu="1"),
            node("b", zone="z2", cpu="1"),
            pod("v").label(app="web").req(cpu="1").priority(0).on("a"),
            high.label(app="web").anti("zone").select(zone="z2").req(cpu="1"),
            pod("w").priority(100).req(cpu="1").on("b"),
        ),
        # w cannot leave, so nobody comes to b; v's room on a is of no use
        {},
    ),
    Row(
        "anti-affinity across nodes frees a zone only through a preemptor on the victim's node",
        cluster(
            node("a", zone="z1", cpu="1"),
            node("b", zone="z1", cpu="1"),
            pod("v").label(app="web").req(cpu="1").priority(0).on("a"),
            high.named("p").label(app="web").anti("zone").nodes("hostname", "In", "b"),
            high.named("q").nodes("hostname", "In", "a"),
        ),
        # q takes v's place on a; that also lets p into the zone
        {scheduled(100): 2, evicted(100, 0): 1},
    ),
    Row(
        "a terminating pod's room is used at no cost",
        cluster(node("a", cpu="1"), low.named("v").on("a").terminating(), high),
        # v leaves anyway
        {scheduled(100): 1},
    ),
    Row(
        "a terminating pod of no lower priority stays for the round",
        cluster(node("a", cpu="1"), low.named("v").priority(100).on("a").terminating(), high),
        # nobody may be nominated to its room
        {},
    ),
    Row(
        "preemptionPolicy Never places a pod only where it fits",
        cluster(node("a", cpu="1"), low.named("v").on("a"), high.never()),
        # equal priorities and policies aside it would evict v
        {},
    ),
    Row(
        "a pod that does not preempt may use the room that a preemptor leaves over",
        cluster(
            node("a", cpu="2"),
            low.named("v").req(cpu="2").on("a"),
            high.named("p"),
            high.named("q").priority(50).never(),
        ),
        # v leaves for p, and q is bound beside it
        {scheduled(100): 1, scheduled(50): 1, evicted(50, 0): 1},
    ),
    Row(
        "the victim belongs to the lowest pending priority above its own",
        cluster(
            node("a", cpu="1"),
            node("b", cpu="1"),
            low.named("v").priority(20).on("a"),
            low.named("w").priority(-10).on("b"),
            high.named("p"),
            high.named("q").priority(10).req(cpu="4"),
        ),
        # w is cheaper than v: its eviction counts in the tier of priority 10, below that of priority 100
        {scheduled(100): 1, evicted(10, -10): 1},
    ),
    Row(
        "a nomination of the input binds nobody",
        cluster(
            node("a", cpu="1"), high.named("p").nominated("a"), high.named("q").label(app="web").created(9)
        ),
        # one of them, whichever
        {scheduled(100): 1},
    ),
    Row(
        "an over-committed node takes a pod that asks for nothing",
        cluster(
            node("a", cpu="1"), low.named("v").req(cpu="2").on("a"), pod("p").priority(0), low.named("q")
        ),
        # the filter compares only what the pod requests
        {scheduled(0): 1},
    ),
    Row(
        "gated pods and pods of another scheduler are no part of the round",
        cluster(
            node("a", cpu="1"), low, high.named("g").gated(), high.named("f").scheduler("other-scheduler")
        ),
        # only low is in the queue
        {scheduled(0): 1},
    ),
]


@both_engines
@pytest.mark.parametrize("row", ROWS, ids=Row.title)
def test_optimum(row, engine):
    """The row's values are the optimum: for the search of all plans and for the solver."""
    assert engine(row.snapshot) == row.tiers
