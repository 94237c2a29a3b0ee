"""Nodes that go, come and are cordoned."""

import pytest
from support.what_if import changed, cluster, node, pod, workload

from kubestow.models.errors import KubestowError

STAYS = pod("far", on="n2")
ON_N1 = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
]}}  # fmt: skip


@pytest.mark.parametrize(
    "item, fate",
    [
        pytest.param(
            pod("p", "n1", "ReplicaSet/web"), "made again", id="a pod with a controller is made again"
        ),
        pytest.param(
            pod("p", "n1", "Frob/web"), "made again", id="also where the controller is no known kind"
        ),
        pytest.param(pod("p", "n1"), "lost", id="a pod without a controller is lost"),
        pytest.param(pod("p", "n1", "DaemonSet/web"), "removed", id="a daemon goes with its node"),
        pytest.param(
            pod("p", owner="DaemonSet/web", affinity={"nodeAffinity": ON_N1}),
            "removed",
            id="also one that waits for it",
        ),
        pytest.param(pod("p", "n1", "Node/n1"), "removed", id="a mirror goes with its node"),
        pytest.param(
            pod("p", "n1", "Job/web", phase="Succeeded"), "removed", id="a finished pod goes without loss"
        ),
        pytest.param(
            pod("p", "n1", "ReplicaSet/web", terminating=True),
            "removed",
            id="the next one of a terminating pod is there already",
        ),
        pytest.param(
            pod("p", "n1", "StatefulSet/web", terminating=True),
            "made again",
            id="but not of a StatefulSet's, which waits for the name",
        ),
        pytest.param(pod("p", "n2"), "stays", id="a pod elsewhere stays"),
        pytest.param(pod("p"), "stays", id="and so does one that waits"),
        pytest.param(pod("p", owner="DaemonSet/web"), "stays", id="a daemon that means no node stays"),
    ],
)
@pytest.mark.parametrize("change", [{"remove": "n1"}, {"zoneDown": "a"}], ids=["removed", "zone down"])
def test_what_becomes_of_a_pod_whose_node_is_gone(change, item, fate):
    found = changed(cluster(node("n1"), node("n2", "b"), STAYS, item), change)
    assert [each.name for each in found.snapshot.nodes] == ["n2"]
    assert found.lost_nodes == ("n1",)
    assert found.made_again == ({"shop/p": "n1"} if fate == "made again" else {})
    assert found.lost == (("shop/p",) if fate == "lost" else ())
    assert found.removed == (("shop/p",) if fate == "removed" else ())
    left = {each.name: each for each in found.snapshot.pods}
    assert ("p" in left) == (fate in ("made again", "stays"))
    assert left["far"].spec.node_name == "n2"


def test_a_pod_that_is_made_again_is_pending_since_now_and_otherwise_the_same():
    before = cluster(node("n1"), pod("p", "n1", "ReplicaSet/web", created="2026-01-01T00:00:00Z"), STAYS)
    [again] = [each for each in changed(before, {"remove": "n1"}).snapshot.pods if each.name == "p"]
    was = before.pods[0]
    assert (again.spec.node_name, again.status.phase) == (None, "Pending")
    assert again.metadata.creation_timestamp == before.now
    assert again.spec == was.spec.model_copy(update={"node_name": None})
    assert again.metadata.labels == was.metadata.labels


def test_a_nomination_to_a_node_that_is_gone_is_forgotten():
    waits = pod("p")
    waits["status"]["nominatedNodeName"] = "n1"
    found = changed(cluster(node("n1"), node("n2"), waits), {"remove": "n1"})
    assert found.snapshot.pods[0].status.nominated_node_name is None


def test_a_zone_may_be_another_label():
    before = cluster(node("n1"), node("n2"))
    found = changed(before, {"zoneDown": "n2", "key": "kubernetes.io/hostname"})
    assert [each.name for each in found.snapshot.nodes] == ["n1"]


def test_a_cordon_and_its_end():
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    before = cluster(node("n1"), node("n2", unschedulable=True, taints=[taint]), pod("p", "n1"))
    found = changed(before, {"cordon": "n1"}, {"uncordon": "n2"})
    assert [each.spec.unschedulable for each in found.snapshot.nodes] == [True, False]
    assert found.snapshot.nodes[1].spec.taints == ()
    assert found.snapshot.pods == before.pods


