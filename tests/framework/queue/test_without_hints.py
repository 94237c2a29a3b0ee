"""The gate SchedulerQueueingHints off: how the queue was before, to measure what hints save."""

import pytest
from support.builders import node, pod
from support.changing import Queue

OFF = "SchedulerQueueingHints=false"


def waiting(*pods, plugin="NodeResourcesFit", gates=OFF, objects=()):
    queue = Queue(*pods, gates=gates, objects=objects)
    for _ in pods:
        queue.rejected(plugin)
    return queue


def test_whatever_a_plugin_registered_wakes_its_pods():
    small, less = pod("other").req(memory="2Gi").on("n"), pod("other").req(memory="1Gi").on("n")
    wants = pod("a").req(cpu="1")
    assert waiting(wants).change(small, less).where("a") == "backoff"
    assert waiting(wants, gates="").change(small, less).where("a") == "unschedulable"


def test_what_nobody_registered_does_not():
    assert waiting(pod("a")).change(node("n").taint("k"), node("n")).where("a") == "backoff"
    queue = waiting(pod("a"), plugin="NodeVolumeLimits")
    assert queue.change(node("n").taint("k"), node("n")).where("a") == "unschedulable"


@pytest.mark.parametrize(
    "wants, there, place",
    [
        pytest.param(pod("a").req(cpu="2"), [], "backoff", id="room enough"),
        pytest.param(pod("a").req(cpu="5"), [], "unschedulable", id="a node too small"),
        pytest.param(
            pod("a").req(cpu="2"),
            [pod("x").req(cpu="3").on("n")],
            "unschedulable",
            id="a node too full: pods on it count, unlike with hints",
        ),
        pytest.param(pod("a").select(zone="z1"), [], "unschedulable", id="a selector that does not match"),
        pytest.param(
            pod("a").nodes("zone", "In", "z1"), [], "unschedulable", id="an affinity that does not match"
        ),
        pytest.param(
            pod("a").host_port(80),
            [pod("x").host_port(80).on("n")],
            "unschedulable",
            id="a host port that is taken",
        ),
    ],
)
def test_a_node_that_comes_is_first_held_against_each_pod(wants, there, place):
    assert waiting(wants, plugin="NodeName", objects=there).add(node("n")).where("a") == place


def test_an_untolerated_taint_keeps_pods_where_they_are():
    tainted = node("n").taint("k")
    assert waiting(pod("a"), plugin="NodeName").add(tainted).where("a") == "unschedulable"
    assert waiting(pod("a").tolerate("k"), plugin="NodeName").add(tainted).where("a") == "backoff"


def test_assigned_pods_are_offered_to_those_who_look_at_pods():
    """Spreading in the same namespace, or a required affinity term that matches."""
    queue = waiting(
        pod("spread"),
        pod("near").affinity("zone", {"app": "web"}),
        pod("apart").anti("zone", {"app": "web"}),
        plugin="PodTopologySpread",
    )
    queue.add(pod("new", namespace="far").label(app="web").on("n"))
    assert queue.unschedulable == ["spread", "near", "apart"]
    queue.add(pod("new").label(app="db").on("n"))
    assert queue.unschedulable == []
    queue = waiting(
        pod("near").affinity("zone", {"app": "web"}),
        pod("apart").anti("zone", {"app": "web"}),
        plugin="InterPodAffinity",
    )
    assert queue.add(pod("new").label(app="web").on("n")).unschedulable == ["apart"]


def test_any_event_during_an_attempt_counts_for_the_one_popped_last():
    queue = Queue(pod("a"), gates=OFF)
    queue.pop()
    queue.add(node("n"))
    assert queue.fail("a", "NodeResourcesFit").where("a") == "backoff"
    queue = Queue(pod("a"), pod("b"), gates=OFF)
    queue.pop()
    queue.add(node("n"))
    queue.pop()
    assert queue.fail("a", "NodeResourcesFit").where("a") == "unschedulable", "the event came before b"


def test_an_update_that_may_help_wakes_the_pod_whoever_rejected_it():
    queue = waiting(pod("a"))
    assert queue.change(pod("a"), pod("a").condition("Ready", "False")).where("a") == "unschedulable"
    assert queue.change(pod("a"), pod("a").label(a="b")).where("a") == "backoff"


@pytest.mark.parametrize("priority, place", [(0, "backoff"), (2, "unschedulable")])
def test_lost_nominations_concern_the_same_pods_as_with_hints(priority, place):
    chosen = pod("chosen").priority(1).nominated("n")
    assert waiting(pod("a").priority(priority)).remove(chosen).where("a") == place


def test_no_event_is_kept_for_pods_in_flight():
    queue = Queue(pod("a"), gates=OFF)
    queue.pop()
    queue.add(node("n"))
    assert queue.queue.n_in_flight_events == 0


def test_activation_in_flight_counts_as_an_event():
    queue = Queue(pod("a"), gates=OFF)
    queue.pop()
    queue.queue.activate([pod("a").build()])
    assert queue.fail("a", "NodeResourcesFit").where("a") == "backoff"
