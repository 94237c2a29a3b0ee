"""What is accepted although it looks odd; what is refused is in tests/instances/broken."""

import pytest

from kubestow.models.errors import InputError
from kubestow.models.kinds import KINDS
from kubestow.models.validation import RULES, check, creation_faults, faults, read
from kubestow.models.validation.creation import NEW_RULES

MAIN = {"containers": [{"name": "main"}]}


def item(kind, spec=None, **fields):
    raw = {"kind": kind, "apiVersion": "v1", "metadata": {"name": "x"}, **fields}
    if spec is not None:
        raw["spec"] = spec
    return read(KINDS[kind], raw, "f.yaml")


def spread(**fields):
    return {**MAIN, "topologySpreadConstraints": [{"topologyKey": "zone", "maxSkew": 1, **fields}]}


def affinity(**fields):
    return {**MAIN, "affinity": fields}


def node_terms(*terms):
    required = {"nodeSelectorTerms": list(terms)}
    return affinity(nodeAffinity={"requiredDuringSchedulingIgnoredDuringExecution": required})


def claim(request, **fields):
    return {"devices": {"requests": [{"name": "r", **request}], **fields}}


GPU = {"resourceClaims": [{"name": "g", "resourceClaimName": "c"}]}
POOL = {"driver": "d", "pool": {"name": "p"}}


def main(**fields):
    return {"containers": [{"name": "main", **fields}]}


FROM_TEMPLATE = {"workloadName": "w", "templateName": "t"}
ALL = {"all": {}}


def leaf(name, mode=None):
    return {"name": name, "schedulingPolicy": {"gang": {"minCount": 2}}, "disruptionMode": mode or "single"}


def branch(name, *children, mode=None):
    """A template of a group of groups, with those of its children."""
    return {
        "name": name,
        "schedulingPolicy": {"gang": {"minGroupCount": len(children)}},
        "disruptionMode": mode or "single",
        "compositePodGroupTemplates": [c for c in children if "podGroupTemplates" in c],
        "podGroupTemplates": [c for c in children if "podGroupTemplates" not in c],
    }


OWNER = {"kind": "ReplicaSet", "name": "web", "controller": True}
TERM = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "a"}}}
GI = 2**30


def term(**fields):
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [{**TERM, **fields}]}
    return affinity(podAntiAffinity=required)


def tolerating(**fields):
    return {**MAIN, "tolerations": [{"key": "a", **fields}]}


def tolerated(*tolerations):
    return claim({"exactly": {"deviceClassName": "g", "tolerations": list(tolerations)}})


def rolling(**fields):
    return {
        "selector": {"matchLabels": {"a": "b"}},
        "strategy": {"rollingUpdate": fields},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": MAIN},
    }


CAPACITY = {"storageClassName": "s", "maximumVolumeSize": "-1"}


def device(**fields):
    return {**POOL, "allNodes": True, "devices": [{"name": "d", **fields}]}


def shared(**policy):
    capacity = {"memory": {"value": 8 * GI, "requestPolicy": policy}}
    return device(allowMultipleAllocations=True, capacity=capacity)


