"""How results show themselves: as the command line prints them, in a notebook as HTML."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.console import RenderableType

_WIDTH: Final = 120
_HTML: Final = '<pre style="font-family:monospace;line-height:1.3;overflow-x:auto">{code}</pre>'


class Shown(ABC):
    """Something with a report: `print` shows it as a terminal does, a notebook draws it."""

    @abstractmethod
    def report(self) -> RenderableType:
        """Return the report of the command that prints the same."""

    def __str__(self) -> str:
        """Return the report as plain text."""
        from ..reports.layout import show

        file = io.StringIO()
        show(self.report(), file)
        return file.getvalue().rstrip("\n")

    def __repr__(self) -> str:
        """Return the report as plain text, which is what an interactive session shows."""
        return str(self)

    def _repr_html_(self) -> str:
        """Return the report as HTML; names are text in it, whatever they hold."""
        from ..reports.page import Layout, Page

        page = Page(Layout(), file=io.StringIO(), width=_WIDTH, record=True, highlight=False)
        page.print(self.report(), crop=False)
        return page.export_html(inline_styles=True, code_format=_HTML)
