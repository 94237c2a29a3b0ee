"""What is accepted although it looks odd; what is refused is in tests/instances/broken."""

import pytest

from kubestow.models.errors import InputError
from kubestow.models.kinds import KINDS
from kubestow.models.validation import RULES, check, faults, read

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


ACCEPTED = [
    ("a pod with a container and nothing else", "Pod", MAIN),
    ("a name that the API server would refuse", "Pod", {"containers": [{"name": "Main Thing"}]}),
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
    ("a group of groups", "CompositePodGroup", {"schedulingPolicy": {"gang": {"minGroupCount": 2}}}),
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
    ("an attachment", "VolumeAttachment", {"attacher": "a", "nodeName": "n", "source": {}}),
    (
        "a Deployment",
        "Deployment",
        {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b", "c": "d"}}, "spec": MAIN},
        },
    ),
    ("a ReplicationController without a template", "ReplicationController", {"selector": {"a": "b"}}),
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
]


@pytest.mark.parametrize("row", ACCEPTED, ids=[row[0] for row in ACCEPTED])
def test_accepted(row):
    _, kind, spec, *fields = row
    assert list(faults(item(kind, spec, **(fields[0] if fields else {})))) == []


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
    assert RULES.keys() <= KINDS.keys()
