"""Rolling drains of whole pools: the order that is found, beside the drain by name."""

from time import process_time
from typing import Any

from kubestow.instances.generated import pool
from kubestow.instances.manifests import snapshot_of
from kubestow.solver.moves.drain import DrainOptions, drain

from .registry import BenchSpec, Column, register


def measure(nodes: int, rolling: int, in_use: float) -> dict[str, Any]:
    snapshot = snapshot_of(pool(nodes, seed=1, in_use=in_use))
    begin = process_time()
    found = drain(snapshot, [node.name for node in snapshot.nodes], DrainOptions(rolling=rolling))
    seconds = process_time() - begin
    by_name = found.in_name_order
    return {
        "pods": len(snapshot.pods),
        "verdict": found.verdict,
        "moves": found.moves,
        "batches": sum(len(stage.batches) for stage in found.stages),
        "waits": found.waits,
        "named": f"{by_name.moves:,}" if by_name.finished else f"stuck after {by_name.moves:,}",
        "seconds": seconds,
    }


DRAINS = register(
    BenchSpec(
        name="drains",
        title="Rolling drains",
        about="""
Every node of a pool is drained, a few at a time, and comes back; 20 pods a node from 60 Deployments, half of
them spread over three zones (`DoNotSchedule`, maxSkew 1), each under a budget of a tenth. *CPU* is that of
everything after reading: numbering, the drain by name beside it, the search for an order, and the replay of
every step. A pod that moves twice counts twice; the fewest moves are one for each pod. What waits does not
run until its node is back.""",
        cases=(
            {"nodes": 200, "rolling": 1, "in_use": 0.8},
            {"nodes": 1000, "rolling": 1, "in_use": 0.8},
            {"nodes": 1000, "rolling": 10, "in_use": 0.8},
            {"nodes": 1000, "rolling": 10, "in_use": 0.95},
            {"nodes": 100, "rolling": 10, "in_use": 0.97},
            {"nodes": 200, "rolling": 10, "in_use": 0.97},
        ),
        quick=({"nodes": 30, "rolling": 1, "in_use": 0.7},),
        measure=measure,
        columns=(
            Column("nodes", "{nodes:,}"),
            Column("at a time", "{rolling}"),
            Column("cpu in use", "{in_use:.0%}"),
            Column("pods", "{pods:,}"),
            Column("verdict", "{verdict}"),
            Column("moves", "{moves:,}"),
            Column("batches", "{batches:,}"),
            Column("waiting", "{waits:,}"),
            Column("moves by name", "{named}"),
            Column("CPU, s", "{seconds:.1f}"),
            Column("peak, MiB", "{peak_mb:,.0f}"),
        ),
    )
)
