"""Disruption budgets, shared by the whole round, and the violating set.

Each row is one round with its exact optimum, a comment says why; tiers that a row does not name are 0.
"""

import pytest
from support.builders import budget, cluster, node
from support.rows import Row, both_engines, evicted, high, low, scheduled, violations

ROWS = [
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


@both_engines
@pytest.mark.parametrize("row", ROWS, ids=Row.title)
def test_optimum(row, engine):
    """The row's values are the optimum: for the search of all plans and for the solver."""
    assert engine(row.snapshot) == row.tiers
