"""Equal pods take the same slots of the index one after another; forks of it stay as they are."""

import pytest
from support.builders import NOW, node, pod
from support.simulating import Run

from kubestow.models.scenario import SECOND, Arrivals, Cordon, Delete, Kind, Put, Scenario, TimedEvent
from kubestow.models.snapshot import Snapshot
from kubestow.simulation.seats import Seats


def test_a_slot_that_was_left_is_taken_by_the_next_pod_of_its_shape():
    seats = Seats([("a", "1", "x"), ("b", "2", "y")], spare=["x"])
    x, y = seats.kind("x"), seats.kind("y")
    assert (x.slots, x.free, y.slots, y.free) == ([0, 2], [2], [1], [])
    assert seats.take("c", "3", x).i == 2
    seats.leave("a")
    assert (len(seats), x.free) == (2, [0])
    assert seats.take("d", "4", x).i == 0
    assert [seat.i for seat in seats.of.values()] == [1, 2, 0]


def test_a_shape_without_a_free_slot_gets_more_of_them():
    seats = Seats([(f"p{k}", str(k), "x") for k in range(20)])
    x = seats.kind("x")
    assert (Seats.wanted(x), seats.kind("y")) == (20, None)
    Seats.add(x, range(20, 40))
    assert seats.take("new", "20", x).i == 39
    assert len(x.slots) == 40


def test_a_fork_of_the_index_keeps_its_nodes_while_they_are_cordoned():
    nodes = tuple(node(name, cpu="4").build() for name in "ab")
    arrivals = Arrivals(1.0, 10 * SECOND, (Kind(pod("p").req(cpu="1").build(), 1.0, 2 * SECOND),))
    events = (TimedEvent(0, arrivals), TimedEvent(5 * SECOND, Cordon("a", on=True)))
    run = Run(Scenario("s", Snapshot(name="s", now=NOW, nodes=nodes), 10 * SECOND, events=events))
    world = run.simulation.world
    cluster, _ = world.follower.look()
    fork = cluster.fork()
    world.change(world.node("a"), nodes[0])
    world.change(
        world.node("b"),
        nodes[1].model_copy(update={"spec": nodes[1].spec.model_copy(update={"unschedulable": True})}),
    )
    again, _ = world.follower.look()
    assert again is cluster
    assert [n.spec.unschedulable for n in cluster.nodes] == [False, True]
    assert [n.spec.unschedulable for n in fork.nodes] == [True, False]
    assert fork.cordoned.tolist() == [True, False]


def running(cpu, **labels):
    built = pod("a").label(**labels).req(cpu=cpu).on("n1").build()
    return built.model_copy(update={"metadata": built.metadata.model_copy(update={"uid": "u"})})


@pytest.mark.parametrize("late", [running("1", app="y"), running("4", app="x")], ids=["labels", "requests"])
def test_a_running_pod_that_gets_other_labels_or_requests_counts_as_what_it_is(late):
    def picky(name):
        return pod(name).req(cpu="1").anti("hostname", {"app": "y"}).build()

    # Pods of its shape have come and gone before, so that the index need not be made anew for the last one.
    nodes = (node("n1", cpu="4").build(), node("n2", cpu="2").build())
    snapshot = Snapshot(name="s", now=NOW, nodes=nodes, pods=(running("1", app="x"),))
    actions = [Put((picky("p1"), picky("p2"))), Delete("Pod", "default/p1"), Delete("Pod", "default/p2")]
    actions += [Put((late,)), Put((picky("p3"),))]
    events = tuple(TimedEvent(40 * k * SECOND, action) for k, action in enumerate(actions))
    run = Run(Scenario("s", snapshot, 200 * SECOND, events=events))
    assert run.bound("p1")[1] == "n1"
    assert run.bound("p3")[1] == "n2"
