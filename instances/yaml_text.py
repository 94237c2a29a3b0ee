"""YAML as kubectl reads it: the documents, or one line about what is wrong where.

The C parser's events become values at once, without a tree of nodes between. What a scalar means is said in
`scalars`. A key that stands twice in one map is an error. What an alias repeats is built once and shared;
since its readers read it again and again, a document that would be far longer written out is refused, by the
measure of the library that kubectl uses.

Source: sigs.k8s.io/yaml, goyaml.v2/decode.go (`allowedAliasRatio`).
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

import yaml

from ..models.errors import InputError
from ..models.progress import Watch, unwatched
from .files import reading
from .scalars import key, plain, tagged

# Events between two reports of how far the text is read.
_EVENTS_UNHEARD: Final = 1 << 14
_FEW: Final = 400_000
_MANY: Final = 4_000_000
_MOST_OF_FEW: Final = 0.99
_MOST_OF_MANY: Final = 0.10


def read_yaml(file: str, content: bytes, watch: Watch = unwatched) -> Iterator[Any]:
    """Yield the documents of a file in UTF-8; None for an empty one. `watch` hears of the bytes.

    Raises
    ------
    InputError
        If it is not YAML, a map holds a key twice, or aliases repeat too much.
    """
    parser = yaml.CSafeLoader(content)
    phase, total = reading(file), len(content)
    try:
        while True:
            event = parser.get_event()
            if isinstance(event, yaml.StreamEndEvent):
                return
            if isinstance(event, yaml.DocumentStartEvent):
                yield _Document(parser, lambda place: watch(phase, place, total)).value()
    except yaml.YAMLError as error:
        raise InputError(file, "", "", _complaint(error)) from None
    except RecursionError:
        raise InputError(file, "", "", "is nested too deeply") from None
    finally:
        parser.dispose()


class _Fault(yaml.MarkedYAMLError):
    """YAML that kubectl would read as YAML, and that is refused all the same."""


def _complaint(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    where = f"line {mark.line + 1}: " if mark is not None else ""
    return f"{where}{'' if isinstance(error, _Fault) else 'is not YAML: '}{problem}"


class _Open:
    """Stands for what an anchor names until all of it is read."""


_OPEN: Final = _Open()


class _Document:
    """Builds one document; the event that starts it has been read."""

    def __init__(self, parser: yaml.CSafeLoader, at: Callable[[int], None]) -> None:
        self._event: Callable[[], Any] = parser.get_event
        self._at = at
        self._anchors: dict[str, Any] = {}
        self._sizes: dict[str, int] = {}
        self._read = 0
        self._repeated = 0

    def value(self) -> Any:
        """Read the whole document."""
        return self._value(self._event())

    def _value(self, event: Any) -> Any:
        self._read += 1
        if self._read % _EVENTS_UNHEARD == 0:
            self._at(event.start_mark.index)
        kind = type(event)
        if kind is yaml.ScalarEvent:
            value = self._scalar(event)
            if event.anchor is not None:
                self._anchors[event.anchor], self._sizes[event.anchor] = value, 1
            return value
        if kind is yaml.AliasEvent:
            return self._alias(event)
        read = self._mapping if kind is yaml.MappingStartEvent else self._sequence
        anchor = event.anchor
        if anchor is None:
            return read()
        self._anchors[anchor] = _OPEN
        before = self._read + self._repeated
        value = read()
        self._anchors[anchor], self._sizes[anchor] = value, self._read + self._repeated - before + 1
        return value

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        try:
            if event.tag is not None:
                return tagged(event.tag, text)
            return plain(text) if event.implicit[0] else text
        except ValueError as error:
            raise yaml.MarkedYAMLError(problem=str(error), problem_mark=event.start_mark) from None

    def _alias(self, event: Any) -> Any:
        value = self._anchors.get(event.anchor, self)
        if value is self:
            problem = f"the alias *{event.anchor} names no anchor before it"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)
        if value is _OPEN:
            raise yaml.MarkedYAMLError(problem="an alias to what holds it", problem_mark=event.start_mark)
        self._repeated += self._sizes[event.anchor]
        if not _is_moderate(self._repeated, self._read + self._repeated):
            problem = f"aliases repeat too much: {self._repeated} values, where {self._read} are written"
            raise _Fault(problem=problem, problem_mark=event.start_mark)
        return value

    def _sequence(self) -> list[Any]:
        values: list[Any] = []
        while True:
            event = self._event()
            if type(event) is yaml.SequenceEndEvent:
                return values
            values.append(self._value(event))

    def _mapping(self) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        while True:
            event = self._event()
            if type(event) is yaml.MappingEndEvent:
                return {**merged, **own} if merged else own
            if _is_merge(event):
                for part in self._parts():
                    merged = {**part, **merged}
                continue
            name = self._key(event)
            if name in own:
                raise _Fault(problem=f"key {name!r} stands twice in its map", problem_mark=event.start_mark)
            own[name] = self._value(self._event())

    def _key(self, event: Any) -> str:
        mark = event.start_mark
        if type(event) is yaml.ScalarEvent and event.tag is None and event.implicit[0] and not event.anchor:
            try:
                return key(event.value)
            except ValueError as error:
                raise yaml.MarkedYAMLError(problem=str(error), problem_mark=mark) from None
        value = self._value(event)
        if not isinstance(value, str):
            raise yaml.MarkedYAMLError(problem="a key must be text", problem_mark=mark)
        return value

    def _parts(self) -> list[dict[str, Any]]:
        """Read the value of a merge key: a map, or maps of which the first counts most."""
        event = self._event()
        value = self._value(event)
        parts = value if isinstance(value, list) else [value]
        if not all(isinstance(part, dict) for part in parts):
            raise yaml.MarkedYAMLError(problem="<< needs a map", problem_mark=event.start_mark)
        return parts


def _is_merge(event: Any) -> bool:
    return type(event) is yaml.ScalarEvent and event.value == "<<" and event.tag is None and event.implicit[0]


def _is_moderate(repeated: int, whole: int) -> bool:
    """Whether so much of a document may come from aliases: most of a short one, little of a long."""
    if repeated <= 100 or whole <= 1000:
        return True
    of_range = min(1.0, max(0.0, (whole - _FEW) / (_MANY - _FEW)))
    return repeated <= whole * (_MOST_OF_FEW - (_MOST_OF_FEW - _MOST_OF_MANY) * of_range)
