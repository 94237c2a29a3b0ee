"""A titled table whose rows are grouped by kind, or counted, where they are too many."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from .page import ROWS, Layout, Page
from .rows import Rows
from .words import count, cut

_ALONE: Final = 10
"""Rows that stay as they are where the others are grouped."""

_EXAMPLES: Final = 3
"""Names that stand for a kind."""

_EVERY_ROW: Final = "--all shows every row"


class Kind(NamedTuple):
    """What one row of a table is about, for the row that may stand in its place.

    Attributes
    ----------
    names : sequence of str
        What the row's first cell names.
    cells : tuple of str
        The other cells of the row that stands for the kind; rows in which they are equal are of one kind.
    """

    names: Sequence[str]
    cells: tuple[str, ...]


class Section:
    """A titled table that is rendered as the page wants it.

    Parameters
    ----------
    title : str
    columns : sequence of str
        Headings.
    rows : sequence of sequences
        Cells: text or anything that rich renders.
    right : collection of int
        Columns that are aligned on the right.
    rest : str
        What to call rows that are left out and only counted.
    kinds : sequence of Kind
        One for each row, or none where rows are not grouped.
    noun : str
        What the names of kinds are names of, as of one.
    most : int or None
        Most rows; the page's own number if None.
    """

    def __init__(
        self,
        title: str,
        columns: Sequence[str],
        rows: Sequence[Sequence[RenderableType]],
        *,
        right: Collection[int],
        rest: str,
        kinds: Sequence[Kind],
        noun: str,
        most: int | None,
    ) -> None:
        self._title = title
        self._columns = columns
        self._rows = rows
        self._right = right
        self._rest = rest
        self._kinds = kinds
        self._noun = noun
        self._most = most

    def __rich_console__(self, target: Console, options: ConsoleOptions) -> RenderResult:
        """Render title and table, and say what the table leaves out."""
        layout, most = (target.layout, target.rows) if isinstance(target, Page) else (Layout(), ROWS)
        if self._most is not None:
            most = self._most
        rows, last = self._rows, ""
        if most is not None and self._kinds and len(rows) > most + 1:
            rows, last = self._grouped(most)
        elif most is not None:
            rows, hidden = cut(rows, most)
            last = f"and {hidden} more {self._rest} ({_EVERY_ROW})" if hidden else ""
        if layout.headers:
            yield Text(self._title, style="bold")
        # Plain text becomes Text: a tier's square brackets are not rich's markup.
        cells = [[Text(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
        yield Rows(self._columns, cells, self._right, headings=layout.headers)
        if last:
            yield Text(f"  {last}", style="dim")

    def _grouped(self, most: int) -> tuple[list[Sequence[RenderableType]], str]:
        """Return the first rows, a row for each kind of the others, and the line below them."""
        alone = min(_ALONE, most // 2)
        kinds = _by_kind(self._kinds[alone:])
        frequent = sorted(kinds.items(), key=lambda item: -len(item[1]))  # a stable order: first come first
        shown, hidden = cut(frequent, most - alone)
        grouped = [(self._example(names), *cells) for cells, names in shown]
        total = sum(len(names) for names in kinds.values())
        beyond = f", {hidden} kinds of them left out" if hidden else ""
        last = f"{count(total, self._noun)} grouped by kind{beyond} ({_EVERY_ROW})"
        return [*self._rows[:alone], *grouped], last

    def _example(self, names: Sequence[str]) -> str:
        first = ", ".join(names[:_EXAMPLES])
        such = "such as " if len(names) > _EXAMPLES else ""
        return f"{count(len(names), self._noun)}: {such}{first}"


def _by_kind(kinds: Sequence[Kind]) -> Mapping[tuple[str, ...], list[str]]:
    """Return the names of each kind, in the order in which kinds come first."""
    grouped: dict[tuple[str, ...], list[str]] = {}
    for kind in kinds:
        grouped.setdefault(kind.cells, []).extend(kind.names)
    return grouped
