"""Trees of pod groups in which greedy gets stuck, and whether the optimum decides them in its time."""

import time
from collections.abc import Sequence
from dataclasses import replace
from statistics import quantiles
from typing import Any

from kubestow.instances.manifests import snapshot_of
from kubestow.instances.trees import tree
from kubestow.models.kube_version import KubeVersion
from kubestow.solver.api import SolveOptions, solve_both

from .registry import BenchSpec, Column, Row, register


def measure(first: int, seeds: int, seconds: float) -> dict[str, Any]:
    """Solve the trees of some seeds, and keep those in which greedy leaves a pod out."""
    found: dict[str, list[Any]] = {"times": [], "decided": [], "placed": [], "better": [], "groups": []}
    for seed in range(first, first + seeds):
        snapshot = replace(snapshot_of(tree(seed)), kube_version=KubeVersion.V1_37)
        begin = time.monotonic()
        optimal, greedy = solve_both(snapshot, SolveOptions(time_limit=seconds))
        spent = time.monotonic() - begin
        pending = sum(not pod.spec.node_name for pod in snapshot.pods)
        if len(greedy.placed()) == pending:
            continue
        found["times"].append(spent)
        found["decided"].append(optimal.tiers[0].proven)
        found["placed"].append(len(optimal.placed()) == pending)
        found["better"].append(len(optimal.placed()) > len(greedy.placed()))
        found["groups"].append(len(snapshot.pod_groups) + len(snapshot.composite_pod_groups))
    return found


def fold(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Put all seeds of a time limit into one line."""
    return [
        _line([row for row in rows if row["seconds"] == limit], limit)
        for limit in sorted({row["seconds"] for row in rows})
    ]


def _line(rows: Sequence[Row], limit: float) -> dict[str, Any]:
    times = sorted(value for row in rows for value in row["times"])
    line: dict[str, Any] = {
        name: sum(sum(row[name]) for row in rows) for name in ("decided", "placed", "better")
    }
    middle, high = _shares(times)
    return {
        **line,
        "seconds": limit,
        "trees": len(times),
        "groups": max((value for row in rows for value in row["groups"]), default=0),
        "median": middle,
        "p90": high,
        "longest": times[-1] if times else 0.0,
    }


def _shares(times: Sequence[float]) -> tuple[float, float]:
    """Return the median and the 90th percentile."""
    if len(times) < 2:
        return (times[0], times[0]) if times else (0.0, 0.0)
    cuts = quantiles(times, n=10, method="inclusive")
    return cuts[4], cuts[8]


TREES = register(
    BenchSpec(
        name="trees",
        title="Trees of pod groups in which greedy gets stuck",
        about="""
Seeded trees of pod groups (KEP-6012): clusters of up to 200 nodes in blocks of racks, partly in use; two to
four levels of groups, most of them gangs, whose pod groups are cut to what is free in the racks of one block;
in two of five trees one pod group more has to fit. Counted are the trees in which greedy, as kube-scheduler
1.37 has it, leaves pods out. *Decided*: the number of pods that can be placed is proven; *all placed*: it is
all of them; *better*: more than greedy's. Times are those of both schedulers together, from the snapshot to
two replayed plans.""",
        cases=tuple({"first": first, "seeds": 50, "seconds": 10.0} for first in range(0, 2000, 50)),
        quick=({"first": 36, "seeds": 1, "seconds": 1.0},),
        measure=measure,
        fold=fold,
        columns=(
            Column("time limit, s", "{seconds:g}"),
            Column("trees", "{trees:,}"),
            Column("most groups", "{groups}"),
            Column("decided", "{decided:,}"),
            Column("all placed", "{placed:,}"),
            Column("better", "{better:,}"),
            Column("median, s", "{median:.1f}"),
            Column("90 %, s", "{p90:.1f}"),
            Column("longest, s", "{longest:.1f}"),
        ),
    )
)
