"""The speed of `explain --why` for one pod of a large round."""

from time import process_time
from typing import Any

from kubestow.instances import generated
from kubestow.solver.options import SolveOptions
from kubestow.solver.why.question import why

from .baseline import load
from .registry import BenchSpec, Column, register

LARGE_NODES = 0.1
"""The share of the nodes that are large and tainted."""


def question(objects: list[generated.Manifest], mark: str) -> generated.Manifest:
    """Return a pod that no plan places, by its size, by its selector or by the taint of the large nodes."""
    requests = {"size": "500", "selector": "1", "taint": "24"}[mark]
    for item in objects:
        if item["kind"] == "Node" and int(item["metadata"]["name"][-5:]) % round(1 / LARGE_NODES) == 0:
            item["spec"] = {"taints": [{"key": "dedicated", "value": "large", "effect": "NoSchedule"}]}
            item["status"]["allocatable"]["cpu"] = "64"
    spec: dict[str, Any] = {
        "priority": 10_000,
        "containers": [{"name": "main", "resources": {"requests": {"cpu": requests, "memory": "1Gi"}}}],
    }
    if mark == "selector":
        spec["nodeSelector"] = {"pool": "none"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "asked"}, "spec": spec}


def measure(nodes: int, pods: int, mark: str) -> dict[str, Any]:
    """Ask about one pod beside a round of 60 Deployments."""
    objects = generated.deployments(nodes, seed=1, pods_per_node=pods // nodes)
    snapshot = load([*objects, question(objects, mark)])
    begin = process_time()
    document = why(snapshot, "asked", SolveOptions(workers=1))
    return {
        "seconds": process_time() - begin,
        "running": sum(bool(pod.spec.node_name) for pod in snapshot.pods),
        "answer": document["answer"],
        "core": ", ".join(row["kind"] for row in document["core"]),
        "proof": document["proof"]["kind"],
        "asked": document["roundsAsked"],
    }


WHY = register(
    BenchSpec(
        name="why",
        title="Why one pod waits",
        about="""
`explain --why` for one pod that no plan places, beside a round of 60 Deployments that wait, in a cluster that
is half in use; the time begins when the input is read. The pod is too large for every node, or its selector
selects none, or only the tainted tenth of the nodes is large enough. The sums prove it; *rounds* are those
that were solved, with one rule of the core lifted each, to see that no rule is needless. Seconds are CPU time
with one worker, the solver's own loading included.""",
        cases=(
            {"nodes": 1000, "pods": 3000, "mark": "size"},
            {"nodes": 1000, "pods": 3000, "mark": "selector"},
            {"nodes": 1000, "pods": 3000, "mark": "taint"},
        ),
        quick=({"nodes": 20, "pods": 60, "mark": "taint"},),
        measure=measure,
        columns=(
            Column("nodes", "{nodes:,}"),
            Column("running pods", "{running:,}"),
            Column("waiting pods", "{pods:,}"),
            Column("core", "{core}"),
            Column("proof", "{proof}"),
            Column("rounds", "{asked}"),
            Column("CPU s", "{seconds:.2f}"),
            Column("peak, MiB", "{peak_mb:,.0f}"),
        ),
    )
)
