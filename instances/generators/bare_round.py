"""A round before its constraints: nodes of several sizes, what runs on them, and Deployments that wait.

Every family of one constraint begins with it. What is drawn, in this order:

- Nodes: 8 cpu and 32 GiB; with probability `heterogeneity` half or twice as large, either as likely. Zones
  take turns.
- Running pods: each node is filled up to the share `in_use` of its cpu, with pods of 250m to 1 cpu of four
  apps of priority 0.
- Waiting pods: `nodes · pods_per_node`, shared out among `apps` by weights that are uniform from 0.5 to 2.
  Pods of one app are alike: cpu uniform from 1 to 8 parts, memory 1 to 6 GiB for each cpu, a priority that is
  uniform over `priorities` levels (100, 200, ...). The parts are scaled so that all waiting pods together ask
  for the share `utilisation` of the cpu that is free.
- With probability `density` an app has the constraint of the family, independently of all others.
"""

from __future__ import annotations

from random import Random
from typing import Any

Manifest = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
_CPU = 8000
_MEMORY_PER_CPU = 4096
_RUNNING_APPS = 4


class BareRound:
    """Nodes and pods under construction; constraints change the pods of whole apps.

    Attributes
    ----------
    rng : Random
        Where everything is drawn from.
    nodes, running : list
        Objects.
    apps : dict
        Name to its waiting pods.
    others : list
        Whatever else there is; it stands before the pods.
    """

    def __init__(
        self,
        seed: str,
        *,
        nodes: int,
        zones: int,
        pods_per_node: int,
        apps: int,
        utilisation: float,
        heterogeneity: float,
        priorities: int,
        in_use: float,
    ) -> None:
        self.rng = rng = Random(seed)
        self.others: list[Manifest] = []
        self.zones = [f"zone-{k}" for k in range(min(zones, nodes))]
        self.nodes: list[Manifest] = []
        self.running: list[Manifest] = []
        free = 0
        for n in range(nodes):
            cpu = int(_CPU * (rng.choice([0.5, 2]) if rng.random() < heterogeneity else 1))
            self.nodes.append(_node(f"node-{n:04d}", cpu, self.zones[n % len(self.zones)]))
            free += cpu - self._fill(f"node-{n:04d}", int(cpu * in_use))
        self.apps: dict[str, list[Manifest]] = {}
        self._wait(nodes * pods_per_node, apps, priorities, free * utilisation)

    def _fill(self, node: str, room: int) -> int:
        """Run pods on a node; return what they take."""
        used = 0
        while (cpu := self.rng.choice([250, 500, 1000])) <= room - used:
            used += cpu
            app = f"old-{self.rng.randrange(_RUNNING_APPS)}"
            pod = _pod(f"{app}-{len(self.running):04d}", app, cpu, cpu, 0, created=0)
            pod["spec"]["nodeName"] = node
            pod["status"] = {"phase": "Running", "startTime": pod["metadata"]["creationTimestamp"]}
            self.running.append(pod)
        return used

    def _wait(self, pods: int, apps: int, priorities: int, asked: float) -> None:
        rng = self.rng
        weights = [rng.uniform(0.5, 2.0) for _ in range(apps)]
        drawn = [
            (max(1, round(pods * weight / sum(weights))), rng.randint(1, 8), rng.randint(1, 6))
            for weight in weights
        ]
        part = asked / sum(replicas * parts for replicas, parts, _ in drawn)
        for number, (replicas, parts, gib) in enumerate(drawn):
            name = f"app-{number}"
            cpu = max(10, int(parts * part / 10) * 10)
            priority = 100 * (1 + rng.randrange(priorities))
            self.apps[name] = [
                _pod(f"{name}-{k}", name, cpu, cpu * gib * 1024 // 1000, priority, created=number)
                for k in range(replicas)
            ]

    def objects(self) -> list[Manifest]:
        """Return everything: nodes, what pods name, running and waiting pods."""
        waiting = [pod for pods in self.apps.values() for pod in pods]
        return [*self.nodes, *self.others, *self.running, *waiting]


def _node(name: str, cpu: int, zone: str) -> Manifest:
    size = {"cpu": f"{cpu}m", "memory": f"{cpu * _MEMORY_PER_CPU // 1000}Mi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOSTNAME: name, ZONE: zone}},
        "spec": {},
        "status": {"allocatable": size, "capacity": dict(size)},
    }


def _pod(name: str, app: str, cpu: int, memory: int, priority: int, created: int) -> Manifest:
    requests = {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "labels": {"app": app},
            "creationTimestamp": _time(created),
        },
        "spec": {
            "priority": priority,
            "containers": [
                {"name": "main", "image": "registry.example/app:1", "resources": {"requests": requests}}
            ],
        },
        "status": {"phase": "Pending"},
    }


def _time(seconds: int) -> str:
    """Return a time of the day on which all begins; days later are the same day."""
    minutes, seconds = divmod(seconds, 60)
    return f"2026-01-01T{minutes // 60 % 24:02d}:{minutes % 60:02d}:{seconds:02d}Z"
