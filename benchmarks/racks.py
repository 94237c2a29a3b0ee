"""Racks of nodes with devices, and gangs that want a rack of their own with a claim for each member."""

from typing import Any

from kubestow.instances import racks
from kubestow.instances.manifests import snapshot_of

from .contest import HOW_TO_READ, columns, contest, present, raw
from .registry import BenchSpec, Column, register


def measure(racks_: int, nodes: int, devices: int, gangs: int, seconds: float) -> dict[str, Any]:
    objects = racks.racks(1, racks=racks_, nodes=nodes, devices=devices, gangs=gangs)
    snapshot = snapshot_of(objects)
    pending = sum(1 for pod in snapshot.pods if not pod.spec.node_name)
    results = contest(snapshot, seconds)
    return {"pending": pending, "all_devices": racks_ * nodes * devices, **raw(results)}


RACKS = register(
    BenchSpec(
        name="racks",
        title="Racks, devices and gangs",
        about="""
An AI cluster, generated: racks of nodes with devices, about half of them held by running jobs, and gangs of
three priorities that start whole, in one rack, with a claim for one or two devices for each member."""
        + HOW_TO_READ,
        cases=(
            {"racks_": 8, "nodes": 8, "devices": 8, "gangs": 12, "seconds": 30.0},
            {"racks_": 64, "nodes": 16, "devices": 8, "gangs": 60, "seconds": 120.0},
        ),
        quick=({"racks_": 2, "nodes": 2, "devices": 2, "gangs": 2, "seconds": 0.5},),
        measure=measure,
        fold=present,
        columns=(
            Column("racks", "{racks_}"),
            Column("nodes", "{nodes} each"),
            Column("devices", "{all_devices:,}"),
            Column("gangs", "{gangs}"),
            Column("members", "{pending:,}"),
            Column("time, s", "{seconds:g}"),
            *columns(),
        ),
    )
)
