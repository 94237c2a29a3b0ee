"""A seeded generator of one tree of groups in a cluster of blocks and racks: Kubernetes objects.

It stands for a training job of replicas that want racks in one block, and is no recording. Racks are partly
in use, by pods that nobody here can evict. PodGroups are cut to what is free in the racks of one block, so
that little is left over; in some rounds one PodGroup more has to fit than there is room for.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .generated import Manifest

RACK = "topology.kubernetes.io/rack"
BLOCK = "topology.kubernetes.io/block"


def tree(seed: int, *, nodes: int = 200) -> list[Manifest]:
    """Return a round with one tree: two to four levels, gangs at most of them.

    Parameters
    ----------
    seed : int
    nodes : int
        Most nodes of the cluster; the tree has at most as many groups.
    """
    return _Tree(random.Random(f"tree/{seed}/{nodes}"), nodes).objects()


class _Tree:
    def __init__(self, rng: random.Random, nodes: int) -> None:
        self._rng = rng
        per_rack = rng.choice([1, 2, 4, 8])
        racks = max(2, rng.randint(8, nodes) // per_rack)
        blocks = max(2, min(racks, rng.choice([2, 2, 3, 4, 8])))
        self._racks = {f"rack{r:03d}": f"block{r % blocks}" for r in range(racks)}
        self._free = {
            f"{rack}-node{n}": rng.choice([4, 6, 8]) for rack in self._racks for n in range(per_rack)
        }
        self._full = rng.random() < 0.4
        self._made = 0

    def objects(self) -> list[Manifest]:
        """Write the cluster, what runs in it, and the tree."""
        rng = self._rng
        found = [self._node(name, cpu) for name, cpu in self._free.items()]
        for name, cpu in self._free.items():
            used = rng.choice([0, 0, 1, 2, 3, cpu])
            if used:
                self._free[name] -= used
                found.append(_pod(f"job-{name}", used, node=name))
        block = rng.choice(sorted(set(self._racks.values())))
        racks = [rack for rack, at in self._racks.items() if at == block]
        parts = [part for rack in racks for part in self._cut(rack)]
        rng.shuffle(parts)
        if self._full and parts:
            parts.append(rng.choice(parts))
        return [*found, *self._grow(parts[:150])]

    def _node(self, name: str, cpu: int) -> Manifest:
        rack = name.partition("-")[0]
        labels = {"kubernetes.io/hostname": name, RACK: rack, BLOCK: self._racks[rack]}
        size = {"cpu": str(cpu), "memory": "64Gi", "pods": "110"}
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "status": {"allocatable": size, "capacity": dict(size)},
        }

    def _cut(self, rack: str) -> list[tuple[int, int]]:
        """Cut what is free in a rack into groups of equal pods: (pods, cpu of each)."""
        rng = self._rng
        free = {name: cpu for name, cpu in self._free.items() if name.startswith(f"{rack}-")}
        parts = []
        for _ in range(rng.choice([1, 1, 2, 3])):
            cpu = rng.choice([1, 1, 2, 2, 3])
            room = sum(left // cpu for left in free.values())
            if not room:
                break
            pods = room if rng.random() < 0.5 else rng.randint(1, room)
            parts.append((pods, cpu))
            for name in sorted(free, key=free.__getitem__, reverse=True):
                taken = min(pods, free[name] // cpu)
                free[name] -= taken * cpu
                pods -= taken
        return parts

    def _grow(self, parts: list[tuple[int, int]]) -> list[Manifest]:
        """Put groups of pods below one root, with up to two levels between."""
        rng = self._rng
        levels = rng.choice([0, 1, 1, 2])
        found: list[Manifest] = []
        parents = ["root"]
        children = {"root": 0}
        keys = {"root": BLOCK if rng.random() < 0.8 else None}
        for level in range(levels):
            made = [f"part-{level}-{k}" for k in range(rng.randint(1, 4) * len(parents))]
            for name in made:
                parent = rng.choice(parents)
                children[parent] += 1
                children[name] = 0
                keys[name] = BLOCK if rng.random() < 0.2 else None
                found.append(self._composite(name, parent, keys[name]))
            parents = made
        for k, (pods, cpu) in enumerate(parts):
            parent = rng.choice(parents)
            children[parent] += 1
            found += self._pod_group(f"group-{k:03d}", parent, pods, cpu)
        found.insert(0, self._composite("root", None, keys["root"]))
        # who has no children could never stand
        found = [item for item in found if children.get(item["metadata"]["name"], 1)]
        for item in found:
            if item["kind"] == "CompositePodGroup":
                count = children[item["metadata"]["name"]]
                least = count if rng.random() < 0.8 else max(1, count - 1)
                item["spec"]["schedulingPolicy"] = {"gang": {"minGroupCount": least}}
        return found

    def _created(self) -> str:
        self._made += 1
        return f"2026-01-01T{self._made // 3600:02d}:{self._made // 60 % 60:02d}:{self._made % 60:02d}Z"

    def _composite(self, name: str, parent: str | None, key: str | None) -> Manifest:
        return {
            "apiVersion": "scheduling.k8s.io/v1alpha3",
            "kind": "CompositePodGroup",
            "metadata": {"name": name, "namespace": "default", "creationTimestamp": self._created()},
            "spec": {
                "workloadRef": {"workloadName": "train", "templateName": "part"},
                **({"parentCompositePodGroupName": parent} if parent else {}),
                "schedulingConstraints": {"topology": [{"key": key}] if key else []},
            },
        }

    def _pod_group(self, name: str, parent: str, pods: int, cpu: int) -> list[Manifest]:
        rng = self._rng
        least = pods if rng.random() < 0.8 else max(1, pods - 1)
        key = RACK if rng.random() < 0.85 else None
        group: Manifest = {
            "apiVersion": "scheduling.k8s.io/v1beta1",
            "kind": "PodGroup",
            "metadata": {"name": name, "namespace": "default", "creationTimestamp": self._created()},
            "spec": {
                "workloadRef": {"workloadName": "train", "templateName": "workers"},
                "parentCompositePodGroupName": parent,
                "schedulingPolicy": {"gang": {"minCount": least}},
                "schedulingConstraints": {"topology": [{"key": key}] if key else []},
            },
        }
        return [group, *(_pod(f"{name}-{k}", cpu, group=name) for k in range(pods))]


def _pod(name: str, cpu: int, *, node: str = "", group: str = "") -> Manifest:
    requests = {"cpu": str(cpu), "memory": "1Gi"}
    spec: Manifest = {
        "priority": 1000,
        "containers": [
            {"name": "main", "image": "registry.example/train:1", "resources": {"requests": requests}}
        ],
    }
    if node:
        spec["nodeName"] = node
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
        "status": {"phase": "Running" if node else "Pending"},
    }
