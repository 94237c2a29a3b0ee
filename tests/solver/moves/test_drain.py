"""Drains of tiny clusters: what is possible, in how many moves, and the proof where it is not."""

from dataclasses import dataclass, field

import pytest
from support.builders import budget, cluster, node, pod
from support.devices import claim, device_class, gpu, slice_on, template, user
from support.moving import moving_of
from support.storage import claim as volume_claim
from support.storage import volume

from kubestow.framework.state.moves import Bind, Cordon, Leave, Mark, Uncordon
from kubestow.models.drain import Shortage
from kubestow.models.moves import MoveOptions
from kubestow.models.policy import PodDisruptionBudget
from kubestow.models.progress import unwatched
from kubestow.models.recount import counted_anew
from kubestow.solver.moves.drain import DrainOptions, drain
from kubestow.solver.moves.drained import check_drained, faults_of_drain
from kubestow.solver.moves.every_order import EveryOrder
from kubestow.solver.moves.task import task_of
from kubestow.solver.options import SolveOptions
from kubestow.solver.plans.replay import ReplayFailure

SEARCH = SolveOptions(workers=1)
V = pod("v").label(app="web").owned().req(cpu="2").on("a")
W = V.named("w")
DB = pod("x").label(app="db").owned().anti("zone").on("a")
ZONES = (node("a", zone="1"), node("b", zone="2"), node("c", zone="3"), node("d", zone="2"))
ONE_WEB = budget("web", allowed=1, app="web")


@dataclass(frozen=True)
class Row:
    """A cluster, the drain, and what it comes to."""

    objects: tuple
    nodes: str
    verdict: str
    moves: int = 0
    waits: int = 0
    kind: str | None = None
    rolling: int | None = None
    by_name: bool = False
    options: dict = field(default_factory=dict)


ROWS = {
    "an empty node is drained": Row((node("a"), node("b")), "a", "possible", by_name=True),
    "two pods move together": Row((node("a"), node("b"), V, W), "a", "possible", 2, by_name=True),
    "a budget lets one move after the other": Row(
        (node("a"), node("b"), V, W, ONE_WEB), "a", "possible", 2, by_name=True
    ),
    "a budget that allows nothing": Row(
        (node("a"), node("b"), V, budget("web", allowed=0, app="web")), "a", "impossible", kind="budget"
    ),
    "no room": Row((node("a"), node("b", cpu="3"), V, W), "a", "impossible", kind="room"),
    "no node is left": Row((node("a"), V), "a", "impossible", kind="room"),
    "a pod without controller": Row(
        (node("a"), node("b"), pod("p").on("a")), "a", "impossible", kind="unmovable"
    ),
    "a pod without controller is left": Row(
        (node("a"), node("b"), pod("p").on("a"), V),
        "a",
        "possible",
        1,
        by_name=True,
        options={"leave_unmovable": True},
    ),
    "a daemon stays": Row(
        (node("a"), node("b"), pod("p").owned("DaemonSet/log").on("a")), "a", "possible", by_name=True
    ),
    "who makes room goes first, though not by name": Row(
        (*ZONES, DB, DB.named("y").on("b").nodes("zone", "In", "3"), budget("db", allowed=1, app="db")),
        "a b",
        "possible",
        2,
    ),
    "two that have to change places cannot": Row(
        (
            *(node("a", zone="1"), node("b", zone="2"), node("c", zone="1"), node("d", zone="2")),
            DB.nodes("zone", "In", "2"),
            DB.named("y").on("b").nodes("zone", "In", "1"),
            budget("db", allowed=1, app="db"),
        ),
        "a b",
        "impossible",
        kind="order",
    ),
    "two that have to change places do so together": Row(
        (
            *(node("a", zone="1"), node("b", zone="2"), node("c", zone="1"), node("d", zone="2")),
            DB.nodes("zone", "In", "2"),
            DB.named("y").on("b").nodes("zone", "In", "1"),
            budget("db", allowed=2, app="db"),
        ),
        "a b",
        "possible",
        2,
        by_name=True,
    ),
    "large pods first, though not by name": Row(
        (
            *(node("a"), node("b", cpu="2"), node("c", cpu="3")),
            pod("1").owned().req(cpu="2").on("a"),
            pod("2").owned().req(cpu="2500m").on("a"),
        ),
        "a",
        "possible",
        2,
        by_name=False,
    ),
    "rolling through a cluster with one node's room": Row(
        (node("a"), node("b"), V, V.named("w").on("b")), "a b", "possible", 3, rolling=1, by_name=True
    ),
    "rolling where a pod waits for its node": Row(
        (node("a"), node("b"), V.req(cpu="3"), W.req(cpu="3").on("b")),
        "a b",
        "possible",
        2,
        waits=2,
        rolling=1,
        by_name=True,
    ),
    "rolling where only one may wait": Row(
        (
            *(node("a"), node("b"), ONE_WEB),
            *(V.named(f"v{k}").on(where) for k, where in enumerate("aabb")),
        ),
        "a b",
        "impossible",
        rolling=1,
        kind="room",
    ),
    "rolling over a node that is cordoned": Row(
        (node("a").cordoned(), node("b"), V, V.named("w").on("b")),
        "a b",
        "possible",
        3,
        rolling=1,
        by_name=True,
    ),
    "who terminates leaves first": Row(
        (node("a"), node("b"), V.req(cpu="3"), pod("t").req(cpu="3").on("b").terminating()),
        "a",
        "possible",
        1,
        by_name=True,
    ),
    "who terminates takes nothing from a proof": Row(
        (
            *(node("a", zone="1"), node("b", zone="2"), node("c", zone="1"), node("d", zone="2")),
            DB.nodes("zone", "In", "2"),
            DB.named("y").on("b").nodes("zone", "In", "1"),
            budget("db", allowed=1, app="db"),
            pod("t").on("c").terminating(),
        ),
        "a b",
        "impossible",
        kind="order",
    ),
    "who terminates may be what another one asks to be beside": Row(
        (
            *(node("a", zone="1"), node("b", zone="2")),
            V.affinity("zone", {"app": "t"}),
            pod("t").label(app="t").on("b").terminating(),
        ),
        "a",
        "undecided",
    ),
    "nodes that are cordoned take no pods": Row(
        (node("a"), node("b").cordoned(), V), "a", "impossible", kind="room"
    ),
}


