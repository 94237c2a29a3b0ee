"""Seeded generators of instances: Kubernetes objects as JSON values, the same for the same arguments.

They are what `benchmarks/` measures. What each family stands for is said in its docstring; none of it is a
recording.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Manifest = dict[str, Any]


def packing(nodes: int, pods_per_node: int, priorities: int, utilisation: float, seed: int) -> list[Manifest]:
    """Pods that just fill identical nodes, or just do not.

    ReplicaSets of 1 to 4 pods, cpu uniform between 100m and 1000m, memory between 100 and 1000 MB,
    `priorities` priority levels; every node has the sum of all requests over `utilisation` and the number of
    nodes, rounded up. The family of the published constraint-programming fallback for kube-scheduler.
    """
    rng = random.Random(f"packing/{nodes}/{pods_per_node}/{priorities}/{utilisation}/{seed}")
    wanted = nodes * pods_per_node
    pods: list[Manifest] = []
    cpu_sum = memory_sum = 0
    number = 0
    while len(pods) < wanted:
        replicas = min(rng.randint(1, 4), wanted - len(pods))
        cpu, memory, priority = rng.randint(100, 1000), rng.randint(100, 1000), rng.randrange(priorities)
        for k in range(replicas):
            requests = {"cpu": f"{cpu}m", "memory": f"{memory}M"}
            pods.append(_pod(f"rs{number}-{k}", f"rs{number}", requests, priority, created=len(pods)))
        cpu_sum += replicas * cpu
        memory_sum += replicas * memory
        number += 1

    def share(total: int) -> int:
        return -int(-total // (utilisation * nodes))

    size = {"cpu": f"{share(cpu_sum)}m", "memory": f"{share(memory_sum)}M", "pods": "1000"}
    rng.shuffle(pods)
    return [*(_node(n, size, zones=1) for n in range(nodes)), *pods]


def deployments(
    nodes: int,
    seed: int,
    *,
    pods_per_node: int = 10,
    apps: int = 60,
    zones: int = 3,
    in_use: float = 0.5,
    demand: float | None = None,
) -> list[Manifest]:
    """Deployments that wait in a cluster that is partly in use.

    `pods_per_node` pending pods a node from `apps` Deployments of three priorities, half of them spread over
    zones and some over hosts; running pods of lower priorities take `in_use` of the capacity, each app of
    them under a budget. With `demand` the cpu requests are scaled so that all together they ask for this
    share of what is free.
    """
    rng = random.Random(f"deployments/{nodes}/{seed}/{pods_per_node}/{apps}/{zones}/{in_use}")
    size = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    objects = [_node(n, size, zones) for n in range(nodes)]
    objects += _running(rng, nodes, in_use)
    wanted = nodes * pods_per_node
    weights = [rng.uniform(0.5, 2.0) for _ in range(apps)]
    replicas = [max(1, round(wanted * weight / sum(weights))) for weight in weights]
    made = []
    for _ in range(apps):
        cpu, memory = rng.randrange(1, 13) * 100, rng.randrange(1, 17) * 256
        kind = rng.choice(["zone", "zone", "host", "none"])
        made.append((cpu, memory, kind, rng.choice([100, 1000, 10000])))
    asked = sum(count * cpu for count, (cpu, *_) in zip(replicas, made, strict=True))
    scale = 1.0 if demand is None else demand * nodes * 16000 * (1 - in_use) / asked
    for app, (cpu, memory, kind, priority) in enumerate(made):
        name = f"app{app}"
        requests = {"cpu": f"{max(10, round(cpu * scale / 10) * 10)}m", "memory": f"{memory}Mi"}
        spread = _spread(name, kind)
        for k in range(replicas[app]):
            pod = _pod(f"{name}-{k}", name, requests, priority, created=app)
            pod["spec"]["topologySpreadConstraints"] = spread
            objects.append(pod)
    return objects


def one_app(nodes: int, pods: int = 2000) -> list[Manifest]:
    """One app spread over the three zones of an empty cluster, by which kube-scheduler was timed.

    There is nothing to choose, so it has no seed.
    """
    size = {"cpu": "32", "memory": "128Gi", "pods": "110", "ephemeral-storage": "500Gi"}
    objects = [_node(n, size, zones=3) for n in range(nodes)]
    for item in objects:
        item["metadata"]["labels"]["topology.kubernetes.io/region"] = "r1"
    spread = _spread("web", "zone")
    for k in range(pods):
        pod = _pod(f"web-{k:05d}", "web", {"cpu": "500m", "memory": "1Gi"}, priority=0, created=0)
        pod["spec"]["topologySpreadConstraints"] = spread
        objects.append(pod)
    return objects


def rollout(nodes: int, seed: int, *, pods_per_node: int = 4, apps: int = 50) -> list[Manifest]:
    """Deployments that roll out together into an empty cluster of three zones, each spread over the zones.

    `pods_per_node` pending pods a node from `apps` Deployments of one size and different requests; their pods
    come in turns of 20, so that pods of different Deployments follow each other in the queue.
    """
    rng = random.Random(f"rollout/{nodes}/{seed}/{pods_per_node}/{apps}")
    size = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    objects = [_node(n, size, zones=3) for n in range(nodes)]
    for app in range(apps):
        name = f"app{app}"
        requests = {"cpu": f"{rng.randrange(1, 21) * 100}m", "memory": f"{rng.randrange(1, 17) * 256}Mi"}
        spread = _spread(name, "zone")
        for k in range(nodes * pods_per_node // apps):
            pod = _pod(f"{name}-{k}", name, requests, priority=0, created=k // 20)
            pod["spec"]["topologySpreadConstraints"] = spread
            objects.append(pod)
    return objects


def contested(nodes: int, seed: int, *, pods_per_node: int = 30, preemptors: int = 100) -> list[Manifest]:
    """A full cluster, and pods of a higher priority that need the room of running ones.

    `pods_per_node` running pods a node, of 40 apps with five low priorities, of different ages, each app
    under a budget of a tenth; `preemptors` pods of ten Deployments, half of them spread over three zones.
    """
    rng = random.Random(f"contested/{nodes}/{seed}/{pods_per_node}/{preemptors}")
    size = {"cpu": f"{pods_per_node * 500}m", "memory": "256Gi", "pods": "110"}
    objects = [_node(n, size, zones=3) for n in range(nodes)]
    apps = [(f"old{k}", rng.randrange(5) * 10) for k in range(40)]
    placed = dict.fromkeys((name for name, _ in apps), 0)
    for n in range(nodes):
        for _ in range(pods_per_node):
            name, priority = rng.choice(apps)
            requests = {"cpu": "500m", "memory": f"{rng.randrange(1, 9) * 256}Mi"}
            objects.append(
                _run(_pod(f"{name}-{placed[name]}", name, requests, priority, rng.randrange(3600)), n)
            )
            placed[name] += 1
    objects += _budgets(placed)
    for app in range(10):
        name = f"new{app}"
        requests = {"cpu": f"{rng.randrange(2, 9) * 500}m", "memory": "1Gi"}
        spread = _spread(name, "zone" if app % 2 else "none")
        for k in range(preemptors // 10):
            pod = _pod(f"{name}-{k}", name, requests, priority=1000 + app, created=k)
            pod["spec"]["topologySpreadConstraints"] = spread
            objects.append(pod)
    return objects


def half_used(nodes: int, seed: int, *, apps: int = 40, waiting: int = 0) -> list[Manifest]:
    """A cluster of two kinds of nodes, each between 30 and 70 % in use, after which nobody has looked.

    Pods of `apps` ReplicaSets of different requests, some of them spread over hosts, a third of the apps
    under a budget of a tenth; a DaemonSet's pod on each node. Every node has its price an hour as a label.
    `waiting` pods ask for three quarters of a smaller node.
    """
    rng = random.Random(f"half-used/{nodes}/{seed}/{apps}/{waiting}")
    sizes = [({"cpu": "16", "memory": "64Gi", "pods": "110"}, "0.768")]
    sizes.append(({"cpu": "32", "memory": "128Gi", "pods": "110"}, "1.536"))
    objects: list[Manifest] = []
    made = [
        (
            f"app{k}",
            rng.randrange(1, 17) * 250,
            rng.randrange(1, 17) * 512,
            rng.choice(["host", "none", "none"]),
        )
        for k in range(apps)
    ]
    placed = dict.fromkeys((name for name, *_ in made), 0)
    for n in range(nodes):
        size, price = sizes[n % 3 == 0]
        item = _node(n, size, zones=3)
        item["metadata"]["labels"]["example.com/price"] = price
        objects += [item, _run(_owned(_pod(f"agent-{n}", "agent", {"cpu": "250m"}, 1000, 0), "DaemonSet"), n)]
        free = int(int(size["cpu"]) * 1000 * rng.uniform(0.3, 0.7))
        memory_free = int(size["memory"][:-2]) * 1024 * 0.9
        while True:
            name, cpu, memory, kind = rng.choice(made)
            free, memory_free = free - cpu, memory_free - memory
            if free < 0 or memory_free < 0:
                break
            requests = {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}
            pod = _owned(_pod(f"{name}-{placed[name]}", name, requests, 0, 0), "ReplicaSet")
            if kind == "host":
                pod["spec"]["topologySpreadConstraints"] = [{**_spread(name, "host")[0], "maxSkew": 5}]
            objects.append(_run(pod, n))
            placed[name] += 1
    objects += _budgets({name: count for name, count in list(placed.items())[::3]})
    for k in range(waiting):
        objects.append(_pod(f"large-{k}", "large", {"cpu": "12", "memory": "40Gi"}, priority=100, created=k))
    return objects


def _owned(pod: Manifest, kind: str) -> Manifest:
    """Give a pod the controller that its app is called after."""
    name = pod["metadata"]["labels"]["app"]
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": name, "controller": True}
    pod["metadata"]["ownerReferences"] = [owner]
    return pod


def pool(
    nodes: int, seed: int, *, pods_per_node: int = 20, apps: int = 60, in_use: float = 0.8
) -> list[Manifest]:
    """A pool of nodes in three zones that run Deployments, each node about as full as any other.

    Half of the Deployments are spread over the zones (`DoNotSchedule`), every one is under a budget of a
    tenth; all pods have a controller that makes them again. `in_use` is the share of the cpu they ask for.
    """
    rng = random.Random(f"pool/{nodes}/{seed}/{pods_per_node}/{apps}/{in_use}")
    size = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    objects = [_node(n, size, zones=3) for n in range(nodes)]
    copies = nodes * pods_per_node // apps
    weights = [rng.randrange(1, 9) for _ in range(apps)]
    unit = 16_000 * in_use * nodes / (copies * sum(weights))
    turns = [rng.randrange(nodes) for _ in range(3)]  # the next node of each zone
    for app, weight in enumerate(weights):
        name = f"app{app}"
        requests = {"cpu": f"{int(unit * weight)}m", "memory": f"{weight * 256}Mi"}
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{name}-1", "controller": True}
        for k in range(copies):
            pod = _pod(f"{name}-{k:05d}", name, requests, priority=0, created=k)
            pod["metadata"]["ownerReferences"] = [owner]
            pod["spec"]["topologySpreadConstraints"] = _spread(name, "zone" if app % 2 else "none")
            zone = k % 3
            objects.append(_run(pod, range(zone, nodes, 3)[turns[zone] % len(range(zone, nodes, 3))]))
            turns[zone] += 1
    objects += _budgets(dict.fromkeys((f"app{app}" for app in range(apps)), copies))
    return objects


def _running(rng: random.Random, nodes: int, in_use: float) -> Iterator[Manifest]:
    """Pods of two low priorities on every node, and a budget for each of their apps."""
    apps = [(f"old{k}", rng.choice([0, 10]), rng.randrange(2, 9) * 250) for k in range(20)]
    placed = dict.fromkeys((name for name, _, _ in apps), 0)
    for n in range(nodes):
        free = int(16000 * in_use)
        while True:
            name, priority, cpu = rng.choice(apps)
            if cpu > free:
                break
            free -= cpu
            requests = {"cpu": f"{cpu}m", "memory": f"{cpu * 2}Mi"}
            yield _run(_pod(f"{name}-{placed[name]}", name, requests, priority, created=0), n)
            placed[name] += 1
    yield from _budgets(placed)


def _run(pod: Manifest, n: int) -> Manifest:
    """Bind a pod to node n since its creation."""
    pod["spec"]["nodeName"] = f"node-{n:05d}"
    pod["status"] = {"phase": "Running", "startTime": pod["metadata"]["creationTimestamp"]}
    return pod


def _budgets(placed: dict[str, int]) -> Iterator[Manifest]:
    """Allow a tenth of each app's running pods to be disrupted."""
    for name, running in placed.items():
        if running:
            yield {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": name, "namespace": "default"},
                "spec": {"maxUnavailable": "10%", "selector": {"matchLabels": {"app": name}}},
                "status": {"disruptionsAllowed": running // 10, "expectedPods": running},
            }


def _spread(app: str, kind: str) -> list[Manifest]:
    keys = {"zone": [("topology.kubernetes.io/zone", 1)], "host": [("kubernetes.io/hostname", 2)], "none": []}
    return [
        {
            "maxSkew": skew,
            "topologyKey": key,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": app}},
        }
        for key, skew in keys[kind]
    ]


def _node(n: int, size: dict[str, str], zones: int) -> Manifest:
    name = f"node-{n:05d}"
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"zone-{n % zones}"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": dict(size), "capacity": dict(size)},
    }


def _pod(name: str, app: str, requests: dict[str, str], priority: int, created: int) -> Manifest:
    minutes, seconds = divmod(created, 60)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "labels": {"app": app},
            "creationTimestamp": f"2026-01-01T{minutes // 60 % 24:02d}:{minutes % 60:02d}:{seconds:02d}Z",
        },
        "spec": {
            "priority": priority,
            "containers": [
                {"name": "main", "image": "registry.example/app:1", "resources": {"requests": requests}}
            ],
        },
        "status": {"phase": "Pending"},
    }
