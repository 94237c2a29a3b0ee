"""The end of a round's time: it ends what builds a model or reads one, step by step."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ..models.progress import unwatched

if TYPE_CHECKING:
    from ..models.progress import Watch


class OutOfTime(Exception):
    """The time is up in the middle of a step, whose result is lost."""


def until(deadline: float, watch: Watch = unwatched) -> Watch:
    """Return a watch that ends what it watches once a time has come.

    Parameters
    ----------
    deadline : float
        On the monotonic clock.
    watch : Watch
        Hears of the step before.
    """

    def hear(phase: str, done: int = 0, total: int = 0) -> None:
        watch(phase, done, total)
        if time.monotonic() >= deadline:
            raise OutOfTime

    return hear