def answer(row):
    wanted = DrainOptions(rolling=row.rolling, **row.options)
    return drain(cluster(*row.objects), row.nodes.split(), wanted, SEARCH)


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_what_a_drain_comes_to(row):
    found = answer(row)
    assert (found.verdict, found.moves, found.waits) == (row.verdict, row.moves, row.waits)
    assert {each.kind for each in found.obstacles} == ({row.kind} if row.kind else set())
    assert found.in_name_order.finished == row.by_name
    assert found.stats.verified == (row.verdict == "possible")


def test_stages_and_batches_say_what_the_steps_do():
    found = answer(ROWS["rolling through a cluster with one node's room"])
    told = [(move.pod, move.target) for s in found.stages for b in s.batches for move in b.moves]
    bound = [(step.bind, step.node) for step in found.steps if step.bind]
    assert [target for _, target in told] == [node for _, node in bound]
    assert [stage.nodes for stage in found.stages] == [("a",), ("b",)]


def test_a_replacement_that_moves_again_keeps_its_name():
    found = answer(ROWS["rolling through a cluster with one node's room"])
    moved = [(move.pod, move.replacement) for s in found.stages for b in s.batches for move in b.moves]
    assert ("default/v", "default/v-moved") in moved
    assert ("default/v-moved", "default/v-moved") in moved


def test_the_sum_of_a_lack_of_room_can_be_added_up():
    [found] = answer(ROWS["no room"]).obstacles
    assert (found.needed, found.shortage.resource, found.shortage.asked, found.shortage.free) == (
        2,
        "pods",
        2,
        1,
    )
    assert found.shortage.nodes == ("b",)
    pods = [pod(f"p{k}").owned().req(cpu=cpu).on("a") for k, cpu in enumerate(["2", "1500m", "1"])]
    [found] = drain(cluster(node("a", cpu="9"), node("b"), *pods), ["a"], DrainOptions(), SEARCH).obstacles
    assert found.shortage == Shortage(resource="cpu", asked=4500, free=4000, nodes=("b",))


def test_a_lack_of_room_that_no_sum_shows_is_proven_by_the_search():
    pods = [pod(f"p{k}").owned().req(cpu=cpu).on("a") for k, cpu in enumerate(["2500m", "2", "1500m"])]
    snapshot = cluster(node("a", cpu="9"), node("b", cpu="3"), node("c", cpu="3"), *pods)
    found = drain(snapshot, ["a"], DrainOptions(), SEARCH)
    assert found.verdict == "impossible"
    assert [(each.kind, each.fit, each.needed, each.shortage) for each in found.obstacles] == [
        ("room", 2, 3, None)
    ]


