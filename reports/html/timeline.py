"""How a simulation went: what its event log says, counted over its virtual time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson

from ...models.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from .reading import Simulated

WAITING: Final = "pods waiting"
BOUND: Final = "pods bound so far"
NODES: Final = "nodes"
EVICTED: Final = "evictions so far"
WASTED: Final = "attempts in vain so far"
SERIES: Final = (WAITING, BOUND, NODES, EVICTED, WASTED)

#: What an event changes, whatever else it says.
_CHANGES: Final[Mapping[str, tuple[tuple[str, int], ...]]] = {
    "PodCreated": ((WAITING, 1),),
    "PodBound": ((WAITING, -1), (BOUND, 1)),
    "NodeAdded": ((NODES, 1),),
    "NodeDeleted": ((NODES, -1),),
    "PodEvicted": ((EVICTED, 1),),
}


@dataclass(frozen=True)
class Timeline:
    """One scheduler's run.

    Attributes
    ----------
    seconds : list of float
        When something changed, each moment once, and the end of the run.
    series : mapping
        For each of `SERIES` its value from each moment on.
    events : Counter
        How often each kind of event happened.
    """

    seconds: list[float]
    series: Mapping[str, list[int]]
    events: Mapping[str, int]

    def document(self) -> dict[str, Any]:
        """Return it as a JSON value."""
        return {"seconds": self.seconds, "series": dict(self.series)}


def event_rows(lines: Mapping[str, Timeline]) -> list[tuple[str, list[int]]]:
    """Return how often each kind of event happened in each run."""
    kinds = sorted({kind for line in lines.values() for kind in line.events})
    return [(kind, [line.events.get(kind, 0) for line in lines.values()]) for kind in kinds]


def timelines(simulated: Simulated, name: str, content: bytes) -> dict[str, Timeline]:
    """Return the timeline of each run from the log that `simulate --log` wrote.

    Parameters
    ----------
    simulated : Simulated
        The document of the same runs.
    name : str
        Where the log comes from, for errors.
    content : bytes
        JSON lines.

    Raises
    ------
    InputError
        Where it is no such log, or that of other runs: numbers of pods differ from those of the document.
    """
    entries: dict[str, list[Mapping[str, Any]]] = {run: [] for run in simulated.runs}
    only = next(iter(simulated.runs)) if len(simulated.runs) == 1 else None
    for number, entry in _entries(name, content):
        scheduler = entry.get("scheduler", only)
        if scheduler not in entries:
            raise InputError(name, f"line {number}", "scheduler", "names no run of the document")
        entries[scheduler].append(entry)
    found = {run: _timeline(entries[run], simulated.runs[run].seconds) for run in entries}
    for run, timeline in found.items():
        _compare(name, run, timeline, simulated)
    return found


def _entries(name: str, content: bytes) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            entry = orjson.loads(line)
            valid = isinstance(entry["t"], float | int) and isinstance(entry["event"], str)
        except (orjson.JSONDecodeError, KeyError, TypeError):
            valid = False
        if not valid:
            raise InputError(name, f"line {number}", "", "no event of kubestow simulate --log") from None
        yield number, entry


def _timeline(entries: Iterable[Mapping[str, Any]], end: float) -> Timeline:
    now = dict.fromkeys(SERIES, 0)
    seconds: list[float] = []
    series: dict[str, list[int]] = {name: [] for name in SERIES}
    events: Counter[str] = Counter()
    unbound: set[str] = set()
    for entry in entries:
        events[entry["event"]] += 1
        changes = _changes(entry, unbound)
        if not changes:
            continue
        for which, by in changes:
            now[which] += by
        if not seconds or seconds[-1] != entry["t"]:
            seconds.append(entry["t"])
            for values in series.values():
                values.append(0)
        for which, values in series.items():
            values[-1] = now[which]
    seconds.append(end)
    for which, values in series.items():
        values.append(now[which])
    return Timeline(seconds, series, events)


def _changes(entry: Mapping[str, Any], unbound: set[str]) -> tuple[tuple[str, int], ...]:
    """Return what an event changes; `unbound` are the pods that wait, and is kept up to date."""
    event, pod = entry["event"], entry.get("pod", "")
    if event == "PodCreated":
        unbound.add(pod)
    elif event == "PodBound":
        unbound.discard(pod)
    elif event == "PodGone" and pod in unbound:
        unbound.discard(pod)
        return ((WAITING, -1),)
    elif event == "Attempt" and entry.get("result") != "scheduled":
        return ((WASTED, 1),)
    return _CHANGES.get(event, ())


def _compare(name: str, run: str, timeline: Timeline, simulated: Simulated) -> None:
    stated = simulated.runs[run].pods
    for what, counted, said in (
        ("created", timeline.events.get("PodCreated", 0), stated.created),
        ("waiting at the end", timeline.series[WAITING][-1], stated.waiting),
    ):
        if counted != said:
            why = f"is the log of other runs: {counted} pods {what}, and {said} in the document ({run})"
            raise InputError(name, "", "", why)
