"""An anonymous snapshot is the same round under other names."""

import json
import re
from dataclasses import replace
from unittest.mock import ANY

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from support.device_rounds import tiny_devices, tiny_mixed
from support.group_rounds import tiny_groups
from support.metamorphic import written
from support.proof import OPTIONS, check_same
from support.strategies import small, tiny
from support.tree_rounds import tiny_trees
from support.volume_rounds import tiny_volumes

from kubestow.instances import catalogue
from kubestow.instances.anonymous.snapshot import Anonymiser, anonymous
from kubestow.instances.anonymous.words import CATEGORIES, Words
from kubestow.instances.manifests import load_snapshot, snapshot_of
from kubestow.instances.raw_objects import raw_objects
from kubestow.models.daemons import is_mirror
from kubestow.solver.api import solve, solve_greedy_round

PUBLIC = {"default", "kube-system", "default-scheduler", "metadata.name", "pods", "podgroups", "v1", "List"}
NAMED = {
    *(
        "name",
        "namespace",
        "generateName",
        "uid",
        "nodeName",
        "image",
        "claimName",
        "storageClassName",
        "volumeName",
    ),
    *(
        "driver",
        "pool",
        "device",
        "string",
        "schedulerName",
        "podGroupName",
        "serviceName",
        "deviceClassName",
    ),
    *(
        "resourceClaimName",
        "resourceClaimTemplateName",
        "priorityClassName",
        "nominatedNodeName",
        "provisioner",
    ),
}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
MAPPED = {"labels", "matchLabels", "nodeSelector", "selector"}
LISTED = {"values", "namespaces", "names", "strings"}


def made_anonymous(objects):
    return list(anonymous(objects, Anonymiser()))


def originals(value, key=""):
    """Yield the names, values of labels and images in raw objects."""
    if isinstance(value, dict):
        if value.get("kind") == "KubeSchedulerConfiguration":  # plugins and resources are no names
            return
        for name, item in value.items():
            if name in MAPPED and isinstance(item, dict):
                yield from (text for text in item.values() if isinstance(text, str))
            elif name in NAMED and isinstance(item, str):
                yield item
            yield from originals(item, name)
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, str) and key in LISTED:
                yield item
            yield from originals(item, key)


def texts(value):
    if isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, str):
        yield value


def bindings(snapshot):
    """Return greedy's tiers and bindings, pods and nodes by their numbers."""
    plan = solve_greedy_round(snapshot).plan
    pods = {pod.key: number for number, pod in enumerate(snapshot.pods)}
    nodes = {node.name: number for number, node in enumerate(snapshot.nodes)}
    found = [(pods[item.pod], nodes[item.node]) for item in plan.bindings if item.pod in pods]
    return [(tier.name, tier.value) for tier in plan.tiers], found, len(plan.evictions)


@pytest.mark.parametrize("name", catalogue.names())
def test_a_bundled_instance_is_the_same_round_for_greedy(name):
    before = load_snapshot(catalogue.path(name))
    after = snapshot_of(made_anonymous(raw_objects(catalogue.path(name))))
    assert after.now == before.now
    assert after.notes == before.notes
    assert bindings(after) == bindings(before)


@pytest.mark.parametrize("name", catalogue.names())
def test_no_original_name_is_left_of_a_bundled_instance(name):
    raw = raw_objects(catalogue.path(name))
    names = {text for text in originals(raw) if text not in PUBLIC and not text.startswith("system-")}
    names -= {text for text in names if text.endswith(".io/no-provisioner")}
    left = set(texts(made_anonymous(raw)))
    assert names
    assert not names & left
    long = {text for text in names if len(text) > 5}
    assert not [
        (text, other) for text in long for other in left if re.search(rf"\b{re.escape(text)}\b", other)
    ]


FEW = ["zone-spread-dead-end", "guard-service", "tree-two-blocks"]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in FEW else pytest.mark.slow) for name in catalogue.names()],
)
def test_a_bundled_instance_has_the_same_optimum(name):
    before = load_snapshot(catalogue.path(name))
    after = snapshot_of(made_anonymous(raw_objects(catalogue.path(name))))
    check_same(before, solve(before, OPTIONS), solve(after, OPTIONS))


MAKERS = [tiny, small, tiny_groups, tiny_devices, tiny_mixed, tiny_volumes, tiny_trees]