# -- nodes that come ------------------------------------------------------------

GPU = {"name": "gpu-0"}
SLICE = {
    "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "n1-gpus"},
    "spec": {"driver": "gpu.example.com", "nodeName": "n1", "devices": [GPU],
             "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1}},
}  # fmt: skip
LIMITS = {
    "apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "n1"},
    "spec": {"drivers": [{"name": "disk", "nodeID": "1", "topologyKeys": []}]},
}  # fmt: skip


@pytest.mark.parametrize("source", ["like:n1", "n1"], ids=["a node of the input", "a node group"])
def test_a_copy_has_all_but_pods_and_what_passes(source):
    taints = [
        {"key": "team", "value": "x", "effect": "NoSchedule"},
        {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"},
    ]
    template = [node("n1", unschedulable=True, taints=taints), SLICE, LIMITS]
    if source == "n1":
        found = changed(cluster(node("n0")), {"addNodes": source, "count": 2}, groups=template)
    else:
        found = changed(cluster(*template, pod("p", "n1")), {"addNodes": source, "count": 2})
    assert found.new_nodes == ("n1-new-1", "n1-new-2")
    first = found.snapshot.nodes[-2]
    assert first.metadata.labels == {
        "kubernetes.io/hostname": "n1-new-1",
        "topology.kubernetes.io/zone": "a",
    }
    assert [taint.key for taint in first.spec.taints] == ["team"]
    assert not first.spec.unschedulable
    assert first.status.allocatable["cpu"] == 4
    assert not [each for each in found.snapshot.pods if each.spec.node_name == first.name]
    slices = found.snapshot.resource_slices[-2:]
    assert [(each.spec.node_name, each.spec.pool.name) for each in slices] == [
        ("n1-new-1", "n1-new-1"),
        ("n1-new-2", "n1-new-2"),
    ]
    assert [each.name for each in found.snapshot.csi_nodes[-2:]] == ["n1-new-1", "n1-new-2"]


def test_a_copy_may_be_of_a_node_that_is_gone():
    found = changed(cluster(node("n1"), SLICE), {"remove": "n1"}, {"addNodes": "like:n1"})
    assert [each.name for each in found.snapshot.nodes] == ["n1-new-1"]
    assert [each.spec.node_name for each in found.snapshot.resource_slices] == ["n1-new-1"]


def test_a_new_name_is_a_free_one():
    found = changed(
        cluster(node("n1"), node("n1-new-1")), {"addNodes": "like:n1"}, {"addNodes": "like:n1", "count": 2}
    )
    assert found.new_nodes == ("n1-new-2", "n1-new-3", "n1-new-4")


@pytest.mark.parametrize(
    "objects, notes",
    [
        pytest.param([], ("DaemonSet shop/agent is not in the input: new nodes have no pod of it",), id="no"),
        pytest.param([workload("DaemonSet", "agent")], (), id="yes"),
    ],
)
def test_a_daemon_set_that_is_known_by_its_pod_only_is_told(objects, notes):
    before = cluster(node("n1"), pod("d", "n1", "DaemonSet/agent"), *objects)
    assert changed(before, {"addNodes": "like:n1"}).notes == notes


@pytest.mark.parametrize(
    "change, words",
    [
        ({"remove": "n9"}, "test: changes[0]: remove: there is no Node n9 in the input"),
        ({"cordon": "n9"}, "there is no Node n9"),
        ({"zoneDown": "z"}, "no node has the label topology.kubernetes.io/zone=z; there are: a, b"),
        ({"addNodes": "like:n9"}, "there is no Node n9"),
        ({"addNodes": "big"}, "there is no node group 'big'; there are: none"),
        ({"addNodes": "like:n1", "count": 0}, "0 nodes cannot be added"),
    ],
)
def test_what_cannot_be_done_is_told(change, words):
    with pytest.raises(KubestowError) as told:
        changed(cluster(node("n1"), node("n2", "b"), workload("DaemonSet", "agent")), change)
    assert words in str(told.value)
