"""Fields that stand in an object and that the Kubernetes API does not have there: mostly misspellings.

They are ignored, as an API server ignores them that is not asked to be strict, but they are told: a misspelt
constraint is kept by no scheduler. Only the parts of objects that models read are looked into.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final, NamedTuple, get_args

from pydantic import AliasChoices, BaseModel
from pydantic.fields import FieldInfo

from ..models.errors import InputError
from ..models.resource_api import Device
from ..models.upstream_fields import UNREAD_FIELDS

_MOST_NOTES: Final = 5
# Parts of earlier versions, which the models read in the shape of the newest one.
_EARLIER: Final[Mapping[tuple[str, str], type[BaseModel]]] = {("Device", "basic"): Device}
# What these hold is another kind for each plugin.
_OPEN: Final = frozenset((("PluginConfig", "args"),))
_INDEX: Final = re.compile(r"\[[^]]*\]")


class Unknown(NamedTuple):
    """A field that is unknown: its path in the object, and the known one that is nearest (empty for none)."""

    path: str
    nearest: str


class UnknownFields:
    """The unknown fields of an input, by kind and by path without indices, with how often each was seen."""

    def __init__(self) -> None:
        self._count: Counter[tuple[str, str]] = Counter()
        self._first: dict[tuple[str, str], tuple[str, Unknown]] = {}

    def look_at(self, model: type[BaseModel], raw: Mapping[str, Any], title: Callable[[], str]) -> None:
        """Look through an object that a model reads; `title` says which one it is, where that is needed."""
        for found in unknown_fields(model, raw):
            kind = (model.__name__, _INDEX.sub("", found.path))
            self._count[kind] += 1
            if self._count[kind] == 1:
                self._first[kind] = (title(), found)

    def notes(self) -> list[str]:
        """Return a line for each unknown field, the most frequent first, and how many more there are."""
        lines = []
        for kind, number in self._count.most_common(_MOST_NOTES):
            where, found = self._first[kind]
            often = "" if number == 1 else f" (and {number - 1} more like it)"
            hint = f"; did you mean {found.nearest}?" if found.nearest else ""
            lines.append(f"{where}: {found.path}: an unknown field, which is ignored{often}{hint}")
        if len(self._count) > _MOST_NOTES:
            lines.append(f"{len(self._count) - _MOST_NOTES} other unknown fields are ignored, too")
        return lines


def unknown_fields(model: type[BaseModel], raw: Mapping[str, Any]) -> Iterator[Unknown]:
    """Yield the unknown fields of a raw object that a model reads."""
    return _unknown(shape_of(model), raw, "")


def explained(error: InputError, model: type[BaseModel], raw: Mapping[str, Any]) -> InputError:
    """Return an error about a missing field with the misspelt field in its place, if there is one."""
    if error.message != "required":
        return error
    where = error.field.rpartition(".")
    for found in unknown_fields(model, raw):
        at = found.path.rpartition(".")
        if at[0] == where[0] and found.nearest == where[2]:
            message = f"required; there is {at[2]}, which is unknown"
            return InputError(error.file, error.object, error.field, message)
    return error


def _unknown(shape: "Shape", raw: Mapping[str, Any], path: str) -> Iterator[Unknown]:
    names = tuple(raw)
    nested = shape.checked.get(names)
    if nested is None:
        for name in names:
            if isinstance(name, str) and name not in shape.known:
                near = get_close_matches(name, shape.known, n=1)
                yield Unknown(f"{path}{name}", near[0] if near else "")
        nested = tuple((name, shape.parts[name]) for name in names if name in shape.parts)
        if shape.known.issuperset(names):
            shape.checked[names] = nested
    for name, part in nested:
        value = raw[name]
        if type(value) is dict:
            if part.is_map:
                for key, item in value.items():
                    if type(item) is dict:
                        yield from _unknown(part.shape, item, f"{path}{name}[{key}].")
            else:
                yield from _unknown(part.shape, value, f"{path}{name}.")
        elif type(value) is list:
            for index, item in enumerate(value):
                if type(item) is dict:
                    yield from _unknown(part.shape, item, f"{path}{name}[{index}].")


class Shape:
    """What may stand in a part of an object.

    Attributes
    ----------
    model : type
        What reads the part.
    known : frozenset of str
        The names of all fields.
    parts : dict
        By name, the fields that hold parts in turn.
    checked : dict
        By the names of a raw part's fields, all known, those among them that hold parts: equal pods are many.
    """

    def __init__(self, model: type[BaseModel]) -> None:
        self.known: frozenset[str] = UNREAD_FIELDS.get(model.__name__, frozenset())
        self.parts: dict[str, Part] = {}
        self.checked: dict[tuple[str, ...], tuple[tuple[str, Part], ...]] = {}
        self.model = model

    def fill(self) -> None:
        """Find the fields, those of parts included; a shape may hold itself."""
        fields = self.model.model_fields
        held = {
            spelled: field.annotation for name, field in fields.items() for spelled in spellings(name, field)
        }
        self.known |= frozenset(held)
        held.update({name: part for (model, name), part in _EARLIER.items() if model == self.model.__name__})
        for name, annotation in held.items():
            found = next(_models(annotation), None)
            if found is not None and (self.model.__name__, name) not in _OPEN:
                self.parts[name] = Part(shape_of(found), _is_map(annotation))


class Part(NamedTuple):
    """A field that holds a part of an object, a list of them, or a map of them by name."""

    shape: Shape
    is_map: bool


_SHAPES: Final[dict[type[BaseModel], Shape]] = {}


def shape_of(model: type[BaseModel]) -> Shape:
    """Return what may stand in the part of an object that a model reads."""
    shape = _SHAPES.get(model)
    if shape is None:
        shape = _SHAPES[model] = Shape(model)
        shape.fill()
    return shape


def spellings(name: str, field: FieldInfo) -> Iterator[str]:
    """Yield the names that a field of a model has in documents, the current one first."""
    yield field.alias or name
    if isinstance(field.validation_alias, AliasChoices):
        yield from (choice for choice in field.validation_alias.choices if isinstance(choice, str))


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)


def _is_map(annotation: Any) -> bool:
    origin = getattr(annotation, "__origin__", None)
    return origin is dict or any(_is_map(argument) for argument in get_args(annotation))
