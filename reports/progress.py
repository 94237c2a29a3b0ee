"""Live progress on stderr of what takes a while: what is read, indexed, tried, searched, replayed."""

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import IO, Final, NamedTuple, Protocol, Self

from rich.text import Text

from ..solver.options import Progress
from .layout import console

#: Seconds before a terminal shows anything (most rounds are solved by then), and between two updates.
TERMINAL_PACE = (1.0, 0.5)

#: The same for a run whose stderr is no terminal: a long run in a log is not silent, a short one is.
PLAIN_PACE = (15.0, 15.0)


_MIB: Final = 1 << 20


class Step(NamedTuple):
    """How far a step is, as a `models.progress.Watch` hears of it."""

    phase: str
    done: int = 0
    total: int = 0

    def __str__(self) -> str:
        """Return what is done, of how much, as far as that is known."""
        what, colon, unit = self.phase.rpartition(": ")
        if not self.done and not self.total:
            return what if colon else self.phase
        if unit == "bytes":
            done, total, unit = f"{self.done / _MIB:.0f}", f"{self.total / _MIB:.0f}", "MiB"
        else:
            done, total = f"{self.done:,}", f"{self.total:,}"
        return f"{what}: {done} of {total} {unit}" if self.total else f"{what}: {done} {unit}"


class Listener(Protocol):
    """What hears how far a command is."""

    def __call__(self, progress: Progress, /) -> None:
        """Hear of the search."""

    def watch(self, phase: str, done: int = 0, total: int = 0) -> None:
        """Hear of a step, as a `models.progress.Watch`."""


class Silence:
    """A listener that says nothing."""

    def __call__(self, progress: Progress) -> None:
        """Leave it unsaid."""

    def watch(self, phase: str, done: int = 0, total: int = 0) -> None:
        """Leave it unsaid."""


class ProgressReport:
    """A context manager; the solver may have it as its progress callback, and its `watch` as a watch.

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
        self._news: Progress | Step | None = None
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

    def watch(self, phase: str, done: int = 0, total: int = 0) -> None:
        """Record how far a step is."""
        self._news = Step(phase, done, total)

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


def describe(progress: Progress | Step | None, seconds: float) -> str:
    """Return one line: seconds, and a step, or tier, incumbent, bound and gap as far as they are known."""
    if progress is None:
        return f"{seconds:.0f} s  starting"
    if isinstance(progress, Step):
        return f"{seconds:.0f} s  {progress}"
    known = [
        f"{name} {value}"
        for name, value in (("best", progress.incumbent), ("bound", progress.bound), ("gap", progress.gap))
        if value is not None
    ]
    return f"{seconds:.0f} s  {progress.tier}" + (": " + ", ".join(known) if known else "")
