"""Cases for queueing hints (JSON lines) and scripts for the scheduling queue, from files."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, get_args

from ..models.base import parse_timestamp
from ..models.config import KubeSchedulerConfiguration
from ..models.errors import InputError
from ..models.kinds import find_kind
from ..models.meta import KubeObject
from ..models.pod import Pod
from ..models.recordings import HintCase, Operation, Step, Timeline
from ..models.validation import read
from .clock import DEFAULT_START, EPOCH, Clock
from .documents import read_documents
from .files import read_files
from .json_text import read_json

_OPERATIONS: Final = get_args(Operation)
_OF_A_POD: Final = ("fail", "bound", "activate")


def read_cases(paths: Sequence[str | Path], plugins: Sequence[str]) -> Iterator[HintCase]:
    """Read cases, one a line.

    Parameters
    ----------
    paths : sequence
        Files, gzip or not, and `-` for standard input.
    plugins : sequence of str
        The plugins that a case may be about.

    Raises
    ------
    InputError
        For a line that is no case, and for a file without any.
    """
    for file, content in read_files(paths):
        if not content.strip():
            raise InputError(file, "", "", "is empty; what is needed is a case a line")
        for number, line in enumerate(content.splitlines(), start=1):
            if line.strip():
                place = f"line {number}"
                yield _case(read_json(file, line, place), _Reader(file, place), plugins)


def _case(raw: Any, reader: "_Reader", plugins: Sequence[str]) -> HintCase:
    if not isinstance(raw, dict):
        raise reader.fault("", "must be a map with id, plugin, pod, old, new and objects")
    name = reader.text(raw, "id")
    reader = reader.inside(f"case {name}")
    plugin = reader.text(raw, "plugin")
    if plugin not in plugins:
        raise reader.fault("plugin", f"unknown plugin {plugin!r}; known are {', '.join(plugins)}")
    pod = reader.item(raw.get("pod"), "pod")
    if not isinstance(pod, Pod):
        raise reader.fault("pod", "must be the Pod that waits")
    old, new = reader.change(raw)
    time = reader.time(raw, "time")
    if time is not None and (old is not None or new is not None):
        raise reader.fault("time", "is for a case in which nothing changes; it has no old and no new")
    found = reader.items(raw)
    return HintCase(name, plugin, pod, old, new, tuple(_objects(found)), time, _configuration(found))


def read_timelines(path: str | Path) -> tuple[Timeline, ...]:
    """Read scripts: a list of them, or one alone, in JSON or YAML.

    Raises
    ------
    InputError
        For anything that is no script.
    """
    timelines: list[Timeline] = []
    for file, content in read_files([path]):
        documents = [document for document in read_documents(file, content) if document is not None]
        if not documents:
            raise InputError(file, "", "", "is empty; what is needed is a list of scripts, or one alone")
        for document in documents:
            for index, raw in enumerate(document if isinstance(document, list) else [document]):
                timelines.append(_timeline(raw, _Reader(file, f"script {index + 1}")))
    return tuple(timelines)


def _timeline(raw: Any, reader: "_Reader") -> Timeline:
    if not isinstance(raw, dict):
        raise reader.fault("", "must be a map with name, objects and trace")
    name = reader.text(raw, "name")
    reader = reader.inside(name)
    found = reader.items(raw)
    steps: list[Step] = []
    for index, entry in enumerate(reader.list_of(raw, "trace", required=True)):
        step = _step(entry, reader.inside(f"{name}: step {index + 1}"))
        if steps and step.at < steps[-1].at:
            raise reader.inside(f"{name}: step {index + 1}").fault("at", "must not go back in time")
        steps.append(step)
    return Timeline(
        file=reader.file,
        name=name,
        what=str(raw.get("what") or ""),
        objects=tuple(_objects(found)),
        start=reader.time(raw, "start") or _newest(raw.get("objects")),
        configuration=_configuration(found),
        steps=tuple(steps),
        raw=raw,
    )


def _step(raw: Any, reader: "_Reader") -> Step:
    if not isinstance(raw, dict):
        raise reader.fault("", "must be a map with at and op")
    at = raw.get("at")
    if isinstance(at, bool) or not isinstance(at, (int, float)) or not 0 <= at < 1e9:
        raise reader.fault("at", "must be a number of seconds from 0 on")
    op: Any = raw.get("op")
    if op not in _OPERATIONS:
        raise reader.fault("op", f"must be one of {', '.join(_OPERATIONS)}")
    old, new = reader.change(raw) if op == "event" else (None, None)
    if op == "event" and raw.get("old") is None and raw.get("new") is None:
        raise reader.fault("old", "an event needs old, new or both")
    plugins, pending = (tuple(reader.texts(raw, field)) for field in ("plugins", "pending"))
    pod = reader.text(raw, "pod") if op in _OF_A_POD else ""
    return Step(at, op, raw, old, new, pod if "/" in pod or not pod else f"default/{pod}", plugins, pending)


def _objects(items: Sequence[KubeObject | KubeSchedulerConfiguration]) -> Iterator[KubeObject]:
    yield from (item for item in items if isinstance(item, KubeObject))


def _configuration(
    items: Sequence[KubeObject | KubeSchedulerConfiguration],
) -> KubeSchedulerConfiguration | None:
    found = [item for item in items if isinstance(item, KubeSchedulerConfiguration)]
    return found[-1] if found else None


def _newest(objects: Any) -> datetime:
    clock = Clock()
    clock.look_at(objects or [])
    return clock.newest if clock.newest > EPOCH else DEFAULT_START


class _Reader:
    """Reads parts of a document and tells where a fault stands."""

    def __init__(self, file: str, place: str) -> None:
        self.file = file
        self._place = place

    def inside(self, place: str) -> "_Reader":
        """Return a reader for a part with a name of its own."""
        return _Reader(self.file, place)

    def fault(self, field: str, message: str) -> InputError:
        """Return an error in a field."""
        return InputError(self.file, self._place, field, message)

    def text(self, raw: Mapping[str, Any], field: str) -> str:
        """Return a text that must be there."""
        value = raw.get(field)
        if not isinstance(value, str) or not value:
            raise self.fault(field, "required, as text")
        return value

    def time(self, raw: Mapping[str, Any], field: str) -> datetime | None:
        """Return a time in RFC 3339, None where there is none."""
        value = raw.get(field)
        if value is None:
            return None
        try:
            return parse_timestamp(value)
        except (TypeError, ValueError):
            raise self.fault(field, f"must be a time such as 2026-01-01T00:00:00Z, not {value!r}") from None

    def list_of(self, raw: Mapping[str, Any], field: str, *, required: bool = False) -> list[Any]:
        """Return a list; a missing one is empty unless it is required."""
        value = raw.get(field)
        if value is None and not required:
            return []
        if not isinstance(value, list):
            raise self.fault(field, "must be a list")
        return value

    def texts(self, raw: Mapping[str, Any], field: str) -> list[str]:
        """Return a list of texts."""
        values = self.list_of(raw, field)
        for value in values:
            if not isinstance(value, str) or not value:
                raise self.fault(field, "must be a list of names")
        return values

    def items(self, raw: Mapping[str, Any]) -> list[KubeObject | KubeSchedulerConfiguration]:
        """Return the `objects`, without those of kinds that are not read."""
        found = (
            self.item(entry, f"objects[{index}]") for index, entry in enumerate(self.list_of(raw, "objects"))
        )
        return [item for item in found if item is not None]

    def item(self, raw: Any, field: str) -> KubeObject | KubeSchedulerConfiguration | None:
        """Return an object; None for one of a kind that is not read."""
        if not isinstance(raw, dict) or not all(
            isinstance(raw.get(name), str) and raw[name] for name in ("kind", "apiVersion")
        ):
            raise self.fault(field, "must be a Kubernetes object with apiVersion, kind and metadata")
        model = find_kind(raw["kind"], raw["apiVersion"])
        if model is None:
            return None
        try:
            return read(model, raw, self.file)
        except InputError as error:
            below = f"{field}.{error.field}" if error.field else field
            raise self.fault(below, error.message) from None

    def change(self, raw: Mapping[str, Any]) -> tuple[KubeObject | None, KubeObject | None]:
        """Return the object that changes, before and after."""
        versions = [
            None if raw.get(field) is None else self.item(raw[field], field) for field in ("old", "new")
        ]
        old, new = (item if isinstance(item, KubeObject) else None for item in versions)
        if old is not None and new is not None and (old.kind, old.key) != (new.kind, new.key):
            raise self.fault("new", f"must be the same object as old: {old.kind} {old.key}")
        return old, new