@settings(max_examples=12)
@given(st.sampled_from(MAKERS), st.integers(min_value=0, max_value=10_000))
def test_a_random_round_is_the_same_for_greedy(make, seed):
    made = make(seed)
    raw = written(made)
    given = {"feature_gates": made.feature_gates}
    before, after = snapshot_of(raw, **given), snapshot_of(made_anonymous(raw), **given)
    release = {"kube_version": made.kube_version}
    assert bindings(replace(after, **release)) == bindings(replace(before, **release))


@settings(max_examples=5)
@given(st.sampled_from(MAKERS), st.integers(min_value=0, max_value=10_000))
def test_a_random_round_has_the_same_optimum(make, seed):
    made = make(seed)
    raw = written(made)
    given = {"feature_gates": made.feature_gates}
    release = {"kube_version": made.kube_version}
    before = replace(snapshot_of(raw, **given), **release)
    after = replace(snapshot_of(made_anonymous(raw), **given), **release)
    check_same(before, solve(before, OPTIONS), solve(after, OPTIONS))


@settings(max_examples=40)
@given(st.dictionaries(st.text(min_size=1, max_size=8), st.sampled_from(sorted(CATEGORIES)), max_size=40))
def test_words_are_one_for_each_text_and_sort_as_the_texts_do(category_of):
    words = Words()
    for text, category in category_of.items():
        words.word(category, text)
    words.settle()
    found = {text: words.word(category, text) for text, category in category_of.items()}
    assert len(set(found.values())) == len(found)
    for category in CATEGORIES:
        own = [text for text in sorted(category_of) if category_of[text] == category and found[text] != text]
        assert [found[text] for text in own] == sorted(found[text] for text in own)


def pod(name="web-0", labels=None, **spec):
    meta = {"name": name, "namespace": "shop", "labels": labels or {}}
    found = {"apiVersion": "v1", "kind": "Pod", "metadata": meta}
    return {**found, "spec": {"containers": [{"name": "c", "image": "registry.acme.com/web"}], **spec}}


def needs(*terms):
    """Node affinity with these terms."""
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}


def of_kind(kind, name, version="v1", **fields):
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **fields}


def test_an_ephemeral_claim_keeps_its_pod():
    volumes = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]
    claim = of_kind("PersistentVolumeClaim", "web-0-scratch")
    one, other = made_anonymous([pod(volumes=volumes), claim])
    expected = f"{one['metadata']['name']}-{one['spec']['volumes'][0]['name']}"
    assert other["metadata"]["name"] == expected


