"""Pieces of one search side by side: in processes of this machine, where the search may start any."""

from __future__ import annotations

import multiprocessing
from typing import TYPE_CHECKING, Any

from ..refill.search import one_by_one
from .base import Lost
from .engine import Processes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..options import SolveOptions
    from ..refill.search import SideBySide


def side_by_side_for(options: SolveOptions) -> tuple[int, SideBySide]:
    """Return how many pieces run at once, and what runs them: processes, but not below one for a piece."""
    slots = 1 if multiprocessing.current_process().daemon else options.workers
    return slots, in_processes(slots) if slots > 1 else one_by_one


def in_processes(slots: int) -> SideBySide:
    """Return what does pieces of work in so many processes at once."""

    def run(work: Callable[[Any], Any], number: int, pieces: Iterable[Any]) -> Iterator[tuple[int, Any]]:
        heard = 0
        for k, result in Processes(min(slots, number)).run(_apply, work, pieces, _ignore):
            if isinstance(result, Lost):
                raise result.error
            heard += 1
            yield k, result
        if heard < number:  # Ctrl-C went to the processes
            raise KeyboardInterrupt

    return run


def _apply(work: Callable[[Any], Any], piece: Any, report: Callable[[Any], None]) -> Any:
    return work(piece)


def _ignore(number: int, news: Any) -> None:
    """Pieces tell nothing before they are done."""
