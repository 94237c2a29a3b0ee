"""Nodes to buy for Deployments that wait, from a large catalogue of instance types."""

import os
from collections.abc import Sequence
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

from kubestow.instances.manifests import snapshot_of
from kubestow.instances.node_groups.file import load_catalogue, read_catalogue
from kubestow.instances.what_if.apply import changed_by
from kubestow.models.purchases import Catalogue
from kubestow.models.snapshot import Snapshot
from kubestow.solver.options import SolveOptions
from kubestow.solver.provision.answer import provision

from .registry import BenchSpec, Column, register

DATA = Path(os.environ.get("KUBESTOW_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
TYPES = DATA / "karpenter" / "instance_types.json.gz"
ZONE = "topology.kubernetes.io/zone"
KIND = "karpenter.sh/capacity-type"
ZONES = ("a", "b", "c", "d")
FAMILIES = {"compute": 2, "standard": 4, "memory": 8}
"""Memory for each cpu, GiB."""

SIZES = (1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256)


def waiting(apps: int, nodes: int, zones: Sequence[str] = ZONES) -> Snapshot:
    """Return Deployments spread over zones, a few nodes that are there, and a DaemonSet."""
    rng = Random(1)
    objects: list[dict[str, Any]] = [_agent()]
    for k in range(nodes):
        labels = {"kubernetes.io/hostname": f"here-{k}", ZONE: zones[k % len(zones)]}
        status = {"allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110"}}
        meta = {"name": f"here-{k}", "labels": labels}
        objects.append({"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": status})
    for app in range(apps):
        cpu = rng.choice((100, 250, 500, 500, 1000, 1000, 2000, 3000, 4000))
        memory = int(cpu * rng.choice((0.5, 1, 2, 4, 4, 8)) * 1.024)
        spec = _spec(cpu, memory)
        spec["topologySpreadConstraints"] = [
            {
                "topologyKey": ZONE,
                "maxSkew": 1,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": f"app-{app}"}},
            }
        ]
        for copy in range(rng.randint(2, 8)):
            meta = {"name": f"app-{app}-{copy}", "labels": {"app": f"app-{app}"}}
            objects.append({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
    return snapshot_of(objects, name=f"{apps} Deployments")


def _spec(cpu: int, memory: int) -> dict[str, Any]:
    requests = {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}
    return {"containers": [{"name": "main", "resources": {"requests": requests}}]}


def _agent() -> dict[str, Any]:
    labels = {"app": "agent"}
    template = {"metadata": {"labels": labels}, "spec": _spec(200, 256)}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent"},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }


def catalogue() -> Catalogue:
    """Return a catalogue as Karpenter's provider for kwok reads it: the price grows with cpu and memory."""
    types = []
    for family, gibibytes in FAMILIES.items():
        for size in SIZES:
            price = size * (0.025 + 0.001 * gibibytes)
            offerings = [
                {
                    "Price": share * price,
                    "Available": True,
                    "Requirements": [_in(ZONE, zone), _in(KIND, kind)],
                }
                for zone in ZONES
                for kind, share in (("spot", 0.7), ("on-demand", 1.0))
            ]
            resources = {"cpu": f"{size}", "memory": f"{size * gibibytes}Gi", "pods": str(max(16, 4 * size))}
            types.append({"name": f"{family}-{size}", "resources": resources, "offerings": offerings})
    return read_catalogue("catalogue", types)


def _in(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": [value]}


def measure(offers: str, apps: int, nodes: int, seconds: float) -> dict[str, Any]:
    """Buy nodes for so many Deployments; without Karpenter's catalogue its row says that it was left out."""
    if offers != "generated" and not TYPES.exists():
        left_out = dict.fromkeys(("placed", "bought", "price", "bound", "gap", "cpu"), "")
        return {**left_out, "offers": f"{offers}: left out, there is no {TYPES.name}"}
    known = catalogue() if offers == "generated" else load_catalogue([str(TYPES)])
    snapshot = waiting(apps, nodes, sorted({offer.zone for offer in known.offers}))
    begin = process_time()
    found = provision(snapshot, known, changed_by, None, SolveOptions(time_limit=seconds))
    spent = process_time() - begin
    price = next(tier for tier in found.tiers if tier.name == "price")
    bound = price.bound
    return {
        "offers": f"{offers}, {len(known.offers):,}",
        "placed": f"{found.purchase.scheduled:,} of {found.purchase.scheduled + len(found.waiting):,}",
        "bought": f"{found.purchase.nodes:,}",
        "price": f"{price.value:.3f}",
        "bound": "" if bound is None else f"{bound:.3f}",
        "gap": f"{100 * (price.value / bound - 1):.2f}" if bound else "",
        "cpu": f"{spent:.1f}",
    }


PROVISION = register(
    BenchSpec(
        name="provision",
        title="Nodes to buy for Deployments that wait",
        about="""
`kubestow provision` for Deployments that are spread over four zones (`DoNotSchedule`), beside a few nodes
with room and a DaemonSet. The generated catalogue has 36 instance types in four zones, spot and on demand;
Karpenter's is that of its provider for kwok (`instance_types.json.gz` in the folder `karpenter` of
`KUBESTOW_DATA`; it is not bundled). *gap* is how far the price is above its bound, in per cent. The time
limit is wall time; CPU seconds are those of all threads, reading left out.""",
        cases=(
            {"offers": "generated", "apps": 50, "nodes": 8, "seconds": 60.0},
            {"offers": "generated", "apps": 200, "nodes": 8, "seconds": 60.0},
            {"offers": "Karpenter's", "apps": 200, "nodes": 8, "seconds": 60.0},
        ),
        quick=({"offers": "generated", "apps": 3, "nodes": 2, "seconds": 2.0},),
        measure=measure,
        columns=(
            Column("offers", "{offers}"),
            Column("Deployments", "{apps:,}"),
            Column("placed", "{placed}"),
            Column("nodes bought", "{bought}"),
            Column("price", "{price}"),
            Column("bound", "{bound}"),
            Column("gap, %", "{gap}"),
            Column("CPU s", "{cpu}"),
            Column("peak, MiB", "{peak_mb:,.0f}"),
        ),
    )
)
