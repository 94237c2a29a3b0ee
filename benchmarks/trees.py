"""Trees of pod groups in which greedy gets stuck, and whether the optimum decides them in its time."""

import time
from collections.abc import Sequence
from dataclasses import replace
from statistics import quantiles
from typing import Any, Final

from kubestow.instances.manifests import snapshot_of
from kubestow.instances.trees import tree
from kubestow.models.kube_version import KubeVersion
from kubestow.solver.api import SolveOptions, load_solver, solve_both

from .registry import BenchSpec, Column, Row, register

PATIENCE: Final = 4
"""Times the limit that the search is given on the clock, which other load stretches."""

SIZES: Final = (20, 40, 60, 80)
"""Most groups of each line of the table but the last two: the larger ones, and all."""


def measure(first: int, seeds: int, seconds: float) -> dict[str, Any]:
    """Solve the trees of some seeds, and keep those in which greedy leaves a pod out."""
    load_solver()
    options = SolveOptions(time_limit=PATIENCE * seconds, workers=1)
    found: dict[str, list[Any]] = {
        name: [] for name in ("seed", "processor", "clock", "proven", "placed", "better", "groups")
    }
    for seed in range(first, first + seeds):
        snapshot = replace(snapshot_of(tree(seed)), kube_version=KubeVersion.V1_37)
        clock, processor = time.monotonic(), time.process_time()
        optimal, greedy = solve_both(snapshot, options)
        clock, processor = time.monotonic() - clock, time.process_time() - processor
        pending = sum(not pod.spec.node_name for pod in snapshot.pods)
        if len(greedy.placed()) == pending:
            continue
        found["seed"].append(seed)
        found["processor"].append(processor)
        found["clock"].append(clock)
        found["proven"].append(optimal.tiers[0].proven)
        found["placed"].append(len(optimal.placed()) == pending)
        found["better"].append(len(optimal.placed()) > len(greedy.placed()))
        found["groups"].append(len(snapshot.pod_groups) + len(snapshot.composite_pod_groups))
    return found


def fold(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Put the trees of all seeds into a line for each range of sizes, and one for all of them."""
    names = ("seed", "processor", "clock", "proven", "placed", "better", "groups")
    trees = [
        {**dict(zip(names, values, strict=True)), "seconds": row["seconds"]}
        for row in rows
        for values in zip(*(row[name] for name in names), strict=True)
    ]
    lines = []
    low = 1
    for high in SIZES:
        lines.append(_line(f"{low} to {high}", [each for each in trees if low <= each["groups"] <= high]))
        low = high + 1
    lines.append(_line(f"{low} and more", [each for each in trees if each["groups"] >= low]))
    lines.append(_line("all", trees))
    return [line for line in lines if line["trees"]]


def _line(name: str, trees: Sequence[Row]) -> dict[str, Any]:
    decided = [each for each in trees if each["proven"] and each["processor"] <= each["seconds"]]
    times = sorted(each["processor"] for each in trees)
    middle, high = _shares(times)
    return {
        "size": name,
        "trees": len(trees),
        "decided": len(decided),
        "by_clock": sum(each["proven"] and each["clock"] <= each["seconds"] for each in trees),
        "placed": sum(each["placed"] for each in decided),
        "refuted": sum(not each["placed"] for each in decided),
        "better": sum(each["better"] for each in trees),
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
1.37 has it, leaves pods out. *Decided*: the number of pods that can be placed is proven within 10 s of
processor time; it is either all of them, or the rest is proven to be impossible. *By the clock*: the same
within 10 s on the clock, which other load on the machine stretches; the search is therefore given 40 s there.
*Better*: more pods than greedy's. One worker; times are processor time of both schedulers together, from the
snapshot to two replayed plans.""",
        cases=tuple({"first": first, "seeds": 50, "seconds": 10.0} for first in range(0, 2200, 50)),
        quick=({"first": 36, "seeds": 1, "seconds": 1.0},),
        measure=measure,
        fold=fold,
        columns=(
            Column("groups", "{size}"),
            Column("trees", "{trees:,}"),
            Column("decided", "{decided:,}"),
            Column("by the clock", "{by_clock:,}"),
            Column("all placed", "{placed:,}"),
            Column("impossible", "{refuted:,}"),
            Column("better", "{better:,}"),
            Column("median, s", "{median:.2f}"),
            Column("90 %, s", "{p90:.2f}"),
            Column("longest, s", "{longest:.2f}"),
        ),
    )
)
