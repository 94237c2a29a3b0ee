"""How the cost of a round grows with nodes, with pods and with classes of pods."""

import math
import time
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

from kubestow.encoders import encode
from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.instances.generated import deployments
from kubestow.instances.manifests import snapshot_of
from kubestow.solver.api import solve
from kubestow.solver.options import Progress, SolveOptions
from kubestow.solver.plans.greedy_baseline import greedy_outcome

from .registry import BenchSpec, Column, Row, register

STEPS = {"read": "reading", "index": "numbering", "greedy": "greedy baseline", "model": "building the model"}
STEPS["placing"] = "placing, proven best"
AXES = {"nodes": "nodes", "pods": "pending pods", "apps": "classes"}


def measure(axis: str, nodes: int, pods: int, apps: int, seconds: float) -> dict[str, Any]:
    import ortools.sat.python.cp_model  # noqa: F401, its import is no part of the cost

    objects = deployments(nodes, seed=1, pods_per_node=max(1, pods // nodes), apps=apps, demand=1.2)
    marks = [time.perf_counter()]
    snapshot = snapshot_of(objects)
    marks.append(time.perf_counter())
    cluster = build_cluster(snapshot)
    marks.append(time.perf_counter())
    greedy_outcome(cluster)
    marks.append(time.perf_counter())
    encode(build_problem(cluster))
    marks.append(time.perf_counter())
    steps = [later - earlier for earlier, later in pairwise(marks)]
    proven: dict[str, float] = {}

    def watch(news: Progress) -> None:
        if news.gap == 0:
            proven.setdefault(news.tier, news.seconds)

    plan = solve(snapshot, SolveOptions(time_limit=seconds, workers=2), watch)
    placing = [proven.get(tier.name) if tier.proven else None for tier in plan.tiers if tier.sense == "max"]
    told = math.nan if None in placing else max(filter(None, placing), default=math.nan)
    violations = [tier for tier in plan.tiers if tier.name.startswith("violations")]
    return {
        **dict(zip(STEPS, [*steps, told], strict=True)),
        "solve": plan.stats.wall_seconds,
        "violating": sum(tier.value for tier in violations),
        "violating_bound": sum(tier.bound or 0 for tier in violations),
        "proven": sum(tier.proven for tier in plan.tiers),
        "tiers": len(plan.tiers),
    }


def gap(row: Row) -> float:
    """Return how far the violations are above their bound, in percent of them; nan if not measured."""
    if "violating" not in row:
        return math.nan
    above = row["violating"] - row["violating_bound"]
    return 100 * above / row["violating"] if above else 0.0


def present(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Add the gap of the violations to rows."""
    return [{**row, "gap": gap(row)} for row in rows]


def draw(rows: Sequence[Row], file: Path) -> None:
    """Draw seconds and memory against each axis, on logarithmic scales, and beside seconds the gap."""
    matplotlib = import_module("matplotlib")
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "kubestow", "svg.fonttype": "none"})
    pyplot = import_module("matplotlib.pyplot")
    figure, panels = pyplot.subplots(2, len(AXES), figsize=(12, 6.5), sharey="row", layout="constrained")
    for column, (axis, label) in enumerate(AXES.items()):
        mine = sorted((row for row in rows if row["axis"] == axis), key=lambda row: row[axis])
        if not mine:
            continue
        along = [row[axis] for row in mine]
        for step, words in STEPS.items():
            panels[0][column].plot(along, [row[step] for row in mine], marker="o", label=words)
        beside = panels[0][column].twinx()
        beside.plot(along, [gap(row) for row in mine], marker="x", linestyle=":", color="grey")
        beside.set_ylim(0, 100)
        beside.set_ylabel("gap of the violations, % (dotted)" if column == len(AXES) - 1 else "")
        panels[1][column].plot(along, [row["peak_mb"] for row in mine], marker="o", color="black")
        fixed = ", ".join(f"{mine[0][other]:,} {AXES[other]}" for other in AXES if other != axis)
        panels[0][column].set_title(fixed, fontsize=9)
        for panel in (panels[0][column], panels[1][column]):
            panel.set_xscale("log")
            panel.set_yscale("log")
            panel.set_xlabel(label)
            panel.set_xticks(along, [f"{size:,}" for size in along])
            panel.set_xticks([], minor=True)
            panel.grid(visible=True, which="major", alpha=0.3)
    panels[0][0].set_ylabel("seconds")
    panels[1][0].set_ylabel("peak memory, MiB")
    for panel in (panels[0][0], panels[1][0]):
        panel.yaxis.set_major_formatter("{x:,g}")
        panel.yaxis.set_minor_formatter("")
    panels[1][0].set_yticks([250, 500, 1000, 2000, 4000, 8000])
    panels[1][0].set_ylim(200, max(2000.0, *(1.2 * row["peak_mb"] for row in rows)))
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=5, fontsize=9)
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)


def case(
    axis: str, nodes: int = 300, pods: int = 3000, apps: int = 60, seconds: float = 30.0
) -> dict[str, Any]:
    return {"axis": axis, "nodes": nodes, "pods": pods, "apps": apps, "seconds": seconds}


GROWTH = register(
    BenchSpec(
        name="growth",
        title="How cost grows",
        about="""
Generated clusters as above, one size varied at a time: nodes, pending pods, classes of pods. Solving is
everything from the snapshot to the replayed plan, the greedy baseline included; it has 30 s and ends when
every tier is proven. *Placing* is when the last of the tiers that count placed pods was proven (nan: one was
not). What is left of the time goes to evictions and budgets: *gap* is how far violating evictions are above
their bound, in percent of them (nan: measured before that was kept). Memory is the peak of a process that
does all the steps.""",
        cases=(
            *(case("nodes", nodes=nodes) for nodes in (100, 300, 1000, 3000)),
            *(case("pods", pods=pods) for pods in (300, 1000, 3000, 10000, 30000)),
            *(case("apps", apps=apps) for apps in (20, 60, 200, 600)),
        ),
        quick=(case("nodes", nodes=5, pods=20, apps=3, seconds=0.5),),
        measure=measure,
        draw=draw,
        fold=present,
        columns=(
            Column("along", "{axis}"),
            Column("nodes", "{nodes:,}"),
            Column("pods", "{pods:,}"),
            Column("classes", "{apps:,}"),
            Column("read, s", "{read:.1f}"),
            Column("index, s", "{index:.1f}"),
            Column("greedy, s", "{greedy:.1f}"),
            Column("model, s", "{model:.1f}"),
            Column("placing, s", "{placing:.1f}"),
            Column("solve, s", "{solve:.1f}"),
            Column("gap, %", "{gap:.1f}"),
            Column("tiers proven", "{proven} of {tiers}"),
            Column("peak, MiB", "{peak_mb:,.0f}"),
        ),
    )
)
