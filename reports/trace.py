"""Report of the greedy baseline's cycles, of pods and of groups: what went where, and why not elsewhere."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from .group_cycles import GROUP_COLUMNS, group_rows
from .layout import section
from .section import Kind
from .view import EVERYTHING, View
from .words import count, listed, reason

_STYLES = {"bound": "green", "nominated": "yellow", "unschedulable": "red"}


def trace_report(instance: str, document: Mapping[str, Any], view: View = EVERYTHING) -> RenderableType:
    """Return the report of a trace document (`kubestow trace`), a row for each cycle of a pod or group."""
    cycles = document["cycles"]
    results = Counter(cycle["result"] for cycle in cycles)
    headline = "".join(f", {results[result]} {result}" for result in _STYLES if results[result])
    shown = [cycle for cycle in cycles if view.shows(cycle["pod"])]
    rows = [
        (
            cycle["pod"],
            *view.of_pod(cycle["pod"]),
            Text(cycle["result"], style=_STYLES[cycle["result"]]),
            cycle["node"] or "",
            *view.of_node(cycle["node"]),
            _score(cycle),
            _said(cycle),
        )
        for cycle in shown
    ]
    columns = ("pod", *view.about_pod, "result", "node", *view.about_node, "score", "because")
    before, between = ("",) * len(view.about_pod), ("",) * len(("node", *view.about_node, "score"))
    kinds = [Kind([c["pod"]], (*before, c["result"], *between, _kind(c))) for c in shown]
    return Group(
        Text.assemble((instance, "bold"), f": {count(len(cycles), 'cycle')}{headline}"),
        *view.remark,
        *section(
            "Cycles, in queue order",
            columns,
            rows,
            (*view.numbers, columns.index("score")),
            "cycles",
            kinds=kinds,
        ),
        *section("Cycles of groups", GROUP_COLUMNS, list(group_rows(document, view)), (1,), "groups"),
    )


def _score(cycle: Mapping[str, Any]) -> str:
    total = cycle.get("totals", {}).get(cycle["node"])
    return "" if total is None else str(total)


def _kind(cycle: Mapping[str, Any]) -> str:
    """Why a cycle ended so, in what many cycles have in common."""
    if cycle["result"] == "unschedulable":
        return reason(_said(cycle))
    return "evicts pods" if cycle.get("victims") else ""


def _said(cycle: Mapping[str, Any]) -> str:
    """Why the cycle ended so: the message, the victims, or how many nodes each plugin ruled out."""
    if cycle["result"] == "unschedulable":
        return str(cycle.get("message", ""))
    victims = cycle.get("victims") or []
    if victims:
        return f"evicts {listed(victims)}"
    plugins = Counter(status["plugin"] for status in cycle["filter"].values())
    rejections = [f"{plugin} rejects {number}" for plugin, number in sorted(plugins.items())]
    return ", ".join([count(len(cycle["feasible"]), "feasible node"), *rejections])
