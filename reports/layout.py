"""How every table of kubestow looks: one style, one width, plain when it is not read on a terminal."""

import os
from collections.abc import Iterable, Sequence
from typing import IO

from rich import box
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .words import cut

#: Columns where no terminal says how wide it is (a pipe, a file); the variable COLUMNS overrides it.
PLAIN_WIDTH = 120

#: Most rows of one table; the JSON document has all of them.
ROWS = 40


def console(file: IO[str]) -> Console:
    """Return a console for `file`, with colours, bold and lines that are renewed on a terminal only.

    Where NO_COLOR is set or TERM is dumb a terminal gets nothing but text, as a file does.
    """
    terminal = file.isatty()
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")
    width = None if terminal or "COLUMNS" in os.environ else PLAIN_WIDTH
    return Console(file=file, width=width, highlight=False, force_terminal=terminal and wanted)


def show(report: RenderableType, file: IO[str]) -> None:
    """Print a report; where no terminal reads it, without blanks at the ends of lines."""
    target = console(file)
    if target.is_terminal:
        target.print(report)
        return
    with target.capture() as capture:
        target.print(report)
    # Names may hold anything; what would move a terminal's cursor later on is shown instead.
    text = "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in capture.get())
    file.writelines(line.rstrip() + "\n" for line in text.split("\n")[:-1])


def section(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[RenderableType]],
    numbers: Iterable[int] = (),
    rest: str = "",
) -> list[RenderableType]:
    """Return a titled table, or nothing where it has no rows.

    Parameters
    ----------
    columns, rows : sequences
        Headings and cells; a cell is text or anything that rich renders.
    numbers : iterable of int
        Columns to align on the right.
    rest : str
        What to call the rows beyond `ROWS`, which are only counted.
    """
    if not rows:
        return []
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    right = set(numbers)
    for index, heading in enumerate(columns):
        table.add_column(
            heading, justify="right" if index in right else "left", overflow="fold", header_style="dim"
        )
    shown, hidden = cut(rows, ROWS)
    for row in shown:
        # Plain text becomes Text: a tier's square brackets are not rich's markup.
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    parts: list[RenderableType] = [Text(""), Text(title, style="bold"), Padding(table, (0, 0, 0, 2))]
    if hidden:
        parts.append(Text(f"  and {hidden} more {rest} (-o json has all of them)", style="dim"))
    return parts
