"""How fast simulations run: kube-scheduler's loop, and optimal rounds one after another."""

import time
from functools import partial
from typing import Any

from kubestow.instances.manifests import snapshot_of
from kubestow.models.pod import Pod
from kubestow.models.scenario import SECOND, Arrivals, Cordon, Kind, Scenario, TimedEvent
from kubestow.simulation.engine import Simulation
from kubestow.solver.api import load_solver
from kubestow.solver.simulate import OptimalScheduler

from .registry import BenchSpec, Column, register

HOUR = 3600 * SECOND
SIZES = ("500m", "1", "2", "4", "250m", "3")


def node(k: int) -> dict[str, Any]:
    """Write the k-th node."""
    labels = {"kubernetes.io/hostname": f"n{k}", "topology.kubernetes.io/zone": f"z{k % 3}"}
    allocatable = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    meta = {"name": f"n{k}", "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": {"allocatable": allocatable}}


def pod(k: int, cpu: str) -> Pod:
    """Make the k-th template."""
    app = {"app": f"app-{k}"}
    spec: dict[str, Any] = {
        "containers": [{"name": "main", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}]
    }
    if k % 2:
        spec["topologySpreadConstraints"] = [
            {
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": app},
            }
        ]
    raw = {"metadata": {"name": f"p{k}", "labels": app}, "spec": spec, "status": {"phase": "Pending"}}
    return Pod.model_validate(raw)


def scenario(nodes: int, pods: int, changes: int) -> Scenario:
    """Make an hour of arrivals and node changes."""
    kinds = tuple(Kind(pod(k, cpu), 1.0, 1200 * SECOND) for k, cpu in enumerate(SIZES))
    events = [TimedEvent(0, Arrivals(pods / 3600, HOUR, kinds))]
    events += [
        TimedEvent(k * HOUR // changes, Cordon(f"n{k // 2 * 37 % nodes}", on=k % 2 == 0))
        for k in range(changes)
    ]
    snapshot = snapshot_of([node(k) for k in range(nodes)], name="benchmark")
    return Scenario("benchmark", snapshot, HOUR, seed=1, events=tuple(events))


def measure(nodes: int, pods: int, changes: int) -> dict[str, Any]:
    run = Simulation(scenario(nodes, pods, changes))
    started = time.process_time()
    record = run.run()
    used = time.process_time() - started
    return {
        "cpu": used,
        "rate": HOUR / SECOND / used,
        "bound": len(record.waits),
        "rebuilds": run.world.follower.rebuilds,
    }


SIMULATION = register(
    BenchSpec(
        name="simulation",
        title="A simulated hour",
        about="""
`kubestow simulate` with kube-scheduler's loop: pods of six templates arrive at random, half of them spread
over three zones, and run twenty minutes on average, while nodes are cordoned and uncordoned. The rate is in
simulated seconds for a second of processor time; *indexed anew* is how often everything was.""",
        cases=(
            {"nodes": 100, "pods": 2000, "changes": 500},
            {"nodes": 1000, "pods": 4000, "changes": 1000},
            {"nodes": 1000, "pods": 20000, "changes": 5000},
        ),
        quick=({"nodes": 10, "pods": 50, "changes": 20},),
        measure=measure,
        columns=(
            Column("nodes", "{nodes:,}"),
            Column("arrivals", "{pods:,}"),
            Column("node changes", "{changes:,}"),
            Column("bound", "{bound:,}"),
            Column("processor, s", "{cpu:.1f}"),
            Column("simulated s/s", "{rate:,.0f}"),
            Column("indexed anew", "{rebuilds}"),
            Column("peak, MiB", "{peak_mb:,.0f}"),
        ),
    )
)


def measure_rounds(nodes: int, pods: int) -> dict[str, Any]:
    """Run the hour with optimal rounds, each by itself and each after the other."""
    load_solver()
    found: dict[str, Any] = {}
    for name, warm in (("alone", False), ("after", True)):
        run = Simulation(scenario(nodes, pods, 0), partial(OptimalScheduler, warm=warm))
        started = time.process_time()
        record = run.run()
        found[name] = 1000 * (time.process_time() - started) / record.rounds
        found |= {f"rounds_{name}": record.rounds, f"bound_{name}": len(record.waits)}
    return found


ROUNDS = register(
    BenchSpec(
        name="rounds",
        title="Optimal rounds one after another",
        about="""
The hour of "A simulated hour" with `--scheduler optimal`: a round every 5 s, solved to the end. Each round
by itself, then each after the one before it ([model.md](model.md), "Warm rounds"). The nodes take about 4,600
of these pods an hour; more of them wait longer. Processor time of the whole run, for each round.""",
        cases=({"nodes": 200, "pods": 4000}, {"nodes": 200, "pods": 6000}),
        quick=({"nodes": 5, "pods": 60},),
        measure=measure_rounds,
        columns=(
            Column("nodes", "{nodes:,}"),
            Column("arrivals", "{pods:,}"),
            Column("rounds", "{rounds_after:,}"),
            Column("bound", "{bound_alone:,} · {bound_after:,}"),
            Column("by itself, ms", "{alone:.1f}"),
            Column("after another, ms", "{after:.1f}"),
            Column("peak, MiB", "{peak_mb:,.0f}"),
        ),
    )
)
