"""One round, planned in several ways with the same time, each in a process of its own.

kubestow gets the snapshot and has to read it, run the greedy baseline, search and replay within the time. A
rival gets the round by number and its time starts then. What a rival says is put in an order, played through
the framework's filters and valued by kubestow's one valuation; what does not pass is no plan.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
import traceback
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .registry import Column, Row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from multiprocessing.connection import Connection

    from kubestow.models.plan import Plan
    from kubestow.models.snapshot import Snapshot

RIVALS = {"booleans": "benchmarks.rivals.booleans", "counts": "benchmarks.rivals.counts"}
RIVALS["mip"] = "benchmarks.rivals.mip"
WAYS = ("ours", *RIVALS, "greedy")
HEADINGS = {
    "ours": "kubestow",
    "booleans": "a Boolean a pod and node",
    "counts": "class counts alone",
    "mip": "HiGHS",
    "greedy": "greedy",
}

GIB = 2**30
MOST_MEMORY = 10 * GIB
"""Address space of one way; a model that is larger ends as "out of memory"."""

MOST_PAIRS = 5_000_000
"""Pairs of a pod and a node beyond which a Boolean for each takes gigabytes before the search begins."""

MOST_NODES = 5_000
"""Nodes up to which rivals are tried: there the best of them placed an eighth of the pods in 300 s."""

PATIENCE = 120.0
"""Seconds beyond its limit after which a way is stopped from outside; reading and replaying are in them."""


@dataclass(frozen=True)
class Result:
    """What came of one way.

    Attributes
    ----------
    values : mapping or None
        Tier to value, by kubestow's valuation; None without a plan.
    senses : mapping
        Tier to `max` or `min`.
    bounds : mapping
        Tier to bound, as far as one was proven.
    proven : bool
        Whether every tier was proven.
    seconds, peak_mb : float
        What it took, all in all.
    note : str
        Why there is no plan.
    """

    values: Mapping[str, int] | None = None
    senses: Mapping[str, str] = field(default_factory=dict)
    bounds: Mapping[str, int] = field(default_factory=dict)
    proven: bool = False
    seconds: float = 0.0
    peak_mb: float = 0.0
    note: str = ""

    @property
    def costs(self) -> tuple[int, ...] | None:
        """Values in the order of the tiers, the smaller vector the better one; None without a plan."""
        if self.values is None:
            return None
        return tuple(-v if self.senses[name] == "max" else v for name, v in self.values.items())


def contest(
    snapshot: Snapshot, seconds: float, ways: Sequence[str] | None = None, workers: int = 2
) -> dict[str, Result]:
    """Plan the round by each way; by default, by all whose model can be built."""
    for package in ("ortools.sat.python.cp_model", "highspy"):  # loading them is no part of anyone's time
        with suppress(ImportError):
            import_module(package)
    ways = ways_for(snapshot) if ways is None else ways
    return {way: _apart(way, snapshot, seconds, workers) for way in ways}


def ways_for(snapshot: Snapshot) -> list[str]:
    """Return the ways whose model of the round can be built and may find something."""
    if len(snapshot.nodes) > MOST_NODES:
        return ["ours", "greedy"]
    pending = sum(1 for pod in snapshot.pods if not pod.spec.node_name)
    return [way for way in WAYS if way != "booleans" or pending * len(snapshot.nodes) <= MOST_PAIRS]


def _apart(way: str, snapshot: Snapshot, seconds: float, workers: int) -> Result:
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(theirs, way, snapshot, seconds, workers))
    begin = time.monotonic()
    process.start()
    theirs.close()
    try:
        if ours.poll(seconds + PATIENCE):
            told = ours.recv()
            if isinstance(told, str):
                raise RuntimeError(f"{way} failed:\n{told}")
            return Result(**told)
        return Result(seconds=time.monotonic() - begin, note="did not come back")
    except EOFError:
        return Result(seconds=time.monotonic() - begin, note="out of memory")
    finally:
        process.kill()
        process.join()
        ours.close()


def _serve(connection: Connection, way: str, snapshot: Snapshot, seconds: float, workers: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    begin = time.monotonic()
    try:
        result = _plan(way, snapshot, seconds, workers)
    except MemoryError:
        result = {"note": "out of memory"}
    except Exception:
        connection.send(traceback.format_exc())
        return
    result.setdefault("seconds", time.monotonic() - begin)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # Linux counts in KiB
    connection.send({**result, "peak_mb": peak})
    connection.close()


def _plan(way: str, snapshot: Snapshot, seconds: float, workers: int) -> dict[str, Any]:
    from kubestow.solver.api import solve, solve_greedy
    from kubestow.solver.options import SolveOptions

    if way == "greedy":
        return _told(solve_greedy(snapshot))
    if way == "ours":
        return _told(solve(snapshot, SolveOptions(time_limit=seconds, workers=workers)))
    return _rival(way, snapshot, seconds, workers)


def _told(plan: Plan) -> dict[str, Any]:
    return {
        "values": {tier.name: tier.value for tier in plan.tiers},
        "senses": {tier.name: tier.sense for tier in plan.tiers},
        "bounds": {tier.name: tier.bound for tier in plan.tiers if tier.bound is not None},
        "proven": plan.status == "OPTIMAL",
        "seconds": plan.stats.wall_seconds,
    }


def _rival(way: str, snapshot: Snapshot, seconds: float, workers: int) -> dict[str, Any]:
    from kubestow.encoders.build import build_problem
    from kubestow.framework.build import build_cluster
    from kubestow.solver.ordering.sequencer import Sequencer
    from kubestow.solver.plans.nominations import derive_nominations
    from kubestow.solver.plans.objective import valuate
    from kubestow.solver.plans.replay import inadmissible

    problem = build_problem(build_cluster(snapshot))
    module = import_module(RIVALS[way])
    begin = time.monotonic()
    answer = module.plan(problem, seconds, workers)
    told = {"bounds": dict(answer.bounds), "note": answer.note, "seconds": time.monotonic() - begin}
    if answer.assignment is None:
        return told
    cluster = problem.cluster
    found = Sequencer(problem).order(answer.assignment, time.monotonic() + seconds)
    if found.moves is None:
        return {**told, "note": "its solution has no admissible order"}
    outcome = derive_nominations(cluster, problem.state, found.moves, answer.assignment.allocations)
    fault = next(iter(inadmissible(cluster, outcome.moves)), None)
    value = valuate(cluster, outcome)
    if fault is not None or not value.guarded:
        return {**told, "note": f"no plan: {fault or 'a guarded victim violates its budget'}"}
    return {
        **told,
        "values": value.by_name(),
        "senses": {tier.name: tier.sense for tier in value.tiers},
        "proven": answer.proven,
    }


def better(one: Result, other: Result) -> bool:
    """Whether one way's plan is better than the other's; no plan is the worst."""
    if one.costs is None or other.costs is None:
        return one.costs is not None and other.costs is None
    return one.costs < other.costs


def told(result: Result) -> str:
    """Write a result for a cell: pods placed, priority by priority, then evictions and violations."""
    if result.values is None:
        return f"– ({result.note})" if result.note else "–"
    placed = [value for name, value in result.values.items() if name.startswith("scheduled")]
    gone = sum(value for name, value in result.values.items() if name.startswith("evicted"))
    broken = sum(value for name, value in result.values.items() if name.startswith("violations"))
    text = " + ".join(f"{value:,}" for value in placed)
    if gone:
        text += f"; {gone:,} evicted"
    if broken:
        text += f", {broken:,} violate"
    return text + (" ✓" if result.proven else "")


def bound_of(result: Result) -> str:
    """Write the bounds of the tiers that place pods, as `told` writes their values."""
    placed = [bound for name, bound in result.bounds.items() if name.startswith("scheduled")]
    return " + ".join(f"{bound:,}" for bound in placed) or "–"


def gap_of(result: Result) -> float:
    """Return how far the pods placed are from the bound, as a share of it, at the first tier not reached."""
    for name, bound in result.bounds.items():
        if name.startswith("scheduled") and result.values is not None and result.values[name] != bound:
            return (bound - result.values[name]) / bound
    return 0.0


def raw(results: Mapping[str, Result]) -> dict[str, Any]:
    """Return results as values that a file can keep."""
    return {"raw": {way: asdict(result) for way, result in results.items()}}


def present(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Make what the table shows of rows that hold raw results."""
    return [{**row, **_cells({way: Result(**told) for way, told in row["raw"].items()})} for row in rows]


