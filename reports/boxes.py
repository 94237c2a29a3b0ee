"""Boxes side by side, none of which is ever narrower than what is in it."""

from collections.abc import Sequence
from typing import Final

from rich.columns import Columns
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding

from .rows import ANY_WIDTH

_INDENT: Final = 2


class Boxes:
    """Boxes in lines; where one is wider than the page, all have their narrow form.

    What is still too wide is left to the terminal, so that a name is never broken.

    Parameters
    ----------
    wide, narrow : sequence
        The same boxes in both forms.
    """

    def __init__(self, wide: Sequence[RenderableType], narrow: Sequence[RenderableType]) -> None:
        self._wide = wide
        self._narrow = narrow

    def __rich_console__(self, target: Console, options: ConsoleOptions) -> RenderResult:
        """Render the boxes, as wide as they must be."""
        available = options.max_width - _INDENT
        boxes = self._wide if _widest(target, self._wide) <= available else self._narrow
        width = max(available, _widest(target, boxes))
        whole = options.update(width=width + _INDENT)
        yield from target.render(Padding(Columns(boxes, padding=(0, 1)), (0, 0, 0, _INDENT)), whole)


def _widest(target: Console, boxes: Sequence[RenderableType]) -> int:
    wide = target.options.update(width=ANY_WIDTH)
    return max((Measurement.get(target, wide, box).maximum for box in boxes), default=0)
