"""Generated clusters in which Deployments wait and running pods under budgets may be evicted."""

from typing import Any

from kubestow.instances.generated import deployments
from kubestow.instances.manifests import snapshot_of

from .contest import HOW_TO_READ, columns, contest, present, raw
from .registry import BenchSpec, Column, register


def measure(nodes: int, apps: int, seconds: float) -> dict[str, Any]:
    snapshot = snapshot_of(deployments(nodes, seed=1, apps=apps, demand=1.2))
    pending = sum(1 for pod in snapshot.pods if not pod.spec.node_name)
    return {**raw(contest(snapshot, seconds)), "pending": pending, "running": len(snapshot.pods) - pending}


DEPLOYMENTS = register(
    BenchSpec(
        name="deployments",
        title="Deployments that wait in a cluster half in use",
        about="""
Generated clusters: 10 pending pods a node from 60 to 200 Deployments of three priorities, half of them spread
over three zones and a quarter over hosts (`DoNotSchedule`); they ask for 1.2 times the cpu that is free.
Running pods of two lower priorities take half of the cpu, each app of them under a budget of a tenth."""
        + HOW_TO_READ,
        cases=(
            {"nodes": 200, "apps": 60, "seconds": 60.0},
            {"nodes": 1000, "apps": 120, "seconds": 60.0},
            {"nodes": 5000, "apps": 200, "seconds": 300.0},
            {"nodes": 10000, "apps": 200, "seconds": 600.0},
        ),
        quick=({"nodes": 6, "apps": 4, "seconds": 0.5},),
        measure=measure,
        fold=present,
        columns=(
            Column("nodes", "{nodes:,}"),
            Column("pending", "{pending:,}"),
            Column("running", "{running:,}"),
            Column("time, s", "{seconds:g}"),
            *columns(),
        ),
    )
)
