import pytest
from support.builders import budget, cluster, node, pod
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
            "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {x: }. "
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


def test_nominations_do_not_count_in_the_end():
    around = (node("a", cpu="2"), pod("q").req(cpu="2").priority(9).nominated("a"), pod("p").req(cpu="2"))
    look = Look(*around)
    assert diagnose(look.cluster, look.state, look.pod).message == "1/1 nodes are available:"
    assert look.state.nominated


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
    assert "preemption: 0/2 nodes are available: 1 Insufficient cpu" in diagnosis(*around, end=leave).message
