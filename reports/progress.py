"""Live progress on stderr for solves that take a while: tier, incumbent, bound, gap."""

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import IO, Self

from rich.text import Text

from ..solver.options import Progress
from .layout import console

#: Seconds before a terminal shows anything (most rounds are solved by then), and between two updates.
TERMINAL_PACE = (2.0, 0.5)

#: The same for a run whose stderr is no terminal: a long run in a log is not silent, a short one is.
PLAIN_PACE = (15.0, 15.0)


class ProgressReport:
    """A context manager that may be handed to the solver as its progress callback.

    On a terminal one line is renewed in place; elsewhere a plain line is written now and then. The solver
    only leaves its news here; a thread of its own writes, so that a search without news is seen to be alive.

    Parameters
    ----------
    file : text stream
        Where to write, usually stderr.
    pace : tuple of float, optional
        Seconds before the first line and between lines.
    """

    def __init__(self, file: IO[str], pace: tuple[float, float] | None = None) -> None:
        self._console = console(file)
        usual = TERMINAL_PACE if self._console.is_terminal else PLAIN_PACE
        self._pace = usual if pace is None else pace
        self._news: Progress | None = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)

    def __enter__(self) -> Self:
        """Start the clock."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop writing and take the live line away."""
        self._done.set()
        self._thread.join()

    def __call__(self, progress: Progress) -> None:
        """Record the progress of the search."""
        self._news = progress

    def _write(self) -> None:
        first, between = self._pace
        start = time.monotonic()
        if self._done.wait(first):
            return
        if self._console.is_terminal:
            with self._console.status("") as status:
                self._repeat(between, status.update, start)
        else:
            self._repeat(between, self._console.print, start)

    def _repeat(self, between: float, show: Callable[[Text], None], start: float) -> None:
        show(Text(describe(self._news, time.monotonic() - start)))
        while not self._done.wait(between):
            show(Text(describe(self._news, time.monotonic() - start)))


def describe(progress: Progress | None, seconds: float) -> str:
    """Return one line: seconds, tier, incumbent, bound, gap; what is not known yet is left out."""
    if progress is None:
        return f"{seconds:.0f} s  reading the round"
    known = [
        f"{name} {value}"
        for name, value in (("best", progress.incumbent), ("bound", progress.bound), ("gap", progress.gap))
        if value is not None
    ]
    return f"{seconds:.0f} s  {progress.tier}" + (": " + ", ".join(known) if known else "")
