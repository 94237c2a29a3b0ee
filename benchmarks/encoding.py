"""What building a model costs."""

import resource
import time
from typing import Any

from kubestow.encoders import encode
from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.instances.generated import deployments
from kubestow.instances.manifests import snapshot_of

from .registry import BenchSpec, Column, register


def measure(nodes: int, classes: int) -> dict[str, Any]:
    import ortools.sat.python.cp_model  # noqa: F401, its import is no part of the cost

    cluster = build_cluster(snapshot_of(deployments(nodes, seed=0, apps=classes)))
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    started, used = time.perf_counter(), time.process_time()
    problem = build_problem(cluster)
    model = encode(problem).model
    return {
        "pods": len(cluster.pending),
        "victims": len(problem.victims),
        "variables": len(model.proto.variables),
        "rows": len(model.proto.constraints),
        "took": time.perf_counter() - started,
        "cpu": time.process_time() - used,
        "added": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - held,
    }


ENCODING = register(
    BenchSpec(
        name="encoding",
        title="Building the model",
        about="""
From a cluster that is read and numbered to a model for CP-SAT: classes, victims, masks, and every variable
and row. Deployments with zone and hostname spreading, three priorities, half the cpu in use by evictable pods
under budgets. *Added* is what building adds to the memory of the process.""",
        cases=(
            {"nodes": 200, "classes": 60},
            {"nodes": 1000, "classes": 60},
            {"nodes": 1000, "classes": 200},
            {"nodes": 5000, "classes": 200},
        ),
        quick=({"nodes": 10, "classes": 5},),
        measure=measure,
        columns=(
            Column("nodes", "{nodes:,}"),
            Column("classes", "{classes}"),
            Column("pods", "{pods:,}"),
            Column("victim classes", "{victims:,}"),
            Column("variables", "{variables:,}"),
            Column("rows", "{rows:,}"),
            Column("seconds", "{took:.1f}"),
            Column("processor, s", "{cpu:.1f}"),
            Column("added, MiB", "{added:,.0f}"),
            Column("peak, MiB", "{peak_mb:,.0f}"),
        ),
    )
)
