"""The rows of a table: folded between words, never within one, and not at all where they are piped."""

import os
from collections.abc import Collection, Sequence
from typing import Final, Literal

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_INDENT: Final = 2
_GAP: Final = 3
"""Blanks before a table and between its columns."""

ANY_WIDTH: Final = 100_000
"""The width of a console on which every cell is asked how wide it would like to be."""


def folds(target: Console) -> bool:
    """Whether lines end where the terminal does; what is piped goes to `grep` and `awk`, a row a line."""
    return target.is_terminal or "COLUMNS" in os.environ


class Rows:
    """A table's rows; one that is wider than a terminal even when folded is left to the terminal.

    Parameters
    ----------
    columns, rows : sequences
        Headings and cells.
    right : collection of int
        Columns that are aligned on the right.
    headings : bool
        Whether the headings are shown.
    """

    def __init__(
        self,
        columns: Sequence[str],
        rows: Sequence[Sequence[RenderableType]],
        right: Collection[int],
        *,
        headings: bool = True,
    ) -> None:
        self._columns = columns if headings else [""] * len(columns)
        self._headings = headings
        self._rows = rows
        self._right = right

    def __rich_console__(self, target: Console, options: ConsoleOptions) -> RenderResult:
        """Render the table, as wide as it must be."""
        widths = self._widths(target, options.max_width if folds(target) else ANY_WIDTH)
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
        table.show_header = self._headings
        for index, (heading, width) in enumerate(zip(self._columns, widths, strict=True)):
            justify: Literal["left", "right"] = "right" if index in self._right else "left"
            table.add_column(heading, justify=justify, width=width, overflow="fold", header_style="dim")
        for row in self._rows:
            table.add_row(*row)
        whole = options.update(width=_INDENT + sum(widths) + _GAP * len(widths))
        yield from target.render(Padding(table, (0, 0, 0, _INDENT)), whole)

    def _widths(self, target: Console, most: int) -> list[int]:
        """Return each column's width: what it would like, down to its longest word where that is too much."""
        wide = target.options.update(width=ANY_WIDTH)
        cells = [[Text(heading) for heading in self._columns], *self._rows]
        asked = [
            [Measurement.get(target, wide, cell) for cell in column] for column in zip(*cells, strict=True)
        ]
        least = [max(cell.minimum for cell in column) for column in asked]
        widths = [max(cell.maximum for cell in column) for column in asked]
        available = most - _INDENT - _GAP * (len(widths) - 1)
        while sum(widths) > available:
            # The widest column that can give way does so, down to where it is no longer the widest.
            open_ = [k for k, width in enumerate(widths) if width > least[k]]
            if not open_:
                break
            widest = max(open_, key=widths.__getitem__)
            lower = max((widths[k] for k in open_ if widths[k] < widths[widest]), default=0)
            enough = widths[widest] - (sum(widths) - available)
            widths[widest] = max(least[widest], enough, min(lower, widths[widest] - 1))
        return widths