def _cells(results: Mapping[str, Result]) -> dict[str, Any]:
    ours = results["ours"]
    behind = [way for way, result in results.items() if way != "ours" and better(result, ours)]
    reached = sum(ours.bounds[name] == value for name, value in (ours.values or {}).items())
    return {
        **dict.fromkeys(WAYS, "– (not tried)"),
        "booleans": "– (too large to build)",
        **{way: told(result) for way, result in results.items()},
        "bound": bound_of(ours),
        "gap": gap_of(ours),
        "closed": f"{reached} of {len(ours.bounds)}",
        "took": ours.seconds,
        "ours_mb": ours.peak_mb,
        "first": "yes" if not behind else f"behind {', '.join(HEADINGS[way] for way in behind)}",
    }


def columns() -> tuple[Column, ...]:
    """Return the columns of a table of contests."""
    return (
        *(Column(HEADINGS[way], f"{{{way}}}") for way in WAYS),
        Column("bound", "{bound}"),
        Column("gap", "{gap:.2%}"),
        Column("tiers proven", "{closed}"),
        Column("kubestow, s", "{took:.1f}"),
        Column("MiB", "{ours_mb:,.0f}"),
        Column("none better", "{first}"),
    )


HOW_TO_READ = """
Cells are pods placed, priority by priority from the highest down, then evictions and those that violate a
budget; ✓ is proven optimal, – no plan. Everyone has the same time and 2 threads; *bound* is kubestow's, and
*gap* how far its plan is from it at the first tier of placed pods that is not proven. Rivals' plans are put
in an order, played through the framework's filters and valued like kubestow's own."""
