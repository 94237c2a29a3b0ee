"""How well the time limit is kept: seconds over it, after reading, on rounds whose search would go on."""

import resource
import time
from dataclasses import replace
from typing import Any

from kubestow.instances.generated import contested, packing
from kubestow.instances.manifests import snapshot_of
from kubestow.instances.openb import load_openb
from kubestow.instances.openb_options import OpenbOptions
from kubestow.instances.racks import racks
from kubestow.models.kube_version import KubeVersion
from kubestow.models.snapshot import Snapshot
from kubestow.solver.api import WORDS, load_solver, solve
from kubestow.solver.options import SolveOptions

from .openb import TRACE
from .registry import BenchSpec, Column, register

SEARCH = "finding classes: pods"
"""The first phase after greedy's run."""

INSTANCES = {
    "tight": lambda: snapshot_of(packing(4, 4, 2, 1.0, 1)),
    "racks(1)": lambda: snapshot_of(racks(1)),
    "racks(1, racks=16, gangs=16)": lambda: snapshot_of(racks(1, racks=16, gangs=16)),
    "racks(3, gangs=120)": lambda: snapshot_of(racks(3, gangs=120)),
    "contested(1000)": lambda: snapshot_of(contested(1000, 1)),
    "openb": lambda: _openb(),
}


def _openb() -> Snapshot:
    files = (TRACE / "openb_node_list_all_node.csv", TRACE / "openb_pod_list_default.csv")
    return load_openb(*files, OpenbOptions(gpus="summed"))


def measure(instance: str, release: str, seconds: float) -> dict[str, Any]:
    snapshot = replace(INSTANCES[instance](), kube_version=KubeVersion.parse(release))
    load_solver()
    times: dict[str, float] = {}  # when a phase was first heard of

    def watch(phase: str, done: int = 0, total: int = 0) -> None:
        times.setdefault(phase, time.monotonic())

    begin, worked = time.monotonic(), _processor()
    plan = solve(snapshot, SolveOptions(time_limit=seconds, workers=2), watch=watch)
    end = time.monotonic()
    searched = next(times[phase] for phase in (*times, WORDS) if phase in (SEARCH, WORDS))
    return {
        "nodes": len(snapshot.nodes),
        "pods": len(snapshot.pods),
        "greedy": searched - begin,
        "words": end - times[WORDS],
        "over": end - begin - seconds,
        "processor": _processor() - worked,
        "status": plan.status,
    }


def _processor() -> float:
    """Return the seconds of processor time of this process and of those that it has waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def cases() -> list[dict[str, Any]]:
    """Every instance with a limit that is too short for anything, and with longer ones."""
    limits = {
        ("racks(1)", "1.34"): (0.5, 20.0),
        ("racks(3, gangs=120)", "1.34"): (0.5, 20.0),
        ("racks(1, racks=16, gangs=16)", "1.36"): (0.5, 30.0),
        ("contested(1000)", "1.36"): (0.5, 30.0, 60.0),
        ("openb", "1.36"): (0.5, 30.0, 60.0),
    }
    return [
        {"instance": instance, "release": release, "seconds": seconds}
        for (instance, release), each in limits.items()
        for seconds in each
    ]


LIMITS = register(
    BenchSpec(
        name="limits",
        title="How well the time limit is kept",
        about="""
Rounds that a search would go on with, each solved once for each limit, by 2 threads. *Greedy done* is
when the index and greedy's run were over, *words and replay* what it took to write the best plan down and
to replay it: both are never cut short ([model.md](model.md), "How the time is spent"), and where they
take longer than the limit together, the answer is late. *Over the limit* is the clock from the call,
after reading, to the replayed plan, less the limit: below 0 the search ended before. The release says
whose kube-scheduler greedy is. Processor time is that of all threads and processes; where it is far below
the clock, others used the machine.""",
        cases=tuple(cases()),
        quick=({"instance": "tight", "release": "1.36", "seconds": 0.2},),
        measure=measure,
        columns=(
            Column("instance", "{instance}"),
            Column("release", "{release}"),
            Column("nodes", "{nodes:,}"),
            Column("pods", "{pods:,}"),
            Column("limit, s", "{seconds:g}"),
            Column("greedy done, s", "{greedy:.1f}"),
            Column("words and replay, s", "{words:.1f}"),
            Column("over the limit, s", "{over:+.1f}"),
            Column("processor, s", "{processor:.1f}"),
            Column("status", "{status}"),
        ),
    )
)
