"""docs/benchmarks.md: each benchmark writes its own section between its own markers."""

import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from .registry import BenchSpec

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"


IMAGES: Final = PAGE.parent / "img"


def section(spec: BenchSpec, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a benchmark's section in Markdown, without its markers."""
    part = "" if len(rows) >= len(spec.cases) else f", {len(rows)} of {len(spec.cases)} cases"
    lines = [
        f"## {spec.title}",
        "",
        spec.about.strip(),
        "",
        f"`python -m benchmarks {spec.name} --write`, {machine()}{part}:",
        "",
        *table(spec, rows),
    ]
    if spec.draw is not None:
        lines += ["", f"![{spec.title}](img/{picture(spec).name})"]
    return "\n".join(lines)


def picture(spec: BenchSpec) -> Path:
    """Return the file of a benchmark's picture."""
    return IMAGES / f"benchmark-{spec.name}.svg"


def table(spec: BenchSpec, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the table as aligned lines of Markdown, numbers on the right."""
    cells = [[column.heading for column in spec.columns]]
    told = rows if spec.fold is None else spec.fold(rows)
    cells += [[column.cell.format(**row) for column in spec.columns] for row in told]
    widths = [max(len(line[k]) for line in cells) for k in range(len(spec.columns))]
    head, *body = (
        "| " + " | ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in cells
    )
    return [head, "|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|", *body]


def machine() -> str:
    """Return a line on where the figures are from."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} cores, Python {platform.python_version()}, numpy {version('numpy')}"


def replace(page: str, name: str, text: str) -> str:
    """Return the page with a section put between its markers; a new section comes last."""
    begin, end = f"<!-- benchmark: {name} -->\n", f"<!-- end: {name} -->\n"
    block = f"{begin}{text}\n{end}"
    before, found, rest = page.partition(begin)
    if not found:
        return f"{page.rstrip()}\n\n{block}"
    _, closed, after = rest.partition(end)
    if not closed:
        raise ValueError(f"the section of {name} has no end marker")
    return before + block + after


def write(name: str, text: str, page: Path = PAGE) -> None:
    """Write a section into the page."""
    page.write_text(replace(page.read_text(encoding="utf-8"), name, text), encoding="utf-8")
