"""What the reader tells about an input that would make the answer another one."""

import gzip
import json
from dataclasses import replace

import pytest
from support.paths import DATA

from kubestow.instances.dump import resource
from kubestow.instances.manifests import snapshot_of
from kubestow.instances.missing_kinds import missing_kinds, missing_owners
from kubestow.instances.unknown_fields import unknown_fields
from kubestow.models.base import KubeModel
from kubestow.models.errors import InputError
from kubestow.models.features import FeatureGates
from kubestow.models.kinds import KINDS, find_kind
from kubestow.models.kube_version import KubeVersion
from kubestow.models.upstream_fields import UNREAD_FIELDS

DATA = DATA


def make(kind, name, spec=None, **top):
    version = KINDS[kind].model_fields["api_version"].default
    found = {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **top}
    return found if spec is None else {**found, "spec": spec}


def pod(name="p", owner=None, status=None, **spec):
    found = make("Pod", name, {"containers": [{"name": "c", "image": "i"}], **spec}, status=status or {})
    if owner is not None:
        found["metadata"]["ownerReferences"] = [{"kind": owner, "name": "w", "controller": True}]
    return found


def of_claim(**more):
    return pod(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}], **more)


def claim(**spec):
    asked = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return make("PersistentVolumeClaim", "data", {**asked, **spec})


def of_devices(**entry):
    return pod(resourceClaims=[{"name": "g", **entry}])


def other_namespaces(selector, kind="podAffinity"):
    term = {"topologyKey": "zone", "labelSelector": {}, "namespaceSelector": selector}
    return pod(affinity={kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})


VOLUME = make(
    "PersistentVolume",
    "pv",
    {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "csi": {"driver": "d", "volumeHandle": "h"},
    },
)
REQUESTS = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
DEVICES = make("ResourceClaim", "gpus", REQUESTS)
TEMPLATE = make("ResourceClaimTemplate", "gpus", {"spec": REQUESTS})
RESULT = {"request": "r", "driver": "d", "pool": "p", "device": "0"}
ALLOCATED = make("ResourceClaim", "gpus", REQUESTS, status={"allocation": {"devices": {"results": [RESULT]}}})
MADE = {"resourceClaimStatuses": [{"name": "g", "resourceClaimName": "gpus"}]}
SELECTOR = {"matchLabels": {"team": "a"}}

MISSING = [
    ("a pod without anything depends on nothing", [pod()], []),
    ("a claim", [of_claim()], ["PersistentVolumeClaim"]),
    ("a claim of a pod that runs", [of_claim(nodeName="n")], ["PersistentVolumeClaim"]),
    ("a claim of a pod that has finished", [of_claim(status={"phase": "Succeeded"})], []),
    ("one claim is there and another is not", [of_claim(), claim() | {"metadata": {"name": "x"}}], []),
    ("the volume of a bound claim", [of_claim(), claim(volumeName="pv")], ["PersistentVolume"]),
    ("the class of a claim that waits", [of_claim(), claim(storageClassName="fast")], ["StorageClass"]),
    ("a claim without a class", [of_claim(), claim(storageClassName="")], []),
    ("a claim that no pod uses", [pod(), claim(storageClassName="fast")], []),
    ("volumes of a driver on a node", [of_claim(), claim(volumeName="pv"), VOLUME], ["CSINode"]),
    ("a pod that has its node", [of_claim(nodeName="n"), claim(volumeName="pv"), VOLUME], []),
    ("an inline volume", [pod(volumes=[{"name": "v", "csi": {"driver": "d"}}])], ["CSINode"]),
    ("a claim to devices", [of_devices(resourceClaimName="gpus")], ["ResourceClaim"]),
    (
        "the devices of a claim",
        [of_devices(resourceClaimName="gpus"), DEVICES],
        ["DeviceClass", "ResourceSlice"],
    ),
    ("devices that are chosen already", [of_devices(resourceClaimName="gpus"), ALLOCATED], []),
    ("a template", [of_devices(resourceClaimTemplateName="gpus")], ["ResourceClaimTemplate"]),
    (
        "the devices of a template",
        [of_devices(resourceClaimTemplateName="gpus"), TEMPLATE],
        ["DeviceClass", "ResourceSlice"],
    ),
    (
        "a claim that was made from a template",
        [pod(resourceClaims=[{"name": "g", "resourceClaimTemplateName": "gpus"}], status=MADE)],
        ["ResourceClaim"],
    ),
    ("a pod group", [pod(schedulingGroup={"podGroupName": "g"})], ["PodGroup"]),
    ("a Workload", [pod(workloadRef={"name": "w", "podGroup": "g"})], ["Workload"]),
    ("namespaces for a selector", [other_namespaces(SELECTOR)], ["Namespace"]),
    ("namespaces to be away from", [other_namespaces(SELECTOR, "podAntiAffinity")], ["Namespace"]),
    ("a selector of all namespaces", [other_namespaces({})], []),
    ("the owner of a pod that waits", [pod(owner="ReplicaSet")], ["ReplicaSet"]),
    ("the owner of a pod that runs", [pod(owner="ReplicaSet", nodeName="n")], []),
    ("an owner by which nothing is spread", [pod(owner="Job")], []),
]


