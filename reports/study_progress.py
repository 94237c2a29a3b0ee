"""Live progress of a study on stderr: rate, time left, and a line for each worker."""

from __future__ import annotations

import threading
from typing import IO, TYPE_CHECKING, Final, Self

from rich.live import Live
from rich.text import Text

from ..models.study import ERROR
from ..studies.pace import Pace
from .layout import console
from .words import shown

if TYPE_CHECKING:
    from types import TracebackType

    from ..studies.plan import Run
    from ..studies.rows import Solved

_BETWEEN: Final = 15.0
"""Seconds between two lines about runs that take long, where stderr is no terminal."""


class StudyProgress(Pace):
    """A listener and context manager; on a terminal a block is renewed in place, elsewhere lines follow.

    Elsewhere there is a line for each run, and one now and then while runs take long.

    Parameters
    ----------
    file : text stream
        Usually stderr.
    """

    def __init__(self, file: IO[str]) -> None:
        super().__init__()
        self._console = console(file)
        self._live = Live(
            get_renderable=lambda: Text(shown(describe(self))),
            console=self._console,
            refresh_per_second=2,
            transient=True,
        )
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._now_and_then, daemon=True)

    def __enter__(self) -> Self:
        """Begin to write."""
        if self._console.is_terminal:
            self._live.start()
        else:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop writing."""
        self._ended.set()
        if self._console.is_terminal:
            self._live.stop()
        else:
            self._thread.join()

    def finished(self, run: Run, solved: Solved) -> None:
        """See `studies.execute.Listener`."""
        super().finished(run, solved)
        if not self._console.is_terminal:
            self._say(f"{line(self, run, solved)}; {pace(self)}")
        elif solved.rows[0].status == ERROR:
            self._say(line(self, run, solved))

    def _now_and_then(self) -> None:
        while not self._ended.wait(_BETWEEN):
            self._say("; ".join(describe(self).splitlines()))

    def _say(self, words: str) -> None:
        self._console.print(Text(f"kubestow: {shown(words)}"), soft_wrap=True)


def line(study: Pace, run: Run, solved: Solved) -> str:
    """Return what became of a run, and which one it is."""
    first = solved.rows[0]
    told = f"failed: {first.error}" if first.status == ERROR else f"{first.status}, {first.seconds} s"
    return f"{study.done} of {study.total}: {run}: {told}"


def pace(study: Pace) -> str:
    """Return rate and time left, as far as they are known."""
    if study.rate is None or study.left is None:
        return "no run is done yet"
    often = f"{study.rate:.1f} runs/s" if study.rate >= 1 else f"{60 * study.rate:.1f} runs/min"
    return f"{often}, {duration(study.left)} left"


def describe(study: Pace) -> str:
    """Return where a study is: a line, and one for each worker."""
    if not study.total:
        return "reading the study"
    lines = [f"{study.done} of {study.total} runs done; {pace(study)}"]
    lines += [
        f"worker {number}: {run}, {duration(study.clock() - since)}"
        for number, (run, since) in sorted(study.workers.items())
    ]
    return "\n".join(lines)


def duration(seconds: float) -> str:
    """Return a duration in its largest two units."""
    whole = round(seconds)
    hours, minutes = whole // 3600, whole % 3600 // 60
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"
