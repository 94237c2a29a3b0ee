"""A trace of SimKube as events of a scenario.

A pod that finished runs, once it has started, as long as it ran in the trace; others run on. What the trace
says of pods that a workload owns is not used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..models.annotations import RUNS_FOR
from ..models.errors import InputError
from ..models.meta import KubeObject
from ..models.pod import Pod
from ..models.scenario import SECOND, Delete, Put, TimedEvent
from ..models.validation import title
from .crowds import MOST_PODS, pods_of
from .one_object import one_object
from .sktrace import TraceReader, opened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from .sktrace import Item


@dataclass(frozen=True, slots=True)
class Trace:
    """What a trace says.

    Attributes
    ----------
    events : tuple of TimedEvent
        In the order of their times, from 0.
    end : int
        The time of the last event, whether it plays a part or not (nanoseconds).
    notes : tuple of str
        Kinds that play no part, with how often one was applied.
    """

    events: tuple[TimedEvent, ...]
    end: int
    notes: tuple[str, ...]


def load_sktrace(path: Path) -> Trace:
    """Read a trace; an event's objects become models before the next event is read.

    Raises
    ------
    InputError
        Where it is no trace of version 2, or has an object that an API server would refuse.
    KubestowError
        Without the extra `traces`.
    """
    events: list[TimedEvent] = []
    with opened(path) as file:
        reader = TraceReader(str(path), file)
        for moment in reader.moments():
            if put := tuple(_objects(moment.applied, str(path))):
                events.append(TimedEvent(moment.at, Put(put)))
            for item in _objects(moment.deleted, str(path)):
                events.append(TimedEvent(moment.at, Delete(item.kind, item.key)))
    times = dict(_run_times(reader))
    return Trace(tuple(_lived(event, times) for event in events), reader.end, reader.notes())


def _objects(items: Iterable[Item], file: str) -> Iterator[KubeObject]:
    for model, raw in items:
        item = one_object(model, raw, file)
        assert isinstance(item, KubeObject)
        if pods_of(item) > MOST_PODS:
            words = f"would have {pods_of(item)} pods; {MOST_PODS} is the most"
            raise InputError(file, title(item), "spec", words)
        yield item


def _run_times(reader: TraceReader) -> Iterator[tuple[str, int]]:
    """Yield how long each pod ran whose last life is over, in nanoseconds."""
    for key, lives in reader.lives.items():
        for life in lives:
            match life:
                case [*_, {"Finished": [int(begin), int(end)]}]:
                    yield key, max(0, end - begin) * SECOND


def _lived(event: TimedEvent, times: Mapping[str, int]) -> TimedEvent:
    """Return an event whose pods know how long they run."""
    if not isinstance(event.action, Put):
        return event
    return replace(event, action=Put(tuple(_running(item, times) for item in event.action.objects)))


def _running(item: KubeObject, times: Mapping[str, int]) -> KubeObject:
    if not isinstance(item, Pod) or item.key not in times:
        return item
    annotations = {**item.metadata.annotations, RUNS_FOR: str(times[item.key])}
    metadata = item.metadata.model_copy(update={"annotations": annotations})
    return item.model_copy(update={"metadata": metadata})
