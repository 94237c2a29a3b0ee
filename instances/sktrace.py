"""SimKube's traces (.sktrace, version 2) as events of a scenario.

A trace is one MessagePack map: `version`, `config`, `events`, `index` and `pod_lifecycles` (crate sk-store of
acrlabs/simkube). An event has a time `ts` (Unix seconds) and the objects that were applied and deleted; the
first is what there was when the trace begins, which becomes the scenario's start. `pod_lifecycles` says for
a pod, or for what owns pods, when they ran.

The file is read as a stream: an event's objects become models before the next event is read. Decided here:

- Objects come as they were posted; where a pod has run is left out, since placing it is what is simulated.
- A pod that finished runs, once it has started, as long as it ran in the trace; others run on. What the trace
  says of pods that a workload owns is not used.
- Kinds that play no part are left out, and a note has their number.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from ..models.annotations import RUNS_FOR
from ..models.errors import InputError
from ..models.kinds import find_kind
from ..models.meta import KubeObject
from ..models.pod import Pod
from ..models.scenario import SECOND, Delete, Put, TimedEvent
from ..models.validation import title
from .crowds import MOST_PODS, pods_of
from .one_object import one_object
from .packed_stream import PackedStream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_VERSION: Final = 2


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
    """Read a trace.

    Raises
    ------
    InputError
        Where it is no trace of version 2, or has an object that an API server would refuse.
    KubestowError
        Without the extra `traces`.
    """
    return _Reader(path).trace()


class _Reader:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = str(path)
        self._events: list[TimedEvent] = []
        self._ignored: Counter[str] = Counter()
        self._start: int | None = None
        self._end = 0
        self._run_times: dict[str, int] = {}

    def trace(self) -> Trace:
        """Read the fields in the order in which they stand."""
        with self._opened() as stream:
            version = None
            for _ in range(stream.map_length()):
                field = stream.value()
                if field == "version":
                    version = stream.value()
                elif field == "events":
                    self._refuse_version(version)
                    for number in range(stream.list_length()):
                        self._event(stream.value(), f"events[{number}]")
                elif field == "pod_lifecycles":
                    self._lifecycles(stream)
                else:
                    stream.value()
            self._refuse_version(version)
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(self._ignored.items()))
        notes = (f"the trace has kinds that play no part: {kinds}",) if kinds else ()
        return Trace(tuple(map(self._lived, self._events)), self._end, notes)

    @contextmanager
    def _opened(self) -> Iterator[PackedStream]:
        try:
            with self._path.open("rb") as file:
                yield PackedStream(self._file, file)
        except OSError as error:
            raise InputError(self._file, "", "", error.strerror or str(error)) from None

    def _refuse_version(self, version: object) -> None:
        if version != _VERSION:
            words = f"version {version}" if isinstance(version, int) else "a trace without a version"
            raise InputError(self._file, "", "version", f"must be {_VERSION}, not {words}")

    def _event(self, raw: Any, place: str) -> None:
        if not isinstance(raw, dict) or not isinstance(raw.get("ts"), int):
            raise InputError(self._file, "", f"{place}.ts", "must be a time in whole seconds")
        if self._start is None:
            self._start = raw["ts"]
        at = (raw["ts"] - self._start) * SECOND
        if at < self._end:
            raise InputError(self._file, "", f"{place}.ts", "must not be before the event before it")
        self._end = at
        if put := tuple(self._objects(raw, "applied_objs", place)):
            self._events.append(TimedEvent(at, Put(put)))
        for item in self._objects(raw, "deleted_objs", place):
            self._events.append(TimedEvent(at, Delete(item.kind, item.key)))

    def _objects(self, event: dict[str, Any], field: str, place: str) -> Iterator[KubeObject]:
        listed = event.get(field, [])
        if not isinstance(listed, list):
            raise InputError(self._file, "", f"{place}.{field}", "must be a list")
        for number, raw in enumerate(listed):
            named = raw if isinstance(raw, dict) else {}
            kind, version = named.get("kind"), named.get("apiVersion")
            if not isinstance(kind, str) or not isinstance(version, str):
                words = "is no Kubernetes object (a map with apiVersion, kind and metadata)"
                raise InputError(self._file, "", f"{place}.{field}[{number}]", words)
            model = find_kind(kind, version)
            if model is None or not issubclass(model, KubeObject):
                self._ignored[kind] += field == "applied_objs"
                continue
            if model is Pod and isinstance(raw.get("spec"), dict):
                raw = {**raw, "spec": {**raw["spec"], "nodeName": None}, "status": None}
            item = one_object(model, raw, self._file)
            assert isinstance(item, KubeObject)
            if pods_of(item) > MOST_PODS:
                words = f"would have {pods_of(item)} pods; {MOST_PODS} is the most"
                raise InputError(self._file, title(item), "spec", words)
            yield item

    def _lifecycles(self, stream: PackedStream) -> None:
        """Read how long pods ran that belong to no workload: [kind, key] to {hash: [lifecycle]}."""
        for _ in range(stream.map_length()):
            owner = [stream.value() for _ in range(stream.list_length())]
            match owner, stream.value():
                case [["v1.Pod", str(key)], {**lives}]:
                    for each in lives.values():
                        self._live(key, each)

    def _live(self, key: str, lives: Any) -> None:
        match lives:
            case [*_, {"Finished": [int(begin), int(end)]}]:
                self._run_times[key] = max(0, end - begin) * SECOND

    def _lived(self, event: TimedEvent) -> TimedEvent:
        """Return an event whose pods know how long they run."""
        if not isinstance(event.action, Put):
            return event
        return replace(event, action=Put(tuple(map(self._running, event.action.objects))))

    def _running(self, item: KubeObject) -> KubeObject:
        if not isinstance(item, Pod) or item.key not in self._run_times:
            return item
        annotations = {**item.metadata.annotations, RUNS_FOR: str(self._run_times[item.key])}
        return item.model_copy(
            update={"metadata": item.metadata.model_copy(update={"annotations": annotations})}
        )