ACCEPTED = [
    ("a pod with a container and nothing else", "Pod", MAIN),
    ("a name in capitals", "Pod", MAIN, {"metadata": {"name": "P1", "namespace": "Team-A"}}),
    ("an owner without a uid", "Pod", MAIN, {"metadata": {"name": "p", "ownerReferences": [OWNER]}}),
    ("no limit beside an extended resource", "Pod", main(resources={"requests": {"x.com/gpu": "1"}})),
    (
        "a request at its limit",
        "Pod",
        main(resources={"requests": {"cpu": "1"}, "limits": {"cpu": "1000m"}}),
    ),
    ("a container port without a host port", "Pod", main(ports=[{"containerPort": 65535}])),
    (
        "one host port for two protocols",
        "Pod",
        main(ports=[{"containerPort": 1, "hostPort": 5, "protocol": kind} for kind in ("TCP", "UDP")]),
    ),
    (
        "one topology key hard and soft",
        "Pod",
        MAIN
        | {
            "topologySpreadConstraints": [
                {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": way}
                for way in ("DoNotSchedule", "ScheduleAnyway")
            ]
        },
    ),
    ("minDomains on a hard constraint", "Pod", spread(whenUnsatisfiable="DoNotSchedule", minDomains=7)),
    (
        "both fallback criteria",
        "Pod",
        spread(
            whenUnsatisfiable="DoNotSchedule",
            fallbackCriteria=["PreemptionFailed", "NodeProvisioningFailed"],
        ),
    ),
    (
        "an empty list of fallback criteria on a soft constraint",
        "Pod",
        spread(whenUnsatisfiable="ScheduleAnyway", fallbackCriteria=[]),
    ),
    ("a toleration of everything", "Pod", {**MAIN, "tolerations": [{"operator": "Exists"}]}),
    ("two equal tolerations", "Pod", {**MAIN, "tolerations": [{"key": "a"}, {"key": "a"}]}),
    ("a node selector term without conditions", "Pod", node_terms({})),
    (
        "Gt with a text",
        "Pod",
        node_terms({"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["x"]}]}),
    ),
    ("an affinity without terms", "Pod", affinity(podAffinity={}, nodeAffinity={})),
    (
        "a guard at the system's priority",
        "Pod",
        {**MAIN, "allowDisruptionByPriorityGreaterThanOrEqual": 2_000_000_000},
    ),
    ("a priority of the system", "Pod", {**MAIN, "priority": 2_000_001_000}),
    ("a negative priority", "Pod", {**MAIN, "priority": -5}),
    ("a claim that a container uses", "Pod", main(resources={"claims": [{"name": "g"}]}) | GPU),
    (
        "one container uses two requests of a claim",
        "Pod",
        main(resources={"claims": [{"name": "g", "request": which} for which in "xy"]}) | GPU,
    ),
    (
        "one taint key with two effects",
        "Node",
        {"taints": [{"key": "a", "effect": effect} for effect in ("NoSchedule", "NoExecute")]},
    ),
    ("a budget without a bound", "PodDisruptionBudget", {}),
    ("a budget of nothing", "PodDisruptionBudget", {"maxUnavailable": 0}),
    ("a budget of all", "PodDisruptionBudget", {"minAvailable": "100%"}),
    (
        "a class of the system",
        "PriorityClass",
        None,
        {"metadata": {"name": "system-node-critical"}, "value": 2_000_001_000},
    ),
    ("a negative class", "PriorityClass", None, {"value": -10}),
    (
        "a basic group with a hint on its size",
        "PodGroup",
        {"schedulingPolicy": {"basic": {"desiredCount": 4}}},
    ),
    (
        "a group of groups",
        "CompositePodGroup",
        {"schedulingPolicy": {"gang": {"minGroupCount": 2}}, "workloadRef": FROM_TEMPLATE},
    ),
    (
        "a workload with a tree of templates",
        "Workload",
        {"compositePodGroupTemplates": [branch("root", branch("replica", leaf("workers"), leaf("driver")))]},
    ),
    (
        "a tree of four levels",
        "Workload",
        {"compositePodGroupTemplates": [branch("a", branch("b", branch("c", leaf("d"))))]},
    ),
    (
        "a tree of which a part is disrupted whole",
        "Workload",
        {"compositePodGroupTemplates": [branch("root", branch("part", leaf("g", ALL), mode=ALL))]},
    ),
    (
        "a claim for all devices",
        "ResourceClaim",
        claim({"exactly": {"deviceClassName": "g", "allocationMode": "All"}}),
    ),
    (
        "a claim with alternatives, and a constraint on one",
        "ResourceClaim",
        claim(
            {"firstAvailable": [{"name": "a", "deviceClassName": "g"}]},
            constraints=[{"requests": ["r/a"], "matchAttribute": "x.com/y"}],
        ),
    ),
    ("a claim without requests", "ResourceClaim", {"devices": {}}),
    ("a slice for all nodes", "ResourceSlice", {**POOL, "allNodes": True}),
    (
        "a slice with counters only",
        "ResourceSlice",
        {**POOL, "sharedCounters": [{"name": "c", "counters": {"m": {"value": "1"}}}]},
    ),
    (
        "count 0 beside All is no count",
        "ResourceClaim",
        claim({"exactly": {"deviceClassName": "g", "allocationMode": "All", "count": 0}}),
    ),
    (
        "a slice with taints and per-device nodes",
        "ResourceSlice",
        {
            **POOL,
            "perDeviceNodeSelection": True,
            "devices": [{"name": "d", "nodeName": "n", "taints": [{"key": "k", "effect": "None"}]}],
        },
    ),
    (
        "a claim that is allocated",
        "ResourceClaim",
        claim({"exactly": {"deviceClassName": "g"}}),
        {"status": {"allocation": {"devices": {"results": []}, "nodeSelector": {"nodeSelectorTerms": [{}]}}}},
    ),
    ("a class of devices", "DeviceClass", {"selectors": [{"cel": {"expression": "true"}}]}),
    ("a class of all devices", "DeviceClass", {}),
    (
        "a rule that taints devices",
        "DeviceTaintRule",
        {
            "deviceSelector": {"selectors": [{"cel": {"expression": "true"}}]},
            "taint": {"key": "k", "effect": "NoExecute"},
        },
    ),
    (
        "a volume of one node",
        "PersistentVolume",
        {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{}]}},
        },
    ),
    (
        "a claim of a volume",
        "PersistentVolumeClaim",
        {"accessModes": ["ReadWriteOncePod"], "resources": {"requests": {"storage": "1"}}, "selector": {}},
    ),
    (
        "a storage class of two zones",
        "StorageClass",
        None,
        {
            "provisioner": "p",
            "allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": ["a", "b"]}]}],
        },
    ),
    ("a driver without a limit", "CSINode", {"drivers": [{"name": "d", "nodeID": "n"}]}),
    (
        "free storage",
        "CSIStorageCapacity",
        None,
        {"storageClassName": "s", "capacity": "1Gi", "nodeTopology": {}},
    ),
    (
        "an attachment",
        "VolumeAttachment",
        {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}},
    ),
    (
        "a Deployment",
        "Deployment",
        {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b", "c": "d"}}, "spec": MAIN},
        },
    ),
    (
        "a ReplicationController without a selector",
        "ReplicationController",
        {"template": {"metadata": {"labels": {"a": "b"}}, "spec": MAIN}},
    ),
    (
        "a DaemonSet",
        "DaemonSet",
        {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": MAIN},
        },
    ),
    ("a Job without a selector", "Job", {"template": {"spec": MAIN}}),
    ("a kind without rules of its own", "Namespace", None),
    ("a name of 253 letters", "Pod", MAIN, {"metadata": {"name": "a" * 253}}),
    (
        "labels at the limits",
        "Node",
        None,
        {"metadata": {"name": "n", "labels": {f"a.b/{'K' * 63}": "v" * 63}}},
    ),
    ("a label without a value", "Node", None, {"metadata": {"name": "n", "labels": {"a": ""}}}),
    (
        "an annotation key in capitals",
        "Pod",
        MAIN,
        {"metadata": {"name": "p", "annotations": {"A.B/C": "?"}}},
    ),
    ("restart policies of containers", "Pod", main(restartPolicy="OnFailure")),
    (
        "Gt beyond 64 bits",
        "Pod",
        node_terms({"matchExpressions": [{"key": "k", "operator": "Gt", "values": ["9" * 20]}]}),
    ),
    (
        "a wish with a value that no label has",
        "Pod",
        affinity(
            nodeAffinity={
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "weight": 1,
                        "preference": {
                            "matchExpressions": [{"key": "k", "operator": "In", "values": ["a b"]}]
                        },
                    }
                ]
            }
        ),
    ),
    ("a toleration of less than nothing", "Pod", tolerating(operator="Lt", value="-5")),
    (
        "a topology key that is no label",
        "Pod",
        spread(whenUnsatisfiable="DoNotSchedule", topologyKey="a/b/c"),
    ),
    (
        "a label key twice that the pod does not have",
        "Pod",
        spread(whenUnsatisfiable="DoNotSchedule", labelSelector={}, matchLabelKeys=["hash", "hash"]),
    ),
    ("a key to mismatch in the selector", "Pod", term(mismatchLabelKeys=["app"])),
    ("a namespace twice", "Pod", term(namespaces=["a", "a"])),
    (
        "an address with leading zeros",
        "Pod",
        main(ports=[{"containerPort": 1, "hostPort": 1, "hostIP": "010.0.0.1"}]),
    ),
    ("an IPv6 address", "Pod", main(ports=[{"containerPort": 1, "hostPort": 1, "hostIP": "::1"}])),
    (
        "a host port at one address and at all",
        "Pod",
        main(
            ports=[
                {"containerPort": 1, "hostPort": 5},
                {"containerPort": 2, "hostPort": 5, "hostIP": "10.0.0.2"},
            ]
        ),
    ),
    (
        "an init container with the host port of a container",
        "Pod",
        {
            "containers": [{"name": "a", "ports": [{"containerPort": 1, "hostPort": 1}]}],
            "initContainers": [{"name": "b", "ports": [{"containerPort": 1, "hostPort": 1}]}],
        },
    ),
    ("a container port twice", "Pod", main(ports=[{"containerPort": 1}, {"containerPort": 1}])),
    (
        "a resource of Kubernetes' own domain",
        "Pod",
        main(resources={"limits": {"deviceclass.resource.kubernetes.io/gpu": 1}}),
    ),
    ("a gate in capitals", "Pod", {**MAIN, "schedulingGates": [{"name": "Foo"}]}),
    ("a scheduler of any name", "Pod", {**MAIN, "schedulerName": "A_B"}),
    (
        "a volume of a claim of any name",
        "Pod",
        {**MAIN, "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "A B"}}]},
    ),
    ("capacities of any name", "Node", None, {"status": {"capacity": {"a b": 1, "foo": 2}}}),
    ("a surge without end", "Deployment", rolling(maxSurge="200000%")),
    ("a Job that restarts on failure", "Job", {"template": {"spec": {**MAIN, "restartPolicy": "OnFailure"}}}),
    (
        "a group that is disrupted as a whole under the basic policy, in v1alpha2",
        "PodGroup",
        {"schedulingPolicy": {"basic": {}}, "disruptionMode": "PodGroup"},
        {"apiVersion": "scheduling.k8s.io/v1alpha2"},
    ),
    (
        "a volume of one disk elsewhere",
        "PersistentVolume",
        {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": 1}, "nfs": {"server": "s", "path": "/"}},
    ),
    (
        "a storage class without a policy",
        "StorageClass",
        None,
        {"provisioner": "P.io/x", "reclaimPolicy": "", "allowedTopologies": []},
    ),
    ("a claim with a negative limit of free storage", "CSIStorageCapacity", None, CAPACITY),
    ("a device toleration of an empty key", "ResourceClaim", tolerated({"value": "x"})),
    (
        "a constraint on a domain in capitals",
        "ResourceClaim",
        claim({"exactly": {"deviceClassName": "g"}}, constraints=[{"matchAttribute": "D.x/a"}]),
    ),
    ("a pool of two parts", "ResourceSlice", {**POOL, "pool": {"name": "a/b"}, "allNodes": True}),
    ("an attribute with a list", "ResourceSlice", device(attributes={"a": {"ints": [1, 2]}})),
    ("a capacity without a value", "ResourceSlice", device(capacity={"m": {}})),
    (
        "a taint twice on a device",
        "ResourceSlice",
        device(taints=[{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoSchedule"}]),
    ),
    (
        "conditions before binding",
        "ResourceSlice",
        device(bindingConditions=["A"], bindingFailureConditions=["B"]),
    ),
    ("a policy of values", "ResourceSlice", shared(default=GI, validValues=[GI, 2 * GI])),
    (
        "a policy of steps",
        "ResourceSlice",
        shared(default=GI, validRange={"min": GI, "max": 3 * GI, "step": GI}),
    ),
    ("a policy of a default alone", "ResourceSlice", shared(default=GI)),
    (
        "a policy of steps smaller than one",
        "ResourceSlice",
        shared(default="1", validRange={"min": "500m", "step": "300m"}),
    ),
    (
        "a range beyond the capacity",
        "ResourceSlice",
        shared(default=GI, validRange={"min": GI, "max": 9 * GI}),
    ),
    (
        "a policy of a device that is not shared",
        "ResourceSlice",
        device(capacity={"m": {"value": 1, "requestPolicy": {"validValues": [1]}}}),
    ),
]


@pytest.mark.parametrize("row", ACCEPTED, ids=[row[0] for row in ACCEPTED])
def test_accepted(row):
    _, kind, spec, *fields = row
    new = item(kind, spec, **(fields[0] if fields else {}))
    assert [*creation_faults(new), *faults(new)] == []


def test_all_faults_of_an_object_can_be_listed():
    pod = item("Pod", spread(maxSkew=0, minDomains=-1, whenUnsatisfiable="ScheduleAnyway"))
    assert [fault.field for fault in faults(pod)] == [
        "spec.topologySpreadConstraints[0].maxSkew",
        "spec.topologySpreadConstraints[0].minDomains",
        "spec.topologySpreadConstraints[0].minDomains",
    ]


def test_the_first_fault_is_raised_with_its_parts():
    with pytest.raises(InputError) as caught:
        check(item("PriorityClass", value=1_000_000_001), "f.yaml")
    error = caught.value
    assert (error.file, error.object, error.field) == ("f.yaml", "PriorityClass x", "value")
    assert error.message == "must be at most 1000000000, not 1000000001"
    assert error.exit_code == 2


def test_rules_are_for_kinds_that_exist():
    assert RULES.keys() | NEW_RULES.keys() <= KINDS.keys()
