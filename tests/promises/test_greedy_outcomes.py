"""Greedy's outcome is a candidate even where it is no plan: its fault is said, it wins only if it is better.

The exhaustive search knows plans alone, so these rounds stand apart from the other tables.
"""

from dataclasses import dataclass, replace
from random import Random

import pytest
from support.builders import NOW, cluster, node
from support.devices import claim as device_claim
from support.devices import device_class, gpu, request, slice_on, user
from support.oracle.exhaustive import best_plan
from support.proof import check_optimal
from support.rows import evicted, high, low, scheduled
from support.strategies import tiny

from kubestow.framework.build import build_cluster
from kubestow.framework.runs.explain import explain
from kubestow.framework.runs.trace import trace
from kubestow.models.meta import Condition
from kubestow.models.snapshot import Snapshot
from kubestow.solver.api import solve_greedy
from kubestow.solver.plans.greedy_baseline import greedy_outcome
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


EVICTED = Condition(type="DisruptionTarget", status="True", reason="PreemptionByScheduler")


def waiting(snapshot, rng):
    """The same round in the midst of preemption: pods terminate for it, and pods are nominated."""
    names = [item.name for item in snapshot.nodes]

    def changed(item):
        meta, status = item.metadata, item.status
        if item.spec.node_name and rng.random() < 0.6:
            meta = meta.model_copy(update={"deletion_timestamp": NOW})
            status = status.model_copy(update={"conditions": (*status.conditions, EVICTED)})
        if not item.spec.node_name and rng.random() < 0.8:
            status = status.model_copy(update={"nominated_node_name": rng.choice(names)})
        return item.model_copy(update={"metadata": meta, "status": status})

    return replace(snapshot, pods=tuple(map(changed, snapshot.pods)))


IN_THE_MIDST = [waiting(tiny(seed), Random(seed)) for seed in range(80)]


@pytest.mark.parametrize("snapshot", IN_THE_MIDST, ids=lambda snapshot: snapshot.name)
def test_a_round_in_the_midst_of_preemption_is_solved_to_the_optimum(snapshot):
    check_optimal(snapshot)


def test_many_of_these_rounds_have_pods_that_wait_on_their_node():
    """None of these pods is placed, and each is told why."""
    said = "not eligible due to a terminating pod on the nominated node."
    waits = [greedy_outcome(build_cluster(snapshot))[0].waiting for snapshot in IN_THE_MIDST]
    assert sum(map(bool, waits)) >= 5
    for snapshot, mine in zip(IN_THE_MIDST, waits, strict=True):
        cluster_, plan = build_cluster(snapshot), solve_greedy(snapshot)
        told = {item.pod: item.message for item in plan.unschedulable}
        assert all(told[cluster_.pods[i].key].endswith(said) for i in mine)


SICK = cluster(
    [node("a"), node("b")],
    device_class("gpu", 'device.attributes["gpu.example.com"].healthy'),
    slice_on("a", gpu("a0")),
    slice_on("b", gpu("b0", healthy=True)),
    device_claim("c", request("r")),
    user("p", "c"),
)
"""A selector that fails at run time on one node, and takes the device of the other."""

STUCK = cluster(
    [node(name, cpu="1") for name in "ab"],
    low.named("v")
    .on("a")
    .terminating()
    .condition("DisruptionTarget", "True", reason="PreemptionByScheduler"),
    low.named("w").on("b"),
    high.named("p").nominated("a"),
)
"""A pod that waits for its own victim, beside one that it could evict."""


@pytest.mark.parametrize(
    "snapshot, words",
    [
        pytest.param(SICK, 'running "DynamicResources" filter plugin: class gpu: ', id="an error"),
        pytest.param(STUCK, "0/2 nodes are available: 2 Insufficient cpu. ", id="a terminating pod"),
    ],
)
def test_every_command_gives_the_words_of_the_trace(snapshot, words):
    cycle = trace(snapshot)["cycles"][0]
    assert cycle["message"].startswith(words)
    greedy = solve_greedy(snapshot)
    assert [(item.pod, item.message) for item in greedy.unschedulable] == [("default/p", cycle["message"])]
    assert explain(snapshot, "p")["message"] == cycle["message"]


@pytest.mark.parametrize(
    "snapshot, node_", [(SICK, "b"), (STUCK, "a")], ids=["an error", "a terminating pod"]
)
def test_the_optimum_is_not_held_up(snapshot, node_):
    """It binds where the selector does not fail, and takes the room of a pod that is going anyway."""
    optimal, greedy = check_optimal(snapshot)
    assert (optimal.placed(), optimal.evictions) == ({"default/p": node_}, ())
    assert (greedy.placed(), greedy.evictions) == ({}, ())
