"""A study as a table for people, and as one line of CSV for each tier of each instance."""

import csv
import io

from rich.console import Group, RenderableType
from rich.text import Text

from ..models.study import ERROR, StudiedInstance, StudiedTier, Study
from .layout import section
from .words import count

CSV_COLUMNS = (
    *("instance", "nodes", "pending", "running", "status", "admissible", "interrupted"),
    *("seconds", "greedySeconds", "tier", "sense", "optimal", "bound", "gap", "proven", "greedy", "error"),
)

_WORDS = ("instance", "greedy differs in", "")
"""Columns that are aligned on the left."""


def study_report(study: Study, *, wide: bool = False) -> RenderableType:
    """Return the report of a study: a sentence, and a line for each instance.

    A wide one has the pods that ran before and the baseline's seconds, too.
    """
    rows = [_row(item, wide) for item in study.instances]
    columns = (
        *("instance", "nodes", "pods", *(["running"] if wide else [])),
        *("greedy differs in", "optimal", "greedy", "bound", "seconds"),
        *(["greedy's seconds"] if wide else []),
        "",
    )
    numbers = [k for k, column in enumerate(columns) if column not in _WORDS]
    table = section("Instances", columns, rows, numbers, "instances")
    return Group(Text(conclusion(study), style="bold"), *table)


def conclusion(study: Study) -> str:
    """Return what a reader should remember of a study."""
    items = study.instances
    proven = sum(item.status == "OPTIMAL" for item in items)
    better = sum(item.first_difference is not None for item in items)
    failed = sum(item.status == ERROR for item in items)
    return (
        f"{count(len(items), 'instance')}: {proven} proven optimal, {better} where greedy falls behind"
        f"{f', {failed} failed' if failed else ''}"
        f"{'; interrupted' if study.interrupted else ''}"
    )


def study_csv(study: Study) -> str:
    """Return a study as CSV, one line for each tier of each instance, under a heading.

    An instance that failed has one line, without a tier.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for item in study.instances:
        whole = item.model_dump(by_alias=True)
        tiers = [{**tier.model_dump(by_alias=True), "tier": tier.name} for tier in item.tiers]
        for tier in tiers or [{}]:
            cells = {**whole, **tier}
            writer.writerow(_cell(cells.get(column)) for column in CSV_COLUMNS)
    return file.getvalue()


def _cell(value: object) -> object:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else value


def _row(item: StudiedInstance, wide: bool) -> tuple[str, ...]:
    tier = _told(item)
    values = ("", "", "") if tier is None else (str(tier.optimal), str(tier.greedy), str(tier.bound))
    if item.status == ERROR:
        return (item.instance, *[""] * (9 if wide else 7), f"failed: {item.error}")
    remarks = [
        "proven" if item.status == "OPTIMAL" else "",
        "" if item.admissible else "greedy's outcome, no plan",
        "interrupted" if item.interrupted else "",
    ]
    return (
        item.instance,
        str(item.nodes),
        str(item.pending),
        *([str(item.running)] if wide else []),
        item.first_difference or "",
        *values,
        f"{item.seconds:.1f}",
        *([f"{item.greedy_seconds:.1f}"] if wide else []),
        ", ".join(filter(None, remarks)),
    )


def _told(item: StudiedInstance) -> StudiedTier | None:
    """Return the tier to show: where the schedulers differ, else the first that is not proven."""
    wanted = (t for t in item.tiers if t.name == item.first_difference)
    return next(wanted, next((t for t in item.tiers if not t.proven), None))
