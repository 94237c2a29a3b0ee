"""From changes to events, and which registrations an event meets."""

import pytest
from support.builders import namespace, node, pod
from support.changing import built, events

from kubestow.framework.events.changes import occurrences
from kubestow.framework.events.events import (
    ANY_EVENT,
    ASSIGNED_POD_DELETE,
    FORCE_ACTIVATE,
    NODE_ADD,
    Action,
    ClusterEvent,
    Resource,
    matches,
)
from kubestow.models.storage import StorageClass

N = node("n", cpu="4")
P = pod("p")
RUNNING = pod("p").on("n")
CLASS = StorageClass.model_validate({"metadata": {"name": "fast"}})


def condition(status, **more):
    entry = {"type": "Ready", "status": status, **more}
    return built(N).model_copy(update={"status": built(N).status.model_validate({"conditions": [entry]})})


def finished(builder):
    return builder.changed(lambda d: d["status"].update(phase="Succeeded"))


def claims(**made):
    statuses = [{"name": name, "resourceClaimName": claim} for name, claim in made.items()]
    return pod("p").changed(lambda d: d["status"].update(resourceClaimStatuses=statuses))


def annotated(builder):
    item = built(builder)
    return item.model_copy(update={"metadata": item.metadata.model_copy(update={"annotations": {"a": "b"}})})


@pytest.mark.parametrize(
    "old, new, expected",
    [
        pytest.param(None, N, ["NodeAdd"], id="a node comes"),
        pytest.param(N, None, ["NodeDelete"], id="a node goes"),
        pytest.param(N, N, [], id="a heartbeat is no event"),
        pytest.param(N, N.image("i", size=1), [], id="images are no event"),
        pytest.param(N.cordoned(), N, ["NodeUpdateNodeTaint"], id="a cordon is lifted"),
        pytest.param(N, N.offer(cpu="5"), ["NodeUpdateNodeAllocatable"], id="a node grows"),
        pytest.param(N, N.offer(cpu="4000m"), [], id="the same amount in other words is no event"),
        pytest.param(N, N.label(a="b"), ["NodeUpdateNodeLabel"], id="a label comes"),
        pytest.param(N, annotated(N), ["NodeUpdateNodeAnnotation"], id="an annotation comes"),
        pytest.param(
            condition("True", reason="A"),
            condition("True", reason="B"),
            [],
            id="a condition's reason is no event",
        ),
        pytest.param(
            condition("True"), condition("False"), ["NodeUpdateNodeCondition"], id="a condition turns"
        ),
        pytest.param(
            N.cordoned().taint("k"),
            N.offer(cpu="5").label(a="b"),
            [
                "NodeUpdateNodeTaint",
                "NodeUpdateNodeAllocatable",
                "NodeUpdateNodeLabel",
                "NodeUpdateNodeTaint",
            ],
            id="one update can be several events, in a fixed order",
        ),
        pytest.param(None, P, ["UnschedulablePodAdd"], id="a pod waits"),
        pytest.param(P, None, ["UnschedulablePodDelete"], id="a waiting pod goes"),
        pytest.param(
            P.nominated("n"),
            None,
            ["UnschedulablePodDelete", "AssignedPodDelete"],
            id="with its nomination goes what counted as a pod on the node",
        ),
        pytest.param(
            P.nominated("n"),
            P.nominated("m"),
            ["UnschedulablePodUpdate", "AssignedPodDelete"],
            id="a nomination changes",
        ),
        pytest.param(P, P.nominated("n"), ["UnschedulablePodUpdate"], id="a nomination comes"),
        pytest.param(None, RUNNING, ["AssignedPodAdd"], id="a pod runs"),
        pytest.param(RUNNING, None, ["AssignedPodDelete"], id="a running pod goes"),
        pytest.param(RUNNING, finished(RUNNING), ["AssignedPodDelete"], id="a pod that finishes is gone"),
        pytest.param(finished(RUNNING), None, [], id="a finished pod has been gone before"),
        pytest.param(
            P, RUNNING, ["AssignedPodAdd", "UnschedulablePodDelete"], id="a pod is bound: both sides notice"
        ),
        pytest.param(
            P.nominated("n"),
            RUNNING,
            ["AssignedPodAdd", "UnschedulablePodDelete", "AssignedPodDelete"],
            id="a nominated pod is bound",
        ),
        pytest.param(RUNNING, RUNNING, ["AssignedPodUpdate"], id="an update without news is a general one"),
        pytest.param(P, P.label(a="b"), ["UnschedulablePodUpdatePodLabel"], id="a label of a waiting pod"),
        pytest.param(
            RUNNING.req(cpu="2", memory="1Gi"),
            RUNNING.req(cpu="1", memory="2Gi"),
            ["AssignedPodUpdatePodScaleDown"],
            id="a pod shrinks in one resource",
        ),
        pytest.param(
            RUNNING.req(cpu="2"), RUNNING, ["AssignedPodUpdatePodScaleDown"], id="a request that goes is one"
        ),
        pytest.param(RUNNING.req(cpu="1"), RUNNING.req(cpu="2"), ["AssignedPodUpdate"], id="a pod grows"),
        pytest.param(
            P.gated("a").gated("b"), P.gated("b"), ["UnschedulablePodUpdate"], id="one of two gates goes"
        ),
        pytest.param(
            P.gated("a"), P, ["UnschedulablePodUpdatePodSchedulingGatesEliminated"], id="the last gate goes"
        ),
        pytest.param(P, P.tolerate("k"), ["UnschedulablePodUpdatePodToleration"], id="a toleration comes"),
        pytest.param(
            P, claims(c="p-c"), ["UnschedulablePodUpdatePodGeneratedResourceClaim"], id="a claim is noted"
        ),
        pytest.param(
            P.gated("a"),
            P.label(a="b").tolerate("k"),
            [
                "UnschedulablePodUpdatePodLabel",
                "UnschedulablePodUpdatePodSchedulingGatesEliminated",
                "UnschedulablePodUpdatePodToleration",
            ],
            id="a pod's update can be several events, too",
        ),
        pytest.param(None, CLASS, ["storage.k8s.io/StorageClassAdd"], id="another kind comes"),
        pytest.param(CLASS, CLASS, ["storage.k8s.io/StorageClassUpdate"], id="another kind changes"),
        pytest.param(CLASS, None, ["storage.k8s.io/StorageClassDelete"], id="another kind goes"),
    ],
)
def test_a_change_makes_events(old, new, expected):
    assert events(old, new) == expected


