"""SimKube's traces (.sktrace, version 2), moment by moment.

A trace is one MessagePack map: `version`, `config`, `events`, `index` and `pod_lifecycles` (crate sk-store of
acrlabs/simkube). An event has a time `ts` (Unix seconds) and the objects that were applied and deleted; the
first is what there was when the trace begins. `pod_lifecycles` says for a pod, or for what owns pods, when
they ran.

The file is read as a stream: one event is in memory at a time. Decided here:

- Objects come as they were posted; where a pod has run is left out, since placing it is what is asked.
- Kinds that play no part are left out, and counted.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from ..models.errors import InputError
from ..models.kinds import find_kind
from ..models.meta import KubeObject
from ..models.pod import Pod
from ..models.scenario import SECOND
from .packed_stream import PackedStream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .packed_stream import Readable

_VERSION: Final = 2

Item = tuple[type[KubeObject], dict[str, Any]]
"""An object as it was posted, after its model."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What happened at one time.

    Attributes
    ----------
    at : int
        Nanoseconds from the first event.
    applied, deleted : tuple of Item
    """

    at: int
    applied: tuple[Item, ...]
    deleted: tuple[Item, ...]


class TraceReader:
    """A trace, read once from its beginning to its end.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    file : Readable

    Attributes
    ----------
    start : int
        The time of the first event, in Unix seconds.
    end : int
        The time of the last event read, whether it plays a part or not (nanoseconds from the first).
    lives : dict
        The lives of pods that belong to no workload, by key: a list for each incarnation, as the trace has
        them. It is full once all moments are read.
    ignored : Counter
        Kinds that play no part, with how often one was applied.

    Raises
    ------
    InputError
        By `moments`, where it is no trace of version 2.
    KubestowError
        Without the extra `traces`.
    """

    def __init__(self, name: str, file: Readable) -> None:
        self._name = name
        self._stream = PackedStream(name, file)
        self._begun = False
        self.start = 0
        self.end = 0
        self.lives: dict[str, list[Any]] = {}
        self.ignored: Counter[str] = Counter()

    def moments(self) -> Iterator[Moment]:
        """Yield the events in the order of their times, and read what stands after them."""
        stream, version = self._stream, None
        for _ in range(stream.map_length()):
            field = stream.value()
            if field == "version":
                version = stream.value()
            elif field == "events":
                self._refuse_version(version)
                for number in range(stream.list_length()):
                    yield self._moment(stream.value(), f"events[{number}]")
            elif field == "pod_lifecycles":
                self._lifecycles()
            else:
                stream.value()
        stream.end()
        self._refuse_version(version)

    def notes(self) -> tuple[str, ...]:
        """Return a note on the kinds that play no part, if there are some."""
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(self.ignored.items()))
        return (f"the trace has kinds that play no part: {kinds}",) if kinds else ()

    def _refuse_version(self, version: object) -> None:
        if version != _VERSION:
            words = f"version {version}" if isinstance(version, int) else "a trace without a version"
            raise InputError(self._name, "", "version", f"must be {_VERSION}, not {words}")

    def _moment(self, raw: Any, place: str) -> Moment:
        if not isinstance(raw, dict) or not isinstance(raw.get("ts"), int):
            raise InputError(self._name, "", f"{place}.ts", "must be a time in whole seconds")
        if not self._begun:
            self._begun, self.start = True, raw["ts"]
        at = (raw["ts"] - self.start) * SECOND
        if at < self.end:
            raise InputError(self._name, "", f"{place}.ts", "must not be before the event before it")
        self.end = at
        applied, deleted = (
            tuple(self._items(raw, field, place)) for field in ("applied_objs", "deleted_objs")
        )
        return Moment(at, applied, deleted)

    def _items(self, event: dict[str, Any], field: str, place: str) -> Iterator[Item]:
        listed = event.get(field, [])
        if not isinstance(listed, list):
            raise InputError(self._name, "", f"{place}.{field}", "must be a list")
        for number, raw in enumerate(listed):
            named = raw if isinstance(raw, dict) else {}
            kind, version = named.get("kind"), named.get("apiVersion")
            if not isinstance(kind, str) or not isinstance(version, str):
                words = "is no Kubernetes object (a map with apiVersion, kind and metadata)"
                raise InputError(self._name, "", f"{place}.{field}[{number}]", words)
            model = find_kind(kind, version)
            if model is None or not issubclass(model, KubeObject):
                self.ignored[kind] += field == "applied_objs"
                continue
            if model is Pod and isinstance(raw.get("spec"), dict):
                raw = {**raw, "spec": {**raw["spec"], "nodeName": None}, "status": None}
            yield model, raw

    def _lifecycles(self) -> None:
        """Read how long pods ran that belong to no workload: [kind, key] to {hash: [lifecycle]}."""
        stream = self._stream
        for _ in range(stream.map_length()):
            owner = [stream.value() for _ in range(stream.list_length())]
            match owner, stream.value():
                case [["v1.Pod", str(key)], {**lives}]:
                    self.lives[key] = list(lives.values())


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a trace.

    Raises
    ------
    InputError
        Where that, or reading it, fails.
    """
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise InputError(str(path), "", "", error.strerror or str(error)) from None
