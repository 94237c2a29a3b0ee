"""Objects with other fields, and names of objects."""

from dataclasses import replace

import pytest
from support.what_if import budget, changed, cluster, node, pod, priority_class, workload

from kubestow.instances import catalogue
from kubestow.instances.manifests import load_snapshot
from kubestow.instances.what_if.fields import path_of
from kubestow.models.errors import KubestowError

CLASSES = [priority_class("high", 9), priority_class("low", 2)]
TAINT = {"key": "a", "effect": "NoSchedule"}
CLUSTER = cluster(
    node("n1", taints=[TAINT]),
    pod("p", priorityClassName="low"),
    workload("Deployment", "web", replicas=0),
    budget(minAvailable=1),
    *CLASSES,
)


def test_a_field_of_every_object_of_a_round_can_be_set():
    """Quantities below one and others that are no whole numbers stay what they are."""
    snapshot = load_snapshot(catalogue.path("what-if-web"))
    for kind, item in (
        ("node", snapshot.nodes[0]),
        *(("pod", each) for each in snapshot.pods),
        *(("job", each) for each in snapshot.jobs),
    ):
        target = "/".join([kind, *([item.namespace] if item.namespace else []), item.name])
        after = changed(snapshot, set_to(target, "metadata.labels.new", "yes")).snapshot
        labels = {**item.metadata.labels, "new": "yes"}
        metadata = item.metadata.model_copy(update={"labels": labels})
        assert item.model_copy(update={"metadata": metadata}) in (*after.nodes, *after.pods, *after.jobs)


@pytest.mark.parametrize(
    "text, path",
    [
        ("spec.priority", ["spec", "priority"]),
        ("spec.tolerations[0].key", ["spec", "tolerations", 0, "key"]),
        (
            r"metadata.labels.topology\.kubernetes\.io/zone",
            ["metadata", "labels", "topology.kubernetes.io/zone"],
        ),
        ("a[0][12]", ["a", 0, 12]),
    ],
)
def test_paths(text, path):
    assert path_of(text) == path


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", "a[", "a[x]", "[0]", "a[0]b"])
def test_what_is_no_path(text):
    with pytest.raises(KubestowError):
        path_of(text)


def set_to(target, field, value):
    return {"set": target, "field": field, "value": value}


@pytest.mark.parametrize(
    "change, found",
    [
        pytest.param(set_to("pod/p", "spec.priority", 5), lambda s: s.pods[0].priority == 5, id="a number"),
        pytest.param(
            set_to("pod/shop/p", r"metadata.labels.a\.b/c", "x"),
            lambda s: s.pods[0].metadata.labels == {"app": "web", "a.b/c": "x"},
            id="a new label",
        ),
        pytest.param(
            set_to("Pod shop/p", "spec.containers[0].resources.requests.cpu", "500m"),
            lambda s: s.pods[0].spec.containers[0].resources.requests["cpu"] * 2 == 1,
            id="within a list",
        ),
        pytest.param(
            set_to("pods/p", "spec.tolerations[0]", {"key": "a", "operator": "Exists"}),
            lambda s: s.pods[0].spec.tolerations[0].key == "a",
            id="behind the last of a list",
        ),
        pytest.param(
            set_to("no/n1", "spec.taints[0]", None), lambda s: s.nodes[0].spec.taints == (), id="out of it"
        ),
        pytest.param(
            set_to("node/n1", "spec.taints", None), lambda s: s.nodes[0].spec.taints == (), id="one gone"
        ),
        pytest.param(
            set_to("pod/p", "spec.priorityClassName", "high"),
            lambda s: s.pods[0].priority == 9,
            id="another class has its priority",
        ),
        pytest.param(
            {"patch": "pod/p", "with": {"spec": {"priorityClassName": "high", "priority": 3}}},
            lambda s: s.pods[0].priority == 3,
            id="unless that is patched, too",
        ),
        pytest.param(
            {"patch": "node/n1", "with": {"spec": {"taints": None, "unschedulable": True}}},
            lambda s: s.nodes[0].spec.unschedulable and not s.nodes[0].spec.taints,
            id="a patch of two fields",
        ),
        pytest.param(
            {"profile": {"kind": "KubeSchedulerConfiguration",
                         "apiVersion": "kubescheduler.config.k8s.io/v1",
                         "profiles": [{"schedulerName": "other"}]}},
            lambda s: s.configuration.profiles[0].scheduler_name == "other",
            id="another profile",
        ),
    ],
)  # fmt: skip
def test_what_changes(change, found):
    after = changed(CLUSTER, change)
    assert found(after.snapshot)
    assert after.snapshot != CLUSTER
    assert not after.notes


def test_all_else_stays():
    after = changed(CLUSTER, set_to("pod/p", "spec.priority", 5)).snapshot
    assert replace(after, pods=CLUSTER.pods) == CLUSTER
    spec = after.pods[0].spec
    assert spec.model_copy(update={"priority": 2}) == CLUSTER.pods[0].spec


@pytest.mark.parametrize(
    "change, note",
    [
        (set_to("pod/p", "spec.priority", 2), "Pod shop/p: nothing that a round depends on is changed"),
        (
            set_to("deploy/web", "spec.template.spec.priority", 2),
            "Deployment shop/web: the template holds for pods to come; those that are there keep theirs",
        ),
    ],
)
def test_notes(change, note):
    assert changed(CLUSTER, change).notes == (note,)


@pytest.mark.parametrize(
    "change, words",
    [
        (set_to("pod/q", "spec.priority", 1), "changes[0]: set: there is no Pod q in the input"),
        (
            set_to("pod/p", "spec.priorty", 1),
            "Pod shop/p: spec.priorty: an unknown field; did you mean priority?",
        ),
        (set_to("pod/p", "spec.priority", "x"), "Pod shop/p: spec.priority: must be a whole number"),
        (set_to("pod/p", "spec.priorityClassName", "none"), "there is no PriorityClass 'none'"),
        (set_to("pod/p", "spec.priority.x", 1), "'x' is not below a map"),
        (set_to("pod/p", "spec.containers[3].name", "x"), "there is no item [3]"),
        (set_to("pod/p", "metadata.name", "x"), "name and namespace cannot change"),
        (set_to("pdb/keep", "spec.minAvailable", -1), "PodDisruptionBudget shop/keep: spec.minAvailable"),
        (set_to("frob/p", "spec.x", 1), "'frob/p' names no object"),
        ({"profile": {"kind": "KubeSchedulerConfiguration", "profiles": 3}}, "profiles: must be a list"),
    ],
)
def test_what_is_refused(change, words):
    with pytest.raises(KubestowError) as told:
        changed(CLUSTER, change)
    assert words in str(told.value)


def elsewhere(item, namespace):
    return {**item, "metadata": {**item["metadata"], "namespace": namespace}}


def test_of_several_namespaces_the_default_one_is_meant_and_without_it_none():
    two = [elsewhere(pod("p"), "a"), elsewhere(pod("p"), "b")]
    with pytest.raises(KubestowError, match="'pod/p' can be Pod a/p or Pod b/p"):
        changed(cluster(*two), set_to("pod/p", "spec.priority", 1))
    after = changed(cluster(*two, elsewhere(pod("p"), "default")), set_to("pod/p", "spec.priority", 1))
    assert [item.priority for item in after.snapshot.pods] == [0, 0, 1]
