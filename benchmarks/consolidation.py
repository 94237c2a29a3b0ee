"""Consolidation of a cluster half in use: the search beside one node at a time."""

from time import process_time
from typing import Any

from kubestow.instances.generated import half_used
from kubestow.instances.manifests import snapshot_of
from kubestow.instances.node_groups.file import read_catalogue
from kubestow.instances.what_if.apply import changed_by
from kubestow.models.node import ZONE
from kubestow.models.purchases import Catalogue
from kubestow.solver.consolidate.answer import consolidate
from kubestow.solver.options import SolveOptions

from .registry import BenchSpec, Column, register

PRICE = "example.com/price"
SIZES = {"small": (8, "0.384"), "medium": (16, "0.768"), "large": (32, "1.536")}
"""Cpus and price; memory is four times as much in GiB."""


def catalogue(zones: list[str]) -> Catalogue:
    """Return the two sizes of nodes that stand, and one half as large as the smaller one."""
    groups = [
        {
            "name": name,
            "price": float(price),
            "zones": zones,
            "template": {
                "labels": {PRICE: price},
                "allocatable": {"cpu": str(cpu), "memory": f"{4 * cpu}Gi", "pods": "110"},
            },
        }
        for name, (cpu, price) in SIZES.items()
    ]
    return read_catalogue("sizes", {"kind": "NodeGroups", "nodeGroups": groups})


def measure(nodes: int, seconds: float) -> dict[str, Any]:
    """Consolidate one generated cluster."""
    snapshot = snapshot_of(half_used(nodes, seed=1))
    offers = catalogue(sorted({node.metadata.labels[ZONE] for node in snapshot.nodes}))
    begin = process_time()
    options = SolveOptions(time_limit=seconds, workers=2)
    found = consolidate(snapshot, offers, changed_by, options=options)
    spent = process_time() - begin
    price = next(tier for tier in found.optimal.tiers if tier.name == "price")
    bound = price.bound
    return {
        "priced": found.priced,
        "pods": len(snapshot.pods),
        "now": found.price_now,
        "rule": found.heuristic.price,
        "price": found.optimal.price,
        "bound": "" if bound is None else f"{bound:.3f}",
        "gap": f"{100 * (price.value / bound - 1):.2f}" if bound else "",
        "bought": sum(group.count for group in found.optimal.bought),
        "returned": len(found.optimal.returned),
        "moves": len(found.optimal.moves),
        "cpu": spent,
    }


CONSOLIDATION = register(
    BenchSpec(
        name="consolidation",
        title="Nodes to buy and to return",
        about="""
`kubestow provision --consolidate` on generated clusters of two sizes of nodes, between 30 and 70 % in use
(those of the moves), from a catalogue with these sizes and half of the smaller one, at the same price for a
cpu. *One by one* is the price that one node at a time comes to, as Karpenter consolidates. *gap* is how
far the price is above its bound, in per cent; empty where there is no bound. The time limit is wall time;
CPU seconds are those of all threads, reading left out.""",
        cases=tuple({"nodes": nodes, "seconds": 60.0} for nodes in (20, 50, 100, 200)),
        quick=({"nodes": 3, "seconds": 2.0},),
        measure=measure,
        columns=(
            Column("nodes", "{nodes:,}"),
            Column("pods", "{pods:,}"),
            Column("price now", "{now:.3f}"),
            Column("one by one", "{rule:.3f}"),
            Column("price", "{price:.3f}"),
            Column("bound", "{bound}"),
            Column("gap, %", "{gap}"),
            Column("bought", "{bought:,}"),
            Column("returned", "{returned:,}"),
            Column("moves", "{moves:,}"),
            Column("CPU s", "{cpu:.1f}"),
            Column("peak, MiB", "{peak_mb:,.0f}"),
        ),
    )
)
