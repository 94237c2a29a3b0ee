import pytest
from support.builders import budget, cluster, node, pod
from support.devices import claim, device_class, gpu, request, slice_on, user
from support.filtering import Look

from kubestow.framework.build import build_cluster
from kubestow.framework.runs.diagnosis import diagnose
from kubestow.framework.state.state import State


def diagnosis(*objects, end=None):
    look = Look(*objects)
    state = State.initial(look.cluster)
    if end:
        end(look, state)
    return diagnose(look.cluster, state, look.pod)


@pytest.mark.parametrize(
    "objects, message, blocked_by",
    [
        pytest.param(
            [node("a"), pod("p").gated("example.com/a").gated("example.com/b")],
            "waiting for scheduling gates: [example.com/a example.com/b]",
            ("SchedulingGates",),
            id="a gated pod names its gates",
        ),
        pytest.param(
            [node("a", cpu="1"), node("b").taint("x"), pod("p").req(cpu="2")],
            "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). "
            "no new claims to deallocate, preemption: 0/2 nodes are available: "
            "2 Preemption is not helpful for scheduling.",
            ("TaintToleration", "NodeResourcesFit"),
            id="the rejecting plugins are in the order of the profile",
        ),
        pytest.param(
            [node("a", cpu="1"), pod("v").req(cpu="1").on("a"), pod("p").req(cpu="1").priority(5)],
            "0/1 nodes are available: 1 Insufficient cpu.",
            ("NodeResourcesFit",),
            id="where preemption could help nothing is added",
        ),
        pytest.param(
            [node("a", cpu="1"), node("b"), pod("p").req(cpu="2")],
            "1/2 nodes are available: 1 Insufficient cpu.",
            ("NodeResourcesFit",),
            id="a pod that would fit says so",
        ),
        pytest.param([pod("p")], "no nodes available to schedule pods", (), id="no nodes"),
    ],
)
def test_words(objects, message, blocked_by):
    found = diagnosis(*objects)
    assert (found.message, found.blocked_by) == (message, blocked_by)


def test_a_pod_of_an_unknown_scheduler_is_told_so():
    strange = build_cluster(cluster(node("a"), pod("p").scheduler("other")))
    found = diagnose(strange, State.initial(strange), strange.untried[0])
    assert "'other'" in found.message
    assert found.blocked_by == ()


def test_nominations_of_the_state_count():
    around = (node("a", cpu="2"), pod("q").req(cpu="2").priority(9).nominated("a"), pod("p").req(cpu="2"))
    look = Look(*around)
    assert look.state.nominated
    found = diagnose(look.cluster, look.state, look.pod)
    assert found.message.startswith("0/1 nodes are available: 1 Insufficient cpu.")
    free = State.initial(look.cluster)
    assert diagnose(look.cluster, free, look.pod).message == "1/1 nodes are available:"


def test_pods_of_one_class_hear_what_their_own_nominations_mean():
    around = (
        node("a", cpu="2"),
        pod("v")
        .req(cpu="2")
        .on("a")
        .terminating()
        .condition("DisruptionTarget", "True", reason="PreemptionByScheduler"),
        pod("p").req(cpu="2").priority(5).times(2),
    )
    index = build_cluster(cluster(*around))
    state = State.initial(index)
    first, second = index.pending
    state.nominate(first, 0)
    told = [diagnose(index, state, i).message for i in (first, second)]
    assert told[0].endswith("preemption: not eligible due to a terminating pod on the nominated node.")
    assert "not eligible" not in told[1]


def test_an_error_on_one_node_ends_the_attempt():
    """Another node would take the pod: kube-scheduler does not get that far."""
    look = Look(
        [node("a"), node("b")],
        device_class("gpu", 'device.attributes["gpu.example.com"].healthy'),
        slice_on("a", gpu("a0")),
        slice_on("b", gpu("b0", healthy=True)),
        claim("c", request("r")),
        user("p", "c"),
    )
    found = diagnose(look.cluster, look.state, look.pod)
    assert found.message.startswith('running "DynamicResources" filter plugin: class gpu: ')
    assert "CEL runtime error: no such key: healthy" in found.message
    assert found.blocked_by == ("DynamicResources",)


def test_who_has_left_has_used_the_budget():
    def leave(look, state):
        gone = look.cluster.pod_index["default/gone"]
        state.mark(gone)
        state.remove(gone)

    around = (
        node("a", cpu="1"),
        node("b", cpu="1").taint("x"),
        pod("gone").label(app="x").on("b"),
        pod("v").label(app="x").guard(100).req(cpu="1").on("a"),
        budget("k", allowed=1, app="x"),
        pod("p").req(cpu="1").priority(5),
    )
    assert "preemption" not in diagnosis(*around).message
    assert (
        "1 node(s) had pods guarded by allowDisruptionByPriorityGreaterThanOrEqual: 100"
        in diagnosis(*around, end=leave).message
    )