def kinds(lines):
    return [line.split("depends on ")[1].split(",")[0] for line in lines]


def plural(kind):
    return f"{kind}es" if kind.endswith("s") else f"{kind}s"


@pytest.mark.parametrize("objects, missing", [row[1:] for row in MISSING], ids=[row[0] for row in MISSING])
def test_a_kind_that_pods_depend_on_and_the_input_lacks_is_noted(objects, missing):
    lines = missing_kinds(snapshot_of(objects))
    assert kinds(lines) == [plural(kind) for kind in missing]
    for kind, line in zip(missing, lines, strict=True):
        assert f"add {resource(kind)} to `kubectl get`" in line
        assert "\n" not in line


@pytest.mark.parametrize("objects, missing", [row[1:] for row in MISSING], ids=[row[0] for row in MISSING])
def test_what_comes_later_is_not_missing(objects, missing):
    assert missing_kinds(snapshot_of(objects), missing) == []


PART = make(
    "PodGroup",
    "g",
    {
        "schedulingPolicy": {"basic": {}},
        "parentCompositePodGroupName": "tree",
        "workloadRef": {"workloadName": "w", "templateName": "g"},
    },
    apiVersion="scheduling.k8s.io/v1alpha3",
)
TREE = make(
    "CompositePodGroup",
    "tree",
    {
        "schedulingPolicy": {"gang": {"minGroupCount": 1}},
        "workloadRef": {"workloadName": "w", "templateName": "tree"},
    },
    apiVersion="scheduling.k8s.io/v1alpha3",
)
MEMBER = pod(schedulingGroup={"podGroupName": "g"})
PARENTS = [
    ("the parent of a pod's group", [MEMBER, PART], "1.37", FeatureGates(), ["CompositePodGroup"]),
    ("a parent that is there", [MEMBER, PART, TREE], "1.37", FeatureGates(), []),
    ("the parent of a group without pods", [pod(), PART], "1.37", FeatureGates(), []),
    ("a release that knows no parents", [MEMBER, PART], "1.36", FeatureGates(), []),
    (
        "a scheduler that overlooks parents",
        [MEMBER, PART],
        "1.37",
        FeatureGates(frozenset({"CompositePodGroup"})),
        [],
    ),
]


@pytest.mark.parametrize(
    "objects, release, gates, missing", [row[1:] for row in PARENTS], ids=[row[0] for row in PARENTS]
)
def test_a_parent_that_the_input_lacks_is_noted_where_the_scheduler_knows_parents(
    objects, release, gates, missing
):
    found = replace(snapshot_of(objects, feature_gates=gates), kube_version=KubeVersion(release))
    lines = missing_kinds(found)
    assert kinds(lines) == [plural(kind) for kind in missing]
    assert all("compositepodgroups.scheduling.k8s.io" in line for line in lines)


def test_a_note_counts_pods():
    pods = [of_claim(), of_claim()]
    pods[1]["metadata"] = {"name": "q"}
    (line,) = missing_kinds(snapshot_of(pods))
    assert line.startswith(
        "2 pods depend on PersistentVolumeClaims, of which the input has none, so each counts"
    )


def test_workloads_of_pods_in_a_cluster_that_goes_on():
    owned = [
        pod(f"p-{kind.lower()}", kind, nodeName="n") for kind in ("ReplicaSet", "Job", "Node", "DaemonSet")
    ]
    snapshot = snapshot_of(owned)
    assert kinds(missing_owners(snapshot)) == ["ReplicaSets", "DaemonSets", "Jobs"]
    assert kinds(missing_owners(snapshot, ["Job", "ReplicaSet"])) == ["DaemonSets"]


# Unknown fields.

SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
UNKNOWN = [
    (
        "in a constraint",
        pod(topologySpreadConstraints=[SPREAD, SPREAD | {"labelSelecter": {}}]),
        "spec.topologySpreadConstraints[1].labelSelecter",
        "labelSelector",
    ),
    ("in a pod", pod(toleration=[]), "spec.toleration", "tolerations"),
    ("beside the spec", make("Node", "n", sepc={}), "sepc", "spec"),
    (
        "in metadata",
        make("Node", "n") | {"metadata": {"name": "n", "lables": {}}},
        "metadata.lables",
        "labels",
    ),
    (
        "in a container's resources",
        pod(containers=[{"name": "c", "resources": {"request": {"cpu": "1"}}}]),
        "spec.containers[0].resources.request",
        "requests",
    ),
    (
        "in a pod template",
        make("Deployment", "d", {"template": {"spec": {"containers": [], "nodeSelecter": {}}}}),
        "spec.template.spec.nodeSelecter",
        "nodeSelector",
    ),
    (
        "in a budget",
        make("PodDisruptionBudget", "b", {"minAvailible": 1}),
        "spec.minAvailible",
        "minAvailable",
    ),
    (
        "in a group's policy",
        make("PodGroup", "g", {"schedulingPolicy": {"gang": {"minCount": 2, "minimumCount": 2}}}),
        "spec.schedulingPolicy.gang.minimumCount",
        "minCount",
    ),
    (
        "in a map of parts",
        make(
            "ResourceSlice",
            "s",
            {"devices": [{"name": "d", "capacity": {"m": {"value": "1", "valeu": "2"}}}]},
        ),
        "spec.devices[0].capacity[m].valeu",
        "value",
    ),
    (
        "in a device of an earlier version",
        make("ResourceSlice", "s", {"devices": [{"name": "d", "basic": {"attribute": {}}}]}),
        "spec.devices[0].basic.attribute",
        "attributes",
    ),
    ("like nothing", pod(colour="blue"), "spec.colour", ""),
]


@pytest.mark.parametrize("raw, path, nearest", [row[1:] for row in UNKNOWN], ids=[row[0] for row in UNKNOWN])
def test_an_unknown_field_is_found_where_it_stands(raw, path, nearest):
    (found,) = unknown_fields(KINDS[raw["kind"]], raw)
    assert found == (path, nearest)


KNOWN = [
    ("parts of a pod that play no part", pod(securityContext={"x": 1}, hostAliases=[], dnsPolicy="Default")),
    (
        "parts of a container that play no part",
        pod(
            containers=[{"name": "c", "env": [{"x": 1}], "volumeMounts": [], "startupProbe": {}, "tty": True}]
        ),
    ),
    (
        "names of resources",
        pod(overhead={"x.com/y": 1}, containers=[{"name": "c", "resources": {"limits": {"z": 1}}}]),
    ),
    (
        "labels and annotations",
        make("Node", "n") | {"metadata": {"labels": {"a": "b"}, "managedFields": [{}]}},
    ),
    (
        "arguments of plugins",
        make("KubeSchedulerConfiguration", "c", profiles=[{"pluginConfig": [{"args": {"x": 1}}]}]),
    ),
    (
        "a request of an earlier version",
        make(
            "ResourceClaim",
            "c",
            {"devices": {"requests": [{"name": "r", "deviceClassName": "g", "count": 1}]}},
        ),
    ),
    ("what is no map at all", make("Pod", "p", [1])),
    ("a list of other things", pod(containers=[1, None, [{"x": 1}]])),
]


@pytest.mark.parametrize("raw", [row[1] for row in KNOWN], ids=[row[0] for row in KNOWN])
def test_what_the_api_has_is_known(raw):
    assert list(unknown_fields(KINDS[raw["kind"]], raw)) == []


def test_recorded_objects_have_no_unknown_field():
    seen = 0
    for file in sorted((DATA / "conformance").glob("*/*.instance.json.gz")):
        for raw in json.loads(gzip.decompress(file.read_bytes()))["items"]:
            seen += 1
            assert list(unknown_fields(find_kind(raw["kind"], raw["apiVersion"]), raw)) == []
    assert seen > 1000


def models(base=KubeModel):
    for model in base.__subclasses__():
        yield model
        yield from models(model)


def test_the_table_of_fields_speaks_of_models_and_of_what_they_leave_out():
    by_name = {model.__name__: model for model in models()}
    assert set(UNREAD_FIELDS) <= set(by_name)
    for name, fields in UNREAD_FIELDS.items():
        assert not fields & {field.alias for field in by_name[name].model_fields.values()}, name


def test_notes_count_what_is_alike_and_name_the_first():
    pods = [pod(f"p{n}", tolerationz=[]) for n in range(3)] + [pod("q", nodSelector={})]
    assert snapshot_of(pods, name="f").notes == (
        "f: Pod default/p0: spec.tolerationz: an unknown field, which is ignored (and 2 more like it);"
        " did you mean tolerations?",
        "f: Pod default/q: spec.nodSelector: an unknown field, which is ignored; did you mean nodeSelector?",
    )


def test_notes_are_a_few_lines():
    notes = snapshot_of([pod(**{f"colour{n}": "blue" for n in range(30)})]).notes
    assert len(notes) == 6
    assert notes[-1] == "25 other unknown fields are ignored, too"


def test_a_required_field_that_is_misspelt_is_named_in_the_error():
    wrong = {"toplogyKey": "zone", **{name: value for name, value in SPREAD.items() if name != "topologyKey"}}
    with pytest.raises(InputError) as caught:
        snapshot_of([pod(topologySpreadConstraints=[SPREAD, wrong])])
    assert str(caught.value).endswith(
        "spec.topologySpreadConstraints[1].topologyKey: required; there is toplogyKey, which is unknown"
    )
