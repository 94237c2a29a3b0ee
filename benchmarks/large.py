"""Large rounds by the clock, planned by kubestow alone: the rivals can't build most of them."""

from collections.abc import Sequence
from typing import Any

from kubestow.instances.generated import deployments
from kubestow.instances.manifests import snapshot_of

from .contest import Result, contest, raw, told
from .openb import trace
from .registry import BenchSpec, Case, Column, Row, register


def measure(nodes: int, apps: int, pods_per_node: int, shuffle: int | None, seconds: float) -> dict[str, Any]:
    """Plan a cluster half in use, or with a shuffle a part of the openb trace with its GPUs as devices."""
    if shuffle is None:
        snapshot = snapshot_of(deployments(nodes, seed=1, apps=apps, demand=1.2, pods_per_node=pods_per_node))
    else:
        snapshot = trace(nodes, shuffle, gpus="devices")
    pending = sum(1 for pod in snapshot.pods if not pod.spec.node_name)
    told = raw(contest(snapshot, seconds, ("ours",)))
    kind = "half used" if shuffle is None else f"openb, shuffle {shuffle}"
    return {**told, "kind": kind, "pending": pending, "running": len(snapshot.pods) - pending}


def present(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Make what the table shows of rows that hold raw results."""
    return [{**row, **_cells(Result(**row["raw"]["ours"]))} for row in rows]


def _cells(result: Result) -> dict[str, Any]:
    values = result.values or {}
    reached = sum(result.bounds.get(name) == value for name, value in values.items())
    return {
        "plan": told(result),
        "violations": _beside(result, "violations"),
        "evicted": _beside(result, "evicted"),
        "worst": max((_gap(result, name) for name in values), default=1.0),
        "closed": f"{reached} of {len(values)}" if values else "–",
        "took": result.seconds,
        "mb": result.peak_mb,
    }


def _beside(result: Result, what: str) -> str:
    """Write the values of tiers of one sort and their bounds, those that are not all zero."""
    tiers = [(value, result.bounds.get(name)) for name, value in _of(result, what) if value]
    return ", ".join(f"{value:,} ({'–' if bound is None else f'{bound:,}'})" for value, bound in tiers) or "0"


def _of(result: Result, what: str) -> list[tuple[str, int]]:
    return [(name, value) for name, value in (result.values or {}).items() if name.startswith(what)]


def _gap(result: Result, name: str) -> float:
    """Return how far a tier is from its bound, as a share of the larger one."""
    value, bound = (result.values or {})[name], result.bounds.get(name)
    if bound is None or value == bound:
        return 0.0 if value == bound else 1.0
    return abs(bound - value) / max(bound, value)


def half_used(nodes: int, apps: int, seconds: float, pods_per_node: int = 10) -> Case:
    return {
        "nodes": nodes,
        "apps": apps,
        "pods_per_node": pods_per_node,
        "shuffle": None,
        "seconds": seconds,
    }


def of_trace(nodes: int, shuffle: int, seconds: float) -> Case:
    return {**half_used(nodes, 0, seconds, 0), "shuffle": shuffle}


LARGE = register(
    BenchSpec(
        name="large",
        title="Large rounds by the clock",
        about="""
The largest rounds of the sections below, planned by kubestow alone with 2 workers: clusters half in use as in
*Deployments that wait*, dense ones as in *How cost grows*, and the openb trace with its GPUs as devices, with
the same seeds. The plan is told as there; *violations* and *evicted* are values, tier by tier, with their
bounds in brackets; the gap is the largest of any tier. Seconds are the clock's, for all from the snapshot to
the replayed plan.""",
        cases=(
            half_used(200, 60, 20.0),
            half_used(1000, 120, 60.0),
            half_used(5000, 200, 120.0),
            half_used(10000, 200, 300.0),
            half_used(300, 60, 30.0, pods_per_node=33),
            half_used(300, 60, 30.0, pods_per_node=100),
            *(
                of_trace(nodes, shuffle, seconds)
                for nodes, seconds in ((304, 30.0), (1523, 90.0))
                for shuffle in (1, 2, 3)
            ),
        ),
        quick=(half_used(6, 4, 0.5),),
        measure=measure,
        fold=present,
        columns=(
            Column("instance", "{kind}"),
            Column("nodes", "{nodes:,}"),
            Column("pending", "{pending:,}"),
            Column("running", "{running:,}"),
            Column("limit, s", "{seconds:g}"),
            Column("plan", "{plan}"),
            Column("violations", "{violations}"),
            Column("evicted", "{evicted}"),
            Column("largest gap", "{worst:.2%}"),
            Column("tiers proven", "{closed}"),
            Column("s", "{took:.1f}"),
            Column("MiB", "{mb:,.0f}"),
        ),
    )
)
