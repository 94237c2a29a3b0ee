"""The speed of `explain --why` for one pod, or one gang, of a large round."""

from time import process_time
from typing import Any

from kubestow.instances import generated
from kubestow.solver.options import SolveOptions
from kubestow.solver.why.question import why

from .baseline import load
from .registry import BenchSpec, Column, register

LARGE_NODES = 0.1
"""The share of the nodes that are large and tainted."""

MEMBERS = 8
"""How many members a gang has."""


def _term(key: str, app: str) -> dict[str, Any]:
    wanted = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [wanted]}}


_SPREAD = {
    "maxSkew": 1,
    "topologyKey": "topology.kubernetes.io/zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "asked"}},
}

ASKED: dict[str, tuple[str, int, dict[str, Any]]] = {
    "size": ("500", 10_000, {}),
    "selector": ("1", 10_000, {"nodeSelector": {"pool": "none"}}),
    "taint": ("24", 10_000, {}),
    "affinity to no pod": ("1", 0, {"affinity": _term("topology.kubernetes.io/zone", "none")}),
    "room": ("100m", 0, {}),
    "room after evictions": ("14", 10_000, {}),
    "room after a waiting pod evicts": ("14", 0, {"topologySpreadConstraints": [_SPREAD]}),
    "affinity to a waiting pod": ("100m", 0, {"affinity": _term("kubernetes.io/hostname", "app3")}),
    "gang: room after evictions": ("14", 10_000, {}),
    "gang: too large for one node": ("3", 10_000, {}),
}
"""What is asked about: the cpu that it requests, its priority, and what more it says."""


def question(objects: list[generated.Manifest], mark: str) -> list[generated.Manifest]:
    """Return a pod that no plan places, or that one does, in a way that `mark` says; or a gang of such."""
    for item in objects:
        if item["kind"] == "Node" and int(item["metadata"]["name"][-5:]) % round(1 / LARGE_NODES) == 0:
            item["spec"] = {"taints": [{"key": "dedicated", "value": "large", "effect": "NoSchedule"}]}
            item["status"]["allocatable"]["cpu"] = "64"
    cpu, priority, more = ASKED[mark]
    spec: dict[str, Any] = {
        "priority": priority,
        "containers": [{"name": "main", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}],
        **more,
    }
    meta = {"name": "asked", "namespace": "default", "labels": {"app": "asked"}}
    if not mark.startswith("gang"):
        return [{"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}]
    spec["schedulingGroup"] = {"podGroupName": "asked"}
    policy: dict[str, Any] = {"schedulingPolicy": {"gang": {"minCount": MEMBERS}}}
    if mark.endswith("one node"):
        policy["schedulingConstraints"] = {"topology": [{"key": "kubernetes.io/hostname"}]}
    group = {"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "metadata": meta, "spec": policy}
    pods = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {**meta, "name": f"member-{k}"}, "spec": spec}
        for k in range(MEMBERS)
    ]
    return [group, *pods]


def measure(nodes: int, pods: int, mark: str) -> dict[str, Any]:
    """Ask about one pod or gang beside a round of 60 Deployments, as far as the headline."""
    objects = generated.deployments(nodes, seed=1, pods_per_node=pods // nodes)
    snapshot = load([*objects, *question(objects, mark)])
    begin = process_time()
    document = why(snapshot, "asked", SolveOptions(workers=1), headline=True)
    return {
        "seconds": process_time() - begin,
        "running": sum(bool(pod.spec.node_name) for pod in snapshot.pods),
        "answer": document["answer"],
        "core": ", ".join(row["kind"] for row in document.get("core", ())) or "–",
        "proof": document["proof"]["kind"] if "proof" in document else "a plan",
        "asked": document.get("roundsAsked", 1),
    }


WHY = register(
    BenchSpec(
        name="why",
        title="Why one pod waits",
        about="""
The headline of `explain --why` for one pod, or for one gang of 8, beside a round of 60 Deployments that wait,
in a cluster that is half in use; the time begins when the input is read. Either no plan places it (the sums
prove it; *rounds* are those that were solved, with one rule of the core lifted each, to see that no rule is
needless), or a plan does, which is replayed: what that costs others comes after it, in the time that is left.
Seconds are CPU time with one worker, what is loaded included.""",
        cases=tuple({"nodes": 1000, "pods": 3000, "mark": mark} for mark in ASKED),
        quick=(
            {"nodes": 20, "pods": 60, "mark": "taint"},
            {"nodes": 20, "pods": 60, "mark": "gang: room after evictions"},
        ),
        measure=measure,
        columns=(
            Column("nodes", "{nodes:,}"),
            Column("running pods", "{running:,}"),
            Column("waiting pods", "{pods:,}"),
            Column("asked about", "{mark}"),
            Column("answer", "{answer}"),
            Column("core", "{core}"),
            Column("proof", "{proof}"),
            Column("rounds", "{asked}"),
            Column("CPU s", "{seconds:.2f}"),
            Column("peak, MiB", "{peak_mb:,.0f}"),
        ),
    )
)
