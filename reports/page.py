"""What a report is written on: how many rows a table may have, and whether it has titles."""

from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console

#: Most rows of one table; what is left is grouped or counted.
ROWS: Final = 40

#: Rows of one table that even a low terminal gets.
LEAST_ROWS: Final = 10

_BESIDE: Final = 5
"""Lines of a terminal that are not a table's rows: title, headings, rule, last line, prompt."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How tables are laid out.

    Attributes
    ----------
    whole : bool
        Whether every row is shown, however many there are.
    headers : bool
        Whether tables have titles and headings.
    """

    whole: bool = False
    headers: bool = True


class Page(Console):
    """A console that knows how its tables are laid out."""

    def __init__(self, layout: Layout, **options: Any) -> None:
        super().__init__(**options)
        self.layout = layout

    @property
    def rows(self) -> int | None:
        """Most rows of one table: as many as a terminal has room for, fewer than `ROWS`; None for all."""
        if self.layout.whole:
            return None
        if not self.file.isatty():
            return ROWS
        return max(LEAST_ROWS, min(ROWS, self.size.height - _BESIDE))
