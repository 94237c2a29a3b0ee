"""A simulation for people: both schedulers side by side, and where a long run is."""

import time
from collections.abc import Callable, Mapping
from typing import IO, Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

from .layout import console, section

_FIRST: Final = 2.0
_BETWEEN: Final = {True: 0.5, False: 10.0}
"""Seconds between two lines, on a terminal and elsewhere."""

_ROWS: Final[tuple[tuple[str, Callable[[Mapping[str, Any]], Any]], ...]] = (
    ("pods created", lambda run: run["pods"]["created"]),
    ("pods scheduled", lambda run: run["pods"]["scheduled"]),
    ("pods waiting at the end", lambda run: run["pods"]["waiting"]),
    ("time to schedule, p50", lambda run: _seconds(run["timeToSchedule"]["p50"])),
    ("time to schedule, p99", lambda run: _seconds(run["timeToSchedule"]["p99"])),
    ("attempts", lambda run: run["attempts"]["total"]),
    ("attempts wasted", lambda run: run["attempts"]["wasted"]),
    ("evictions", lambda run: run["evictions"]),
    ("budget violations", lambda run: run["violations"]),
    ("fallbacks", lambda run: run["fallbacks"]),
    ("node-hours", lambda run: f"{run['nodeHours']:.2f}"),
    ("hints asked", lambda run: run["hints"]["asked"]),
    ("hints that said Queue", lambda run: run["hints"]["queue"]),
)


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f} s"


def outcome_rows(runs: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return the sums of a simulation: their name, and the value of each run."""
    return [(name, *(str(read(run)) for run in runs.values())) for name, read in _ROWS]


def simulation_report(document: Mapping[str, Any]) -> RenderableType:
    """Return the summary table of `kubestow simulate`."""
    runs = document["runs"]
    rows = outcome_rows(runs)
    title = Text.assemble(
        (document["scenario"], "bold"), f": {document['title']}" if document["title"] else ""
    )
    minutes, seconds = divmod(document["seconds"], 60)
    span = f"{int(minutes)} min {seconds:g} s of virtual time, seed {document['seed']}"
    notes = dict.fromkeys(note for run in runs.values() for note in run["notes"])
    return Group(
        title,
        Text(span, style="dim"),
        *section("Outcome", ("", *runs), rows, range(1, len(runs) + 1)),
        *(Text(f"note: {note}") for note in notes),
    )


class SimulationProgress:
    """Writes where a run is, once it takes long.

    Parameters
    ----------
    file : text stream
        Usually stderr.
    name : str
        What runs.
    end : float
        How far it goes (seconds of virtual time).
    """

    def __init__(self, file: IO[str], name: str, end: float) -> None:
        self._console = console(file)
        self._name = name
        self._end = end
        self._start = time.monotonic()
        self._next = self._start + _FIRST

    def __call__(self, now: float) -> None:
        """Record the virtual time."""
        moment = time.monotonic()
        if moment < self._next:
            return
        terminal = self._console.is_terminal
        self._next = moment + _BETWEEN[terminal]
        share = min(1.0, now / self._end) if self._end else 1.0
        seconds = moment - self._start
        line = f"{seconds:.0f} s  {self._name}: {now:.0f} of {self._end:.0f} s simulated ({share:.0%})"
        self._console.print(Text(line), end="\r" if terminal else "\n")

    def close(self) -> None:
        """Take the live line away."""
        if self._console.is_terminal and self._next > self._start + _FIRST:
            self._console.print(Text(" " * 70), end="\r")
