"""The time of one question: every step of its answer ends with it."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..options import SolveOptions

LEAST = 0.2
"""Seconds that a question about a round gets although time is out: most are answered at once."""


class Clock:
    """Hands out what is left of the time that a question was given.

    Parameters
    ----------
    options : SolveOptions
        `time_limit` is that of the whole question; the clock starts now.
    """

    def __init__(self, options: SolveOptions) -> None:
        self._options = options
        self._end = time.monotonic() + options.time_limit

    @property
    def left(self) -> float:
        """The seconds that are left; not positive where time is out."""
        return self._end - time.monotonic()

    def options(self, share: float = 1.0) -> SolveOptions:
        """Return the options of a step that may take a share of what is left."""
        return replace(self._options, time_limit=max(share * self.left, LEAST))
