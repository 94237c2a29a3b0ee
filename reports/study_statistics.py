"""The statistics of a study for people, papers and programs: tables, Markdown, LaTeX, CSV."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

from .layout import section
from .study_tables import Table, conclusion, tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..models.study_report import StudyReport

_LATEX: Final = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    "[": "{[}",  # at the start of a row it would belong to the line break before
    ">": r"\textgreater{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
_NAMES: Final = ("variant", "family", "scheduler", "first", "second", "tier", "priority")
_CURVES: Final = {"steps": "seconds", "points": "ratio"}
"""Lists inside statistics, with the field that is the curve's horizontal axis."""

CSV_COLUMNS: Final = ("statistic", *_NAMES, "n", "measure", "at", "value")


def statistics_report(report: StudyReport) -> RenderableType:
    """Return all tables, under a sentence."""
    parts: list[RenderableType] = [Text(conclusion(report), style="bold")]
    for table in tables(report):
        parts += section(
            table.title, table.columns, table.rows, range(table.words, len(table.columns)), "rows"
        )
        if table.note:
            parts.append(Text(f"  {table.note}", style="dim"))
    return Group(*parts)


def statistics_markdown(report: StudyReport) -> str:
    """Return all tables in GitHub's Markdown."""
    parts = [f"# {_of_markdown(conclusion(report))}\n"]
    for table in tables(report):
        rules = ["---"] * table.words + ["---:"] * (len(table.columns) - table.words)
        lines = [table.columns, rules, *table.rows]
        cells = "\n".join(f"| {' | '.join(map(_of_markdown, line))} |" for line in lines)
        note = f"\n{_of_markdown(table.note)}\n" if table.note else ""
        parts.append(f"## {table.title}\n\n{cells}\n{note}")
    return "\n".join(parts)


def statistics_latex(report: StudyReport) -> str:
    r"""Return all tables as LaTeX that takes `\usepackage{booktabs}`, a table environment each."""
    lines = [f"% {' '.join(conclusion(report).split())}", *map(_latex, tables(report)), ""]
    return "\n".join(lines)


def statistics_csv(report: StudyReport) -> str:
    """Return all statistics as one tidy CSV: a line for each number, with its n."""
    file = io.StringIO()
    writer = csv.DictWriter(file, CSV_COLUMNS, lineterminator="\n")
    writer.writeheader()
    document = report.model_dump(by_alias=False)
    for statistic in ("shares", "gaps", "contests", "survival", "profiles"):
        for item in document[statistic]:
            names = {name: item[name] for name in _NAMES if item.get(name) is not None}
            about = {"statistic": statistic, **names, "n": item["n"]}
            writer.writerows({**about, **number} for number in _numbers(item))
    return file.getvalue()


def _numbers(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name, value in item.items():
        if isinstance(value, (int, float)) and name not in ("n", "priority"):
            yield {"measure": name, "value": value}
        axis = _CURVES.get(name)
        for point in value if axis else ():
            for measure, number in point.items():
                if measure != axis:
                    yield {"measure": measure, "at": point[axis], "value": number}


def _of_markdown(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text) if text not in ("---", "---:") else text


def _latex(table: Table) -> str:
    columns = "l" * table.words + "r" * (len(table.columns) - table.words)
    lines = [" & ".join(map(_of_latex, line)) + r" \\" for line in (table.columns, *table.rows)]
    note = ["", rf"\par\smallskip\footnotesize {_of_latex(table.note)}"] if table.note else []
    return "\n".join(
        [
            "",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_of_latex(table.title)}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
            *note,
            r"\end{table}",
        ]
    )


def _of_latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)
