"""Guarded victims: allowDisruptionByPriorityGreaterThanOrEqual (KEP-4664).

Each row is one round with its exact optimum, a comment says why; tiers that a row does not name are 0.
"""

import pytest
from support.builders import budget, cluster, group, node
from support.rows import Row, both_engines, evicted, high, low, scheduled, violations

ROWS = [
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
        "the pod at the guard's value evicts one victim, the lesser pod beside it none",
        cluster(
            node("a", cpu="2"),
            low.named("v").label(app="web").guard(100).on("a"),
            low.named("w").label(app="web").guard(100).on("a"),
            high.named("p"),
            high.named("q").priority(50),
            budget("app", app="web", allowed=0),
        ),
        # a violation of either counts at priority 100, which gains by the first alone
        {scheduled(100): 1, violations(100): 1, evicted(100, 0): 1},
    ),
    Row(
        "a pod at the guard's value that fits without an eviction lifts no guard for a lesser one",
        cluster(
            node("a", cpu="2"),
            low.named("v").label(app="web").guard(100).on("a"),
            high.named("p"),
            high.named("q").priority(50),
            budget("app", app="web", allowed=0),
        ),
        {scheduled(100): 1},
    ),
    Row(
        "a lesser pod takes the room that the pod at the guard's value made",
        cluster(
            node("a", cpu="2"),
            low.named("v").req(cpu="2").label(app="web").guard(100).on("a"),
            high.named("p"),
            high.named("q").priority(50),
            budget("app", app="web", allowed=0),
        ),
        {scheduled(100): 1, violations(100): 1, evicted(100, 0): 1, scheduled(50): 1},
    ),
    Row(
        "a gang below the guard is not let in by a pod at the guard's value that fits",
        cluster(
            node("a", cpu="3").label(rack="r"),
            node("b", cpu="2").label(rack="r"),
            low.named("v").req(cpu="2").label(app="web").guard(100).on("a"),
            high.named("m").priority(50).req(cpu="2").member("g").times(2),
            high.named("agent").nodes("hostname", "In", "a"),
            group("g", "rack", gang=2),
            budget("app", app="web", allowed=0),
        ),
        {scheduled(100): 1},
    ),
    Row(
        "the level of a guarded victim is the lowest that reaches its guard, not the highest on its node",
        cluster(
            node("a", cpu="2"),
            low.named("v").label(app="web").guard(50).on("a"),
            low.named("w").label(app="web").guard(50).on("a"),
            high.named("p").priority(100),
            high.named("q").priority(50),
            high.named("r").priority(20),
            budget("app", app="web", allowed=0),
        ),
        # both count at 50, above which p and at which q gains; r could break none
        {scheduled(100): 1, scheduled(50): 1, violations(50): 2, evicted(50, 0): 2},
    ),
    Row(
        "a guarded victim within its budget belongs to the lesser pod",
        cluster(
            node("a", cpu="2"),
            low.named("v").label(app="web").guard(100).on("a"),
            high.named("p"),
            high.named("q").priority(50),
            budget("app", app="web", allowed=1),
        ),
        {scheduled(100): 1, scheduled(50): 1, evicted(50, 0): 1},
    ),
    Row(
        "of a guarded and an unguarded victim the unguarded one violates, for the lesser pod",
        cluster(
            node("a", cpu="3"),
            low.named("v").label(app="web").guard(100).on("a"),
            low.named("w").label(app="web").on("a"),
            high.named("p"),
            high.named("q").priority(50).req(cpu="2"),
            budget("app", app="web", allowed=1),
        ),
        # v would count at 100; w counts at 50
        {scheduled(100): 1, scheduled(50): 1, violations(50): 1, evicted(50, 0): 2},
    ),
    Row(
        "a guarded pod under two budgets stays if only the other budget has something left",
        cluster(
            node("a", cpu="1"),
            low.named("v").label(app="web", tier="front").guard(100).on("a"),
            high.priority(50),
            budget("app", app="web", allowed=1),
            budget("tier", tier="front", allowed=0),
        ),
        {},
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


@both_engines
@pytest.mark.parametrize("row", ROWS, ids=Row.title)
def test_optimum(row, engine):
    """The row's values are the optimum: for the search of all plans and for the solver."""
    assert engine(row.snapshot) == row.tiers
