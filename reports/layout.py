"""How every table of kubestow looks: one style, plain when it is not read on a terminal."""

import os
from collections.abc import Iterable, Sequence
from typing import IO

from rich.console import RenderableType
from rich.segment import Segment, Segments
from rich.text import Text

from .page import Layout, Page
from .rows import folds
from .section import Kind, Section
from .words import shown

#: Columns of a picture where no terminal says how wide it is; the variable COLUMNS overrides it.
PLAIN_WIDTH = 120


def console(file: IO[str], layout: Layout | None = None) -> Page:
    """Return a console for `file`, with colours, bold and lines that are renewed on a terminal only.

    FORCE_COLOR makes a terminal of a pipe. Where NO_COLOR is set or TERM is dumb a terminal gets nothing but
    text, as a file does.
    """
    terminal = file.isatty() or bool(os.environ.get("FORCE_COLOR"))
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")
    width = None if file.isatty() or "COLUMNS" in os.environ else PLAIN_WIDTH
    return Page(
        layout or Layout(), file=file, width=width, highlight=False, force_terminal=terminal and wanted
    )


def show(report: RenderableType, file: IO[str], layout: Layout | None = None) -> None:
    """Print a report; where no terminal reads it, without blanks at the ends of lines.

    Names may hold anything: what would move a terminal's cursor, now or later on, is shown instead.
    """
    target = console(file, layout)
    if target.is_terminal:
        parts = target.render(report)
        visible = Segments(Segment(shown(part.text), part.style, part.control) for part in parts)
        target.print(visible, crop=False)
        return
    with target.capture() as capture:
        if folds(target):
            target.print(report, crop=False)
        else:
            target.print(report, crop=False, no_wrap=True, overflow="ignore")
    file.writelines(line.rstrip() + "\n" for line in shown(capture.get()).split("\n")[:-1])


def section(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[RenderableType]],
    numbers: Iterable[int] = (),
    rest: str = "",
    most: int | None = None,
    kinds: Sequence[Kind] = (),
    noun: str = "pod",
) -> list[RenderableType]:
    """Return a titled table with an empty line before it, or nothing where it has no rows.

    Parameters
    ----------
    columns, rows : sequences
        Headings and cells; a cell is text or anything that rich renders.
    numbers : iterable of int
        Columns to align on the right.
    rest : str
        What to call the rows beyond those that are shown, which are only counted.
    most : int, optional
        Rows that are shown; by default as many as the page has room for.
    kinds : sequence of Kind
        One for each row: what rows that do not fit are grouped by, instead of being counted.
    noun : str
        What is named in `kinds`.
    """
    if not rows:
        return []
    table = Section(title, columns, rows, right=set(numbers), rest=rest, kinds=kinds, noun=noun, most=most)
    return [Text(""), table]
