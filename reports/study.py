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


def study_report(study: Study) -> RenderableType:
    """Return the report of a study: a sentence, and a line for each instance."""
    rows = [_row(item) for item in study.instances]
    columns = ("instance", "nodes", "pods", "greedy differs in", "optimal", "greedy", "bound", "seconds", "")
    return Group(Text(conclusion(study), style="bold"), *_titled(columns, rows))


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


def _titled(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[RenderableType]:
    return section("Instances", columns, rows, numbers=(1, 2, 4, 5, 6, 7), rest="instances")


def _row(item: StudiedInstance) -> tuple[str, ...]:
    tier = _told(item)
    values = ("", "", "") if tier is None else (str(tier.optimal), str(tier.greedy), str(tier.bound))
    if item.status == ERROR:
        return (item.instance, *[""] * 7, f"failed: {item.error}")
    remarks = [
        "proven" if item.status == "OPTIMAL" else "",
        "" if item.admissible else "greedy's outcome, no plan",
        "interrupted" if item.interrupted else "",
    ]
    return (
        item.instance,
        str(item.nodes),
        str(item.pending),
        item.first_difference or "",
        *values,
        f"{item.seconds:.1f}",
        ", ".join(filter(None, remarks)),
    )


def _told(item: StudiedInstance) -> StudiedTier | None:
    """Return the tier to show: where the schedulers differ, else the first that is not proven."""
    wanted = (t for t in item.tiers if t.name == item.first_difference)
    return next(wanted, next((t for t in item.tiers if not t.proven), None))
