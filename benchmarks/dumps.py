"""Dumps of large clusters, as kubectl prints them, written a pod at a time."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

START = datetime(2026, 3, 1, 8, tzinfo=UTC)
PODS_A_NODE = 30
PODS_AN_APP = 25
MONTH = 30 * 24 * 3600


def write_dump(file: Path, pods: int, *, full: bool) -> None:
    """Write nodes and pods as one List, four blanks a level.

    Parameters
    ----------
    file : Path
        Where it goes.
    pods : int
        How many, three of four running.
    full : bool
        Whether pods hold all that an API server keeps of them, `managedFields` included, as
        `kubectl get -A -o json` prints them; else what scheduling depends on.
    """
    nodes = -(-pods // PODS_A_NODE)
    with file.open("w") as stream:
        stream.write('{\n    "apiVersion": "v1",\n    "items": [')
        for number, item in enumerate(_items(nodes, pods, full)):
            text = json.dumps(item, indent=4).replace("\n", "\n        ")
            stream.write(f"{',' if number else ''}\n        {text}")
        stream.write(
            '\n    ],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n'
        )


def _items(nodes: int, pods: int, full: bool) -> Iterator[dict[str, Any]]:
    for k in range(nodes):
        yield _node(k)
    for k in range(pods):
        lean = _pod(k, nodes)
        yield _as_stored(lean, k) if full else lean


def _made(k: int) -> int:
    """Return when a pod was made, in seconds after the start: a dump is in the order of names."""
    return k * 48271 % MONTH


def _time(seconds: int) -> str:
    return (START + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _node(k: int) -> dict[str, Any]:
    amounts = {"cpu": "32", "memory": "131072Mi", "ephemeral-storage": "101430960Ki", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": f"node-{k}",
            "uid": f"00000000-0000-4000-9000-{k:012x}",
            "creationTimestamp": _time(0),
            "labels": {"kubernetes.io/hostname": f"node-{k}", "topology.kubernetes.io/zone": f"zone-{k % 3}"},
        },
        "spec": {"providerID": f"aws:///zone-{k % 3}/i-{k:017x}"},
        "status": {"allocatable": amounts, "capacity": amounts},
    }


def _pod(k: int, nodes: int) -> dict[str, Any]:
    app = k // PODS_AN_APP
    labels = {
        "app": f"app-{app}",
        "pod-template-hash": f"{app * 7919 % 2**32:08x}",
        "tier": f"tier-{app % 4}",
    }
    spec: dict[str, Any] = {
        "containers": [
            {
                "name": "main",
                "image": f"registry.example/app-{app}:1.{app % 7}",
                "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}],
                "resources": {
                    "limits": {"memory": f"{256 * (1 + app % 8)}Mi"},
                    "requests": {"cpu": f"{100 * (1 + app % 9)}m", "memory": f"{256 * (1 + app % 8)}Mi"},
                },
            }
        ],
        "priority": 0,
        "schedulerName": "default-scheduler",
        "tolerations": [
            {
                "effect": "NoExecute",
                "key": f"node.kubernetes.io/{key}",
                "operator": "Exists",
                "tolerationSeconds": 300,
            }
            for key in ("not-ready", "unreachable")
        ],
        "topologySpreadConstraints": [
            {
                "labelSelector": {"matchLabels": {"app": f"app-{app}"}},
                "maxSkew": 1 + app % 3,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "ScheduleAnyway",
            }
        ],
    }
    runs = k % 4 != 3
    if runs:
        spec["nodeName"] = f"node-{k * 31 % nodes}"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"app-{app}-{app * 7919 % 2**32:08x}-{k:05x}",
            "namespace": f"team-{app % 20}",
            "uid": f"00000000-0000-4000-8000-{k:012x}",
            "creationTimestamp": _time(_made(k)),
            "labels": labels,
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1",
                    "blockOwnerDeletion": True,
                    "controller": True,
                    "kind": "ReplicaSet",
                    "name": f"app-{app}-{app * 7919 % 2**32:08x}",
                    "uid": f"00000000-0000-4000-a000-{app:012x}",
                }
            ],
        },
        "spec": spec,
        "status": {"phase": "Running" if runs else "Pending"},
    }


def _as_stored(pod: dict[str, Any], k: int) -> dict[str, Any]:
    """Return a pod with what kubelet, controllers and the API server add to it."""
    meta, spec = pod["metadata"], pod["spec"]
    token = f"kube-api-access-{k:05x}"
    address = f"10.{k >> 16}.{k >> 8 & 255}.{k & 255}"
    meta["annotations"] = {"cni.projectcalico.org/podIP": f"{address}/32", "prometheus.io/scrape": "true"}
    meta["generateName"] = f"{meta['ownerReferences'][0]['name']}-"
    meta["resourceVersion"] = str(1_000_000 + k)
    container = spec["containers"][0]
    container |= {
        "args": ["--listen=:8080", "--log-level=info", f"--shard={k % 16}"],
        "env": [{"name": f"SETTING_{j}", "value": f"value-{j}"} for j in range(1)],
        "imagePullPolicy": "IfNotPresent",
        "volumeMounts": [
            {"mountPath": "/etc/app", "name": "config", "readOnly": True},
            {"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": token, "readOnly": True},
        ],
    }
    sources: list[dict[str, Any]] = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}},
    ]
    spec |= {
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
        "restartPolicy": "Always",
        "securityContext": {},
        "serviceAccount": "default",
        "serviceAccountName": "default",
        "terminationGracePeriodSeconds": 30,
        "volumes": [
            {"configMap": {"defaultMode": 420, "name": "app-config"}, "name": "config"},
            {"name": token, "projected": {"defaultMode": 420, "sources": sources}},
        ],
    }
    meta["managedFields"] = [_managed("kube-controller-manager", _made(k), _owned_spec(pod))]
    if "nodeName" in spec:
        pod["status"] |= _running(pod, k, address)
        meta["managedFields"].append(
            {**_managed("kubelet", _made(k) + 9, _owned_status(address)), "subresource": "status"}
        )
    else:
        condition = {"lastProbeTime": None, "lastTransitionTime": _time(_made(k) + 1), "type": "PodScheduled"}
        told = {"status": "False", "reason": "Unschedulable", "message": "0 nodes are available"}
        pod["status"] |= {"conditions": [{**condition, **told}], "qosClass": "Burstable"}
    return pod


def _running(pod: dict[str, Any], k: int, address: str) -> dict[str, Any]:
    container = pod["spec"]["containers"][0]
    kinds = ("Initialized", "Ready", "ContainersReady", "PodScheduled")
    digest = f"{k * 2654435761 % 2**64:064x}"
    return {
        "conditions": [
            {"lastProbeTime": None, "lastTransitionTime": _time(_made(k) + 5), "status": "True", "type": kind}
            for kind in kinds
        ],
        "containerStatuses": [
            {
                "allocatedResources": container["resources"]["requests"],
                "containerID": f"containerd://{digest}",
                "image": container["image"],
                "imageID": f"{container['image']}@sha256:{digest}",
                "lastState": {},
                "name": "main",
                "ready": True,
                "resources": container["resources"],
                "restartCount": 0,
                "started": True,
                "state": {"running": {"startedAt": _time(_made(k) + 4)}},
            }
        ],
        "hostIP": f"192.168.0.{k % 250}",
        "podIP": address,
        "podIPs": [{"ip": address}],
        "qosClass": "Burstable",
        "startTime": _time(_made(k) + 2),
    }


def _managed(manager: str, seconds: int, fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
        "manager": manager,
        "operation": "Update",
        "time": _time(seconds),
    }


def _owned(value: Any) -> dict[str, Any]:
    """Return the fields of a value as a field manager owns them."""
    if isinstance(value, dict):
        return {".": {}, **{f"f:{name}": _owned(item) for name, item in value.items()}}
    if isinstance(value, list) and value and all(isinstance(item, dict) and "name" in item for item in value):
        return {".": {}, **{f'k:{{"name":"{item["name"]}"}}': _owned(item) for item in value}}
    return {}


def _owned_spec(pod: dict[str, Any]) -> dict[str, Any]:
    meta = {name: pod["metadata"][name] for name in ("generateName", "labels")}
    owner = pod["metadata"]["ownerReferences"][0]
    meta["ownerReferences"] = {}
    owned_here = ("dnsPolicy", "enableServiceLinks", "restartPolicy", "schedulerName", "securityContext")
    spec = {name: pod["spec"][name] for name in owned_here}
    container = dict.fromkeys(("args", "env", "image", "imagePullPolicy", "name", "ports", "resources"))
    owned = {
        "f:metadata": _owned(meta),
        "f:spec": _owned({**spec, "containers": [container | {"name": "main"}]}),
    }
    owned["f:metadata"]["f:ownerReferences"] = {".": {}, f'k:{{"uid":"{owner["uid"]}"}}': {}}
    return owned


def _owned_status(address: str) -> dict[str, Any]:
    kinds = ("Initialized", "Ready", "ContainersReady")
    return {
        "f:status": {
            "f:conditions": {f'k:{{"type":"{kind}"}}': {"f:status": {}} for kind in kinds},
            "f:containerStatuses": {},
            "f:hostIP": {},
            "f:phase": {},
            "f:podIP": {},
            "f:podIPs": {f'k:{{"ip":"{address}"}}': {"f:ip": {}}},
            "f:startTime": {},
        }
    }
