"""Greedy's outcome is a candidate even where it is no plan: its fault is said, it wins only if it is better.

The exhaustive search knows plans alone, so these rounds stand apart from the other tables.
"""

from dataclasses import dataclass

import pytest
from support.builders import cluster, node
from support.oracle.exhaustive import best_plan
from support.proof import check_optimal
from support.rows import evicted, high, low, scheduled

from kubestow.framework.build import build_cluster
from kubestow.models.snapshot import Snapshot
from kubestow.solver.plans.replay import inadmissible, moves_of


@dataclass(frozen=True)
class Row:
    """A round with greedy's values, why they are those of no plan, and the values of the best plan."""

    name: str
    snapshot: Snapshot
    greedy: dict[str, int]
    fault: str
    plan: dict[str, int]

    def title(self):
        return self.name


web = {"app": "web"}

ROWS = [
    Row(
        "a wasted eviction: the preemptor's room is gone when its victim has left",
        cluster(
            node("a", zone="z1", cpu="1").label(disk="ssd"),
            node("b", zone="z2", cpu="0"),
            node("c", zone="z1", cpu="1"),
            low.named("v").on("a"),
            high.named("p").label(web).select(disk="ssd").spread("zone", node_affinity="Ignore"),
            high.named("q").label(web).priority(50).select(hostname="c"),
        ),
        # p is nominated to a, q binds on c; then p's zone has one too many
        {scheduled(50): 1, evicted(50, 0): 1},
        "default/v leaves and no preemptor comes to its node",
        # q after p
        {scheduled(100): 1, scheduled(50): 1, evicted(50, 0): 1},
    ),
    Row(
        "a newcomer that served as support is evicted: better than every plan",
        cluster(
            node("a", zone="z1", cpu="2"),
            high.named("h").created(9).affinity("zone", {"app": "x"}),
            high.named("x").created(8).label(app="x").affinity("zone", {"app": "y"}),
            low.named("y").label(app="y"),
        ),
        # y binds, x beside it, then h takes y's place; no plan may evict y
        {scheduled(100): 2, evicted(100, 0): 1},
        "default/y is bound and evicted in the same round",
        {scheduled(100): 1, scheduled(0): 1},
    ),
    Row(
        "a newcomer is evicted that need not have been bound",
        cluster(
            node("a", zone="z1", cpu="2"),
            high.named("h").created(9).affinity("zone", {"app": "x"}),
            high.named("x").created(8).label(app="x"),
            low.named("y"),
        ),
        # h waits for x, and y takes the room in the meantime
        {scheduled(100): 2, evicted(100, 0): 1},
        "default/y is bound and evicted in the same round",
        {scheduled(100): 2},
    ),
]


def values(plan):
    return {tier.name: tier.value for tier in plan.tiers if tier.value}


@pytest.mark.parametrize("row", ROWS, ids=Row.title)
def test_the_better_of_greedys_outcome_and_the_best_plan(row):
    """Greedy's fault is named, its values are as they are, and the answer is the better of the two."""
    optimal, greedy = check_optimal(row.snapshot)
    cluster_ = build_cluster(row.snapshot)
    assert values(greedy) == row.greedy
    assert not greedy.stats.admissible
    assert row.fault in list(inadmissible(cluster_, moves_of(cluster_, greedy)))
    best = {name: value for name, (_, value) in best_plan(cluster_).tiers.items() if value}
    assert best == row.plan
    assert values(optimal) == (row.plan if optimal.stats.admissible else row.greedy)
    assert optimal.status == "OPTIMAL"


def test_both_ends_are_in_the_table():
    """One of the rows is won by greedy's outcome, the others by a plan."""
    won = [check_optimal(row.snapshot)[0].stats.admissible for row in ROWS]
    assert won == [True, False, True]
