"""Live progress on stderr for what takes a while: a solve's tier and bound, a fetch's lists and objects."""

import threading
import time
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import IO, Generic, Self, TypeVar

from rich.text import Text

from ..models.fetched import Fetched
from ..solver.options import Progress
from .layout import console
from .words import count

T = TypeVar("T")

#: Seconds before a terminal shows anything (most rounds are solved by then), and between two updates.
TERMINAL_PACE = (2.0, 0.5)

#: The same for a run whose stderr is no terminal: a long run in a log is not silent, a short one is.
PLAIN_PACE = (15.0, 15.0)

#: The same for a fetch, which has something new to tell with every page.
FETCH_PACE = (2.0, 5.0)


class LiveReport(Generic[T]):
    """A context manager that may be handed to what takes long as its progress callback.

    On a terminal one line is renewed in place; elsewhere a plain line is written now and then. What works
    only leaves its news here; a thread of its own writes, so that work without news is seen to be alive.

    Parameters
    ----------
    file : text stream
        Where to write, usually stderr.
    describe : callable
        Makes a line of the news (None before the first) and the seconds so far.
    pace : tuple of float, optional
        Seconds before the first line and between lines.
    """

    def __init__(
        self,
        file: IO[str],
        describe: Callable[[T | None, float], str],
        pace: tuple[float, float] | None = None,
    ) -> None:
        self._describe = describe
        self._console = console(file)
        usual = TERMINAL_PACE if self._console.is_terminal else PLAIN_PACE
        self._pace = usual if pace is None else pace
        self._news: T | None = None
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

    def __call__(self, news: T) -> None:
        """Record how far the work is."""
        self._news = news

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
        show(Text(self._describe(self._news, time.monotonic() - start)))
        while not self._done.wait(between):
            show(Text(self._describe(self._news, time.monotonic() - start)))


class ProgressReport(LiveReport[Progress]):
    """The progress of a solve."""

    def __init__(self, file: IO[str], pace: tuple[float, float] | None = None) -> None:
        super().__init__(file, describe, pace)


class FetchReport(LiveReport[Fetched]):
    """The progress of a fetch from a live cluster, or of writing a snapshot.

    Parameters
    ----------
    first : str
        What is done before there is any news.
    """

    def __init__(self, file: IO[str], first: str, pace: tuple[float, float] | None = None) -> None:
        usual = TERMINAL_PACE if file.isatty() else FETCH_PACE
        super().__init__(file, partial(describe_fetch, first), usual if pace is None else pace)


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


def describe_fetch(first: str, fetched: Fetched | None, seconds: float) -> str:
    """Return one line: seconds, and how far the fetch is."""
    return f"{seconds:.0f} s  {first if fetched is None else what_is_fetched(fetched)}"


def what_is_fetched(fetched: Fetched) -> str:
    """Return what is being listed, its pages and objects, objects in all; or how many are written."""
    if not fetched.pages:
        return f"{fetched.resource}: {fetched.objects} of {fetched.total} objects written"
    pages, objects = count(fetched.pages, "page"), count(fetched.objects, "object")
    return f"{fetched.resource}: {pages}, {objects} ({fetched.total} in all)"