def test_a_kind_that_nobody_watches_makes_no_event():
    assert occurrences(None, namespace("a")) == ()


def test_a_pod_replaced_by_one_of_the_same_name_goes_and_comes():
    def pod_with(uid):
        item = built(P)
        return item.model_copy(update={"metadata": item.metadata.model_copy(update={"uid": uid})})

    happened = occurrences(pod_with("1"), pod_with("2"))
    assert [str(item.event) for item in happened] == ["UnschedulablePodDelete", "UnschedulablePodAdd"]


NODES = ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)
PODS = ClusterEvent(Resource.POD, Action.ADD | Action.DELETE | Action.UPDATE_POD_LABEL)


@pytest.mark.parametrize(
    "registered, incoming, expected",
    [
        pytest.param(NODES, NODE_ADD, True, id="one of several actions"),
        pytest.param(NODES, ClusterEvent(Resource.NODE, Action.DELETE), False, id="another action"),
        pytest.param(
            NODES,
            ClusterEvent(Resource.NODE, Action.UPDATE_NODE_ALLOCATABLE),
            False,
            id="an action in between",
        ),
        pytest.param(NODES, ASSIGNED_POD_DELETE, False, id="another resource"),
        pytest.param(PODS, ASSIGNED_POD_DELETE, True, id="Pod stands for assigned pods"),
        pytest.param(
            PODS, ClusterEvent(Resource.UNSCHEDULABLE_POD, Action.ADD), True, id="and for waiting ones"
        ),
        pytest.param(
            PODS,
            ClusterEvent(Resource.ASSIGNED_POD, Action.UPDATE),
            False,
            id="a general update is more than the update that was registered",
        ),
        pytest.param(
            ClusterEvent(Resource.CSI_NODE, Action.ADD | Action.UPDATE),
            ClusterEvent(Resource.CSI_NODE, Action.UPDATE),
            True,
            id="a general update meets a registered general update",
        ),
        pytest.param(ANY_EVENT, NODE_ADD, True, id="who registers everything gets everything"),
        pytest.param(NODES, FORCE_ACTIVATE, False, id="an event about everything is not about nodes"),
    ],
)
def test_an_event_meets_a_registration(registered, incoming, expected):
    assert matches(registered, incoming) is expected


def test_events_are_spelled_as_upstream_spells_them():
    assert PODS.names == ("PodAdd", "PodDelete", "PodUpdatePodLabel")
    assert str(ClusterEvent(Resource.CSI_DRIVER, Action.UPDATE)) == "storage.k8s.io/CSIDriverUpdate"
    assert str(FORCE_ACTIVATE) == "ForceActivate"