@pytest.mark.parametrize(
    "room, kinds, once_open",
    [
        pytest.param("4", {"budget"}, "possible", id="only the budget is in the way"),
        pytest.param("1", {"budget", "room"}, None, id="there is no room either"),
    ],
)
def test_it_is_told_what_the_drain_comes_to_once_its_budgets_are_open(room, kinds, once_open):
    snapshot = cluster(node("a"), node("b", cpu=room), V, W, budget("web", allowed=0, app="web"))
    found = drain(snapshot, ["a"], DrainOptions(), SEARCH)
    assert {each.kind for each in found.obstacles} == kinds
    assert found.once_open == once_open


def test_a_budget_without_a_way_says_what_opens_it():
    text = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    keeper = PodDisruptionBudget.model_validate({"metadata": {"name": "web"}, "spec": text})
    before = cluster(node("a"), node("b"), V, keeper)
    [found] = drain(counted_anew(cluster(), before), ["a"], DrainOptions(), SEARCH).obstacles
    assert [each.words for each in found.remedies] == ["minAvailable 0", "2 replicas"]


def test_a_bound_volume_keeps_its_pod_in_the_zone():
    disk = volume("d", zones=["1"], to="data")
    held = volume_claim("data", to="d", complete=True, phase="Bound")
    keeper = pod("p").owned().claim("data").on("a")
    near = (node("a", zone="1"), node("b", zone="2"), disk, held, keeper)
    assert drain(cluster(*near), ["a"], DrainOptions(), SEARCH).verdict == "impossible"
    assert drain(cluster(*near, node("c", zone="1")), ["a"], DrainOptions(), SEARCH).verdict == "possible"


@pytest.mark.parametrize("where, verdict", [("b", "possible"), ("z", "impossible")])
def test_devices_are_allocated_anew(where, verdict):
    mine = claim("p-gpu", owner="p", has=[("r", "a", "g")], at="a", users=["p"])
    objects = (node("a"), node("b"), device_class(), template("t"), mine, slice_on("a", gpu("g")))
    there = slice_on(where, gpu("g"))
    found = drain(
        cluster(*objects, there, user("p", made=[("e", "p-gpu")]).owned().on("a")),
        ["a"],
        DrainOptions(),
        SEARCH,
    )
    assert found.verdict == verdict


def test_a_search_that_gives_up_decides_nothing():
    row = ROWS["two that have to change places cannot"]
    task = task_of(cluster(*row.objects), row.nodes.split(), DrainOptions(), unwatched)
    assert EveryOrder(task).run().proven
    found = EveryOrder(task, effort=1).run()
    assert found.changes is None
    assert not found.proven


# -- the check of a drain ------------------------------------------------------------

TWO = (node("a"), node("b"), node("c"), V)


@pytest.mark.parametrize(
    "rolling, steps, fault",
    [
        pytest.param(None, "", "a is not emptied", id="nothing was done"),
        pytest.param(None, "c0 m l b1", None, id="a drain"),
        pytest.param(None, "m l b1", "takes default/v from a node that is open", id="a node that is open"),
        pytest.param(1, "c0 m l b1 u0", "b is not emptied", id="half of a rolling drain"),
        pytest.param(1, "c0 m l b2 u0 c1 u1", None, id="a rolling drain"),
        pytest.param(1, "c0 c1 m l b2 u0 u1", "has more than 1 nodes drained at a time", id="two at a time"),
        pytest.param(2, "c0 c1 m l b2 u0 u1", None, id="two where two may be"),
        pytest.param(1, "c0 u0 c1 u1", "takes a back before it is empty", id="back too early"),
        pytest.param(1, "c0 m l u0 b0 c1 u1", None, id="a pod waits for its node"),
    ],
)
def test_the_check_of_a_drain(rolling, steps, fault):
    nodes = ["a", "b"] if rolling else ["a"]
    task = task_of(cluster(*TWO), nodes, DrainOptions(rolling=rolling), unwatched)
    index = task.moving.cluster.pod_index
    v, new = index["default/v"], index["default/v-moved"]
    made = {
        "m": lambda n: Mark(v),
        "l": lambda n: Leave(v),
        "b": lambda n: Bind(new, n),
        "c": Cordon,
        "u": Uncordon,
    }
    changes = [made[word[0]](int(word[1:] or 0)) for word in steps.split()]
    if fault is None:
        check_drained(task, changes, unwatched)
        return
    assert any(fault in told for told in faults_of_drain(task, changes))
    with pytest.raises(ReplayFailure):
        check_drained(task, changes, unwatched)


def test_only_pods_of_the_drain_are_numbered_as_moving():
    task = task_of(
        cluster(node("a"), node("b"), V, W.on("b")), ["a"], DrainOptions(moves=MoveOptions()), unwatched
    )
    assert [task.moving.cluster.pods[i].pod.name for i in task.pods] == ["v"]
    assert len(moving_of(node("a"), node("b"), V, W.on("b")).replacement) == 2
