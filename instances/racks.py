"""A seeded generator of racks with devices and gangs that want them: Kubernetes objects as JSON values.

It stands for an AI cluster and is no recording: nodes with cards in racks, part of them held by running jobs,
and gangs that start whole, in one rack, with a claim for each member.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from .device_objects import device_claim, device_class, resource_slice

if TYPE_CHECKING:
    from .generated import Manifest

RACK = "topology.kubernetes.io/rack"
DRIVER = "cards.example.com"


def racks(
    seed: int, *, racks: int = 64, nodes: int = 16, devices: int = 8, gangs: int = 60, in_use: float = 0.5
) -> list[Manifest]:
    """Gangs of 8 to 128 members with a rack constraint and device claims, in racks that are partly in use.

    Parameters
    ----------
    racks, nodes, devices : int
        Racks, nodes of a rack, devices of a node.
    gangs : int
        Waiting gangs of three priorities, from 1/16 of a rack's devices to a whole rack.
    in_use : float
        Share of the nodes whose devices running pods hold; some racks are emptier than others.
    """
    rng = random.Random(f"racks/{seed}/{racks}/{nodes}/{devices}/{gangs}/{in_use}")
    objects = [device_class("card", DRIVER)]
    for r in range(racks):
        busy = min(1.0, max(0.0, rng.gauss(in_use, 0.3)))
        for n in range(nodes):
            name = f"rack{r:03d}-node{n:02d}"
            objects += [_node(name, f"rack{r:03d}"), _slice(name, devices)]
            if rng.random() < busy:
                objects += _job(name, devices, rng.randint(1, devices))
    whole = nodes * devices
    for g in range(gangs):
        members = max(2, whole * rng.choice([1, 2, 2, 3, 4, 4, 6, 8, 12, 16]) // 16)
        each = rng.choice([1, 1, 2]) if members * 2 <= whole else 1
        objects += _gang(f"gang{g:03d}", members, each, rng.choice([100, 1000, 10000]), created=g)
    return objects


def _node(name: str, rack: str) -> Manifest:
    size = {"cpu": "64", "memory": "512Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, RACK: rack}},
        "status": {"allocatable": dict(size), "capacity": dict(size)},
    }


def _slice(node: str, devices: int) -> Manifest:
    cards = [{"name": f"card-{d}"} for d in range(devices)]
    return resource_slice(f"{node}-cards", node, DRIVER, devices=cards)


def _job(node: str, devices: int, held: int) -> list[Manifest]:
    """A running pod that holds some of a node's devices and that no pod here can evict."""
    results = [
        {"request": "cards", "driver": DRIVER, "pool": node, "device": f"card-{d}"} for d in range(held)
    ]
    only = [{"key": "metadata.name", "operator": "In", "values": [node]}]
    claim = _claim(f"{node}-job", held)
    claim["status"] = {
        "allocation": {
            "devices": {"results": results},
            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": only}]},
        },
        "reservedFor": [{"resource": "pods", "name": f"{node}-job", "uid": f"{node}-job"}],
    }
    pod = _pod(f"{node}-job", f"{node}-job", 100000, created=0)
    pod["metadata"]["uid"] = f"{node}-job"
    pod["spec"]["nodeName"] = node
    pod["status"] = {"phase": "Running"}
    return [claim, pod]


def _gang(name: str, members: int, each: int, priority: int, created: int) -> list[Manifest]:
    group: Manifest = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "schedulingPolicy": {"gang": {"minCount": members}},
            "schedulingConstraints": {"topology": [{"key": RACK}]},
        },
    }
    objects = [group]
    for k in range(members):
        pod = _pod(f"{name}-{k}", f"{name}-{k}", priority, created)
        pod["spec"]["schedulingGroup"] = {"podGroupName": name}
        objects += [_claim(f"{name}-{k}", each), pod]
    return objects


def _claim(name: str, count: int) -> Manifest:
    return device_claim(name, "cards", {"deviceClassName": "card", "count": count})


def _pod(name: str, claim: str, priority: int, created: int) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "creationTimestamp": f"2026-01-01T{created // 60:02d}:{created % 60:02d}:00Z",
        },
        "spec": {
            "priority": priority,
            "resourceClaims": [{"name": "cards", "resourceClaimName": claim}],
            "containers": [
                {
                    "name": "main",
                    "image": "registry.example/train:1",
                    "resources": {"requests": {"cpu": "2", "memory": "8Gi"}, "claims": [{"name": "cards"}]},
                }
            ],
        },
        "status": {"phase": "Pending"},
    }