def test_a_claim_that_can_be_of_two_pods_keeps_all_names_and_says_so():
    volumes = [[{"name": name, "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}] for name in ("c", "b-c")]
    pods = [pod("a-b", volumes=volumes[0]), pod("a", volumes=volumes[1]), pod("d")]
    claim = of_kind("PersistentVolumeClaim", "a-b-c")
    anonymiser = Anonymiser()
    found = list(anonymous([*pods, claim], anonymiser))
    assert [item["metadata"]["name"] for item in found] == ["a-b", "a", ANY, "a-b-c"]
    assert found[2]["metadata"]["name"] != "d"
    assert anonymiser.notes[0].endswith("can be read in two ways: a-b-c")


def test_pods_and_claims_of_a_stateful_set_keep_their_numbers():
    spec = {"volumeClaimTemplates": [{"metadata": {"name": "data"}}]}
    claim = of_kind("PersistentVolumeClaim", "data-web-1")
    owner, one, other = made_anonymous(
        [of_kind("StatefulSet", "web", "apps/v1", spec=spec), pod("web-1"), claim]
    )
    name = owner["metadata"]["name"]
    template = owner["spec"]["volumeClaimTemplates"][0]["metadata"]["name"]
    assert one["metadata"]["name"] == f"{name}-1"
    assert other["metadata"]["name"] == f"{template}-{name}-1"


def test_a_replica_set_keeps_its_deployment():
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d8f9", "controller": True}
    member = pod("web-5d8f9-abcde", {"pod-template-hash": "5d8f9"})
    member["metadata"]["ownerReferences"] = [owner]
    deployment, found = made_anonymous([of_kind("Deployment", "web", "apps/v1"), member])
    name = found["metadata"]["ownerReferences"][0]["name"]
    head, _, last = name.rpartition("-")
    assert head == deployment["metadata"]["name"]
    assert found["metadata"]["labels"] == {"pod-template-hash": last}


WORKLOADS = """
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "8", pods: "110"}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}
---
apiVersion: v1
kind: Pod
metadata:
  name: web-5d8f9-x
  labels: {app: web}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-5d8f9, uid: u1, controller: true}]
spec: {nodeName: n1, containers: [{name: c, image: i}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 3
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: i}]}}
  volumeClaimTemplates:
  - {metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: db-1}, spec: {nodeName: n1, containers: [{name: c, image: i}]}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data-db-1}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: crunch}
spec:
  parallelism: 2
  completions: 4
  completionMode: Indexed
  template: {spec: {containers: [{name: c, image: i}]}}
"""


def test_workloads_lack_as_many_pods_as_before():
    raw = list(yaml.safe_load_all(WORKLOADS))
    before, after = (snapshot_of(items, expand=True) for items in (raw, made_anonymous(raw)))
    for snapshot in (before, after):
        made = (snapshot.pods, snapshot.persistent_volume_claims, snapshot.replica_sets)
        assert [len(objects) for objects in made] == [2 + 6, 1 + 2, 1]
    assert bindings(after) == bindings(before)


def test_a_node_has_one_name_everywhere():
    field = {"key": "metadata.name", "operator": "In", "values": ["worker-7"]}
    label = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["worker-7"]}
    affinity = needs({"matchFields": [field], "matchExpressions": [label]})
    node = of_kind("Node", "worker-7")
    node["metadata"]["labels"] = {"kubernetes.io/hostname": "worker-7"}
    found = made_anonymous(
        [
            node,
            pod(nodeName="worker-7", affinity=affinity),
            of_kind("CSINode", "worker-7", "storage.k8s.io/v1"),
        ]
    )
    assert "worker-7" not in json.dumps(found)
    assert json.dumps(found).count("node-001") == 6


def test_numbers_that_are_compared_stay():
    taint = {"key": "cores", "operator": "Gt", "values": ["15"]}
    affinity = needs({"matchExpressions": [taint]})
    node = of_kind("Node", "a")
    node["metadata"]["labels"] = {"cores": "16", "customer": "4711"}
    found, _ = made_anonymous([node, pod(affinity=affinity)])
    assert sorted(found["metadata"]["labels"].values()) == ["16", "value-002"]


@pytest.mark.parametrize(
    "zones", ["europe-west1-b__europe-west1-c", "us-east-1a__us-east-1b", "a__b"], ids=lambda zones: zones
)
def test_a_volume_in_several_zones_stays_in_them(zones):
    volume = of_kind("PersistentVolume", "pv")
    volume["metadata"]["labels"] = {"topology.kubernetes.io/zone": zones}
    nodes = [of_kind("Node", name) for name in ("n", "m")]
    for node, zone in zip(nodes, zones.split("__"), strict=True):
        node["metadata"]["labels"] = {"topology.kubernetes.io/zone": zone}
    found = made_anonymous([volume, *nodes])
    key = "topology.kubernetes.io/zone"
    new = [item["metadata"]["labels"][key] for item in found]
    assert new[0] == f"{new[1]}__{new[2]}"
    assert [new[1].count("-") == 2] == [zones.split("__")[0].count("-") == 2]


def test_images_are_the_same_with_and_without_their_default_tag():
    node = of_kind(
        "Node", "n", status={"images": [{"names": ["registry.acme.com/web:latest"], "sizeBytes": 9}]}
    )
    found, one = made_anonymous([node, pod()])
    assert found["status"]["images"][0]["names"] == [one["spec"]["containers"][0]["image"]]


def test_what_is_not_read_is_not_there():
    node = of_kind(
        "Node", "n", spec={"providerID": "aws:///acme"}, status={"nodeInfo": {"machineID": "acme"}}
    )
    node["metadata"]["annotations"] = {"acme.com/owner": "acme"}
    secret = of_kind("Secret", "acme", data={"acme": "acme"})
    condition = {"type": "acme.com/Ready", "status": "True", "reason": "AcmeSays", "message": "acme"}
    member = {**pod(acme="acme"), "status": {"conditions": [condition]}}
    member["spec"]["containers"][0]["env"] = [{"name": "acme", "value": "acme"}]
    assert "acme" not in json.dumps(made_anonymous([node, secret, member])).lower()


def test_a_mirror_of_a_static_pod_stays_one_under_another_hash():
    mirror = pod()
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "9f86d081884c7d65"}
    [found] = made_anonymous([mirror])
    assert is_mirror(snapshot_of([found], name="s").pods[0])
    assert "9f86d081" not in json.dumps(found)


def test_a_selector_that_looks_into_texts_keeps_them_and_says_so():
    slices = of_kind("ResourceSlice", "s", "resource.k8s.io/v1")
    attributes = {"model": {"string": "A100"}}
    pool = {"name": "n", "resourceSliceCount": 1}
    slices["spec"] = {
        "driver": "gpu.acme.com",
        "pool": pool,
        "devices": [{"name": "d", "attributes": attributes}],
    }
    expression = 'device.attributes["gpu.acme.com"].model.startsWith("A1")'
    kind = of_kind("DeviceClass", "A100", "resource.k8s.io/v1")  # what is named as a value is keeps it, too
    kind["spec"] = {"selectors": [{"cel": {"expression": expression}}]}
    anonymiser = Anonymiser()
    found = list(anonymous([slices, kind], anonymiser))
    assert found[0]["spec"]["driver"] == "gpu.acme.com"
    assert found[0]["spec"]["devices"][0]["attributes"] == attributes
    assert found[1]["spec"] == kind["spec"]
    assert anonymiser.notes[0].startswith("2 names of drivers and values of attributes stay as they are")


@pytest.mark.parametrize(
    "driver",
    [
        pytest.param("gpu.acme.com", id="A vendor's driver"),
        pytest.param("gpu.k8s.io", id="A driver of a domain of Kubernetes"),
        pytest.param("dra.kubernetes.io", id="A driver of the other domain of Kubernetes"),
        pytest.param("kubernetes.io", id="The domain itself"),
        pytest.param("ebs.csi.aws.com", id="A driver that keeps its name"),
        pytest.param("resource.kubernetes.io", id="The domain of standard attributes"),
    ],
)
def test_a_driver_is_one_word_where_it_is_named_compared_and_a_domain(driver):
    device = {"name": "d", "attributes": {f"{driver}/model": {"string": "A100"}}}
    slices = of_kind("ResourceSlice", "s", "resource.k8s.io/v1")
    slices["spec"] = {"driver": driver, "pool": {"name": "n", "resourceSliceCount": 1}, "devices": [device]}
    kind = of_kind("DeviceClass", "acme", "resource.k8s.io/v1")
    kind["spec"] = {
        "selectors": [
            {"cel": {"expression": f'device.driver == "{driver}"'}},
            {"cel": {"expression": f'"model" in device.attributes["{driver}"]'}},
            {"cel": {"expression": f'"{driver}" in device.attributes'}},
        ]
    }
    found, other = made_anonymous([slices, kind])
    word = found["spec"]["driver"]
    assert list(found["spec"]["devices"][0]["attributes"]) == [f"{word}/model"]
    assert [item["cel"]["expression"] for item in other["spec"]["selectors"]] == [
        f'device.driver == "{word}"',
        f'"model" in device.attributes["{word}"]',
        f'"{word}" in device.attributes',
    ]


def test_the_domain_of_standard_attributes_stays():
    slices = of_kind("ResourceSlice", "s", "resource.k8s.io/v1")
    attributes = {"resource.kubernetes.io/pcieRoot": {"string": "pci0000:00"}}
    device = {"name": "d", "attributes": attributes}
    slices["spec"] = {"driver": "gpu.k8s.io", "pool": {"name": "n"}, "devices": [device]}
    [found] = made_anonymous([slices])
    assert list(found["spec"]["devices"][0]["attributes"]) == list(attributes)


def test_a_claim_of_an_early_version_becomes_one_of_the_current():
    claim = of_kind("ResourceClaim", "c", "resource.k8s.io/v1beta1")
    claim["spec"] = {"devices": {"requests": [{"name": "r", "deviceClassName": "acme"}]}}
    [found] = made_anonymous([claim])
    assert found["apiVersion"] == "resource.k8s.io/v1"
    [request] = found["spec"]["devices"]["requests"]
    assert set(request["exactly"]) == {"deviceClassName"}
    assert "acme" not in json.dumps(found)
