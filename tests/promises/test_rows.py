"""One round for each thing that is easily got wrong, with its exact optimum and why it is the optimum.

Tiers that a row does not name are 0.  The exhaustive search and the solver must both find the row's values.
"""

from dataclasses import dataclass
from operator import attrgetter

import pytest
from builders import budget, cluster, node, pod
from exhaustive import best_plan
from proof import solve_and_replay

from kubestow.framework.cluster import Cluster
from kubestow.models.snapshot import Snapshot


@dataclass(frozen=True)
class Row:
    name: str
    snapshot: Snapshot
    tiers: dict[str, int]


def scheduled(priority):
    return f"scheduled[priority={priority}]"


def violations(priority):
    return f"violations[priority={priority}]"


def evicted(priority, victim):
    return f"evicted[priority={priority},victim={victim}]"


web = pod("web").label(app="web")
low = pod("low").priority(0).req(cpu="1")
high = pod("high").priority(100).req(cpu="1")

EVICTIONS = [
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

BUDGETS = [
    Row(
        "a pod under two exhausted budgets counts once",
        cluster(
            node("a", cpu="1"),
            low.named("v").label(app="web", tier="front").on("a"),
            high,
            budget("app", app="web", allowed=0),
            budget("tier", tier="front", allowed=0),
        ),
        # one violating victim, however many budgets it breaks
        {scheduled(100): 1, violations(100): 1, evicted(100, 0): 1},
    ),
    Row(
        "budgets that overlap: the pod under both is the one that violates",
        cluster(
            node("a", cpu="3"),
            low.named("u").label(app="web").on("a"),
            low.named("v").label(tier="front").on("a"),
            low.named("w").label(app="web", tier="front").on("a"),
            high.req(cpu="3"),
            budget("app", app="web", allowed=1),
            budget("tier", tier="front", allowed=1),
        ),
        # with w violating, u and v fit one budget each; any other set needs two
        {scheduled(100): 1, violations(100): 1, evicted(100, 0): 3},
    ),
    Row(
        "three nodes share the last disruption",
        cluster(
            [node(name, cpu="1") for name in "abc"],
            [low.named(f"v{name}").label(app="web").on(name) for name in "abc"],
            high.times(3),
            budget("app", app="web", allowed=1),
        ),
        # the budget is the round's, not a node's: one victim fits, two violate
        {scheduled(100): 3, violations(100): 2, evicted(100, 0): 3},
    ),
    Row(
        "a disruption that is paid for already is free",
        cluster(
            node("a", cpu="1"),
            low.named("v").label(app="web").on("a"),
            high,
            budget("app", app="web", allowed=0).disrupted("v"),
        ),
        # v is listed in disruptedPods
        {scheduled(100): 1, evicted(100, 0): 1},
    ),
    Row(
        "a violation costs more than an eviction of a more important pod",
        cluster(
            node("a", cpu="1"),
            node("b", cpu="1"),
            low.named("v").label(app="web").on("a"),
            low.named("w").priority(50).on("b"),
            high,
            budget("app", app="web", allowed=0),
        ),
        # violations come before evictions within a priority
        {scheduled(100): 1, evicted(100, 50): 1},
    ),
    Row(
        "the violating set spares the higher priority",
        cluster(
            node("a", cpu="1"),
            node("b", cpu="1"),
            low.named("v").priority(50).label(app="web").on("a"),
            low.named("w").priority(0).label(app="web").on("b"),
            high.named("p").nodes("hostname", "In", "a"),
            high.named("q").priority(10).nodes("hostname", "In", "b"),
            budget("app", app="web", allowed=1),
        ),
        # either victim could be the violating one; w belongs to priority 10, whose tier is below
        {scheduled(100): 1, evicted(100, 50): 1, scheduled(10): 1, violations(10): 1, evicted(10, 0): 1},
    ),
    Row(
        "an empty selector of a budget covers nobody",
        cluster(node("a", cpu="1"), low.named("v").label(app="web").on("a"), high, budget("all", allowed=0)),
        # so the scheduler has it, unlike the eviction API
        {scheduled(100): 1, evicted(100, 0): 1},
    ),
]

GUARDS = [
    Row(
        "a guarded victim does not break its budget for a preemptor below the guard",
        cluster(
            node("a", cpu="1"),
            low.named("v").label(app="web").guard(100).on("a"),
            high.priority(50),
            budget("app", app="web", allowed=0),
        ),
        # KEP-4664: no violating set, so no plan with v gone
        {},
    ),
    Row(
        "a guarded victim breaks its budget for a preemptor that reaches the guard",
        cluster(
            node("a", cpu="1"),
            low.named("v").label(app="web").guard(100).on("a"),
            high,
            budget("app", app="web", allowed=0),
        ),
        {scheduled(100): 1, violations(100): 1, evicted(100, 0): 1},
    ),
    Row(
        "a guard without a violation does not matter",
        cluster(
            node("a", cpu="1"),
            low.named("v").label(app="web").guard(100).on("a"),
            high.priority(50),
            budget("app", app="web", allowed=1),
        ),
        {scheduled(50): 1, evicted(50, 0): 1},
    ),
    Row(
        "the guarded victim is not in the violating set, its unguarded neighbour is",
        cluster(
            node("a", cpu="2"),
            low.named("v").label(app="web").guard(100).on("a"),
            low.named("w").label(app="web").on("a"),
            high.priority(50).req(cpu="2"),
            budget("app", app="web", allowed=1),
        ),
        # both leave; v takes the one disruption, w violates
        {scheduled(50): 1, violations(50): 1, evicted(50, 0): 2},
    ),
    Row(
        "a stronger newcomer on the node lifts the guard for all victims there",
        cluster(
            node("a", cpu="2"),
            low.named("v").label(app="web").guard(100).on("a"),
            low.named("w").label(app="web").guard(100).on("a"),
            high.named("p"),
            high.named("q").priority(50),
            budget("app", app="web", allowed=0),
        ),
        # p of priority 100 is newly there
        {scheduled(100): 1, scheduled(50): 1, violations(50): 2, evicted(50, 0): 2},
    ),
    Row(
        "a stronger newcomer that does not preempt lifts no guard",
        cluster(
            node("a", cpu="2"),
            low.named("v").label(app="web").guard(100).on("a"),
            high.named("p").never(),
            high.named("q").priority(50),
            budget("app", app="web", allowed=0),
        ),
        # p takes the free half, v stays, q is out
        {scheduled(100): 1},
    ),
    Row(
        "the guarded victim's node is left for one where a pod may go",
        cluster(
            node("a", cpu="1"),
            node("b", cpu="1"),
            low.named("v").label(app="web").guard(100).on("a"),
            low.named("w").label(app="db").on("b"),
            high.priority(50),
            budget("web", app="web", allowed=0),
            budget("db", app="db", allowed=0),
        ),
        # one violation on b, as in the proposal's example
        {scheduled(50): 1, violations(50): 1, evicted(50, 0): 1},
    ),
]

SPREAD = [
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

AFFINITY = [
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

FALLBACK = [
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

ROWS = [*EVICTIONS, *BUDGETS, *GUARDS, *SPREAD, *AFFINITY, *FALLBACK]


def by_solver(snapshot):
    optimal, _ = solve_and_replay(snapshot)
    assert optimal.status == "OPTIMAL"
    assert optimal.stats.admissible
    return {tier.name: tier.value for tier in optimal.tiers if tier.value}


def by_exhaustive_search(snapshot):
    return {name: value for name, (_, value) in best_plan(Cluster(snapshot)).tiers.items() if value}


@pytest.mark.parametrize("engine", [by_exhaustive_search, by_solver])
@pytest.mark.parametrize("row", ROWS, ids=attrgetter("name"))
def test_optimum(row, engine):
    """The row's values are the optimum: for the search of all plans and for the solver."""
    assert engine(row.snapshot) == row.tiers


def test_names_of_rows_are_unique():
    names = [row.name for row in ROWS]
    assert len(names) == len(set(names))
