"""The common ground of every Kubernetes object that kubestow reads.

Objects are immutable, are read in the API's camelCase and are used in snake_case (`max_skew` is `maxSkew`,
`host_ip` is `hostIP`). Unknown fields are ignored and a null is read as if the field were absent, as the API
server does; a null in a list is an entry without fields. Lists become tuples, maps become dictionaries; an
optional field is None unless the API server fills in a default, in which case that default is used. Types are
the API's: `"3"` is no number, 3 is no text.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Self, TypeVar

import orjson
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    Strict,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

T = TypeVar("T")

# Words that Kubernetes writes in capitals inside a field name.
_ACRONYMS = {"ip": "IP", "ips": "IPs", "id": "ID", "uri": "URI"}


def to_kube_case(name: str) -> str:
    """Return Kubernetes' spelling of a snake_case attribute: `cluster_ip` becomes `clusterIP`."""
    first, *rest = name.split("_")
    return first + "".join(_ACRONYMS.get(word) or word.capitalize() for word in rest)


Bool = Annotated[bool, Strict()]
Int32 = Annotated[int, Strict(), Field(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, Strict(), Field(ge=-(2**63), le=2**63 - 1)]

_RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)


def parse_timestamp(value: object) -> datetime:
    """Read an RFC 3339 time, the only spelling that the API knows, into UTC.

    Raises
    ------
    ValueError
        If the value is no such time.
    """
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    if isinstance(value, str) and _RFC3339.fullmatch(value):
        try:
            moment = datetime.fromisoformat(value)
            return moment if moment.tzinfo is UTC else moment.astimezone(UTC)
        except (ValueError, OverflowError):
            raise ValueError(f"{value!r} is a time that does not exist") from None
    raise ValueError(f"{value!r} is not a time (such as 2026-03-01T08:00:00Z)")


Timestamp = Annotated[datetime, BeforeValidator(parse_timestamp)]

_DURATION = re.compile(r"([+-]?)((?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+|0)", re.ASCII)
_DURATION_PART = re.compile(r"([\d.]+)([a-zµμ]+)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def parse_duration(value: object) -> float:
    """Read Go's spelling of a duration (`1h30m`, `10s`, `250ms`) into seconds; a number is seconds already.

    Raises
    ------
    ValueError
        If the value is no such duration.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"{value!r} is not a duration (such as 10s, 5m or 1h30m)")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in _DURATION_PART.findall(match[2]))
    return -seconds if match[1] == "-" else seconds


Duration = Annotated[float, PlainValidator(parse_duration)]


def _null_is_empty(value: Any) -> Any:
    if isinstance(value, dict) and None in value.values():
        return {key: "" if item is None else item for key, item in value.items()}
    return value


StringMap = Annotated[dict[str, str], BeforeValidator(_null_is_empty)]
"""A map of texts; a null value is the empty text, as the API server reads it."""


def _null_items_are_empty(value: Any) -> Any:
    if isinstance(value, list) and None in value:
        return ["" if item is None else item for item in value]
    return value


Texts = Annotated[tuple[str, ...], BeforeValidator(_null_items_are_empty)]
"""A list of texts; a null item is the empty text, as the API server reads it."""


class Kept(dict[object, dict[bytes, Any]]):
    """Values that a reading of many objects has made already, by field and text; pydantic's `context`."""


def kept_once(trim: Callable[[Any], Any] = lambda value: value) -> WrapValidator:
    """Return the mark of a field whose equal values are read once and shared, in a reading that keeps them.

    Parameters
    ----------
    trim : callable
        Returns of a raw value what its reader looks at.
    """

    def read(value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        if info.context is None or not value:
            return handler(value)
        try:
            text = orjson.dumps(trim(value))
        except orjson.JSONEncodeError:
            return handler(value)
        kept: dict[bytes, Any] = info.context.setdefault(read, {})
        found = kept.get(text)
        if found is None:
            found = handler(value)
            if b"null" not in text:  # which may also stand for what is no JSON
                kept[text] = found
        return found

    return WrapValidator(read)


def shared(value: T) -> T:
    """Return a default that all objects share; pydantic would make a deep copy for each of them."""
    return Field(default_factory=lambda: value)


class KubeModel(BaseModel):
    """A part of an object: frozen, camelCase in, unknown fields ignored, null as absent.

    `empty_is_absent` lists the fields, in the API's spelling, for which an empty text counts as absent, since
    the API server then fills in the default.
    """

    model_config = ConfigDict(
        frozen=True, alias_generator=to_kube_case, populate_by_name=True, extra="ignore", strict=False
    )

    empty_is_absent: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _drop_absent(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            # A null in a list or as the value of a map is an object without fields.
            return {} if data is None else data
        values = data.values()
        if None in values:
            data = {name: value for name, value in data.items() if value is not None}
        if cls.empty_is_absent and "" in values:
            data = {name: value for name, value in data.items() if value or name not in cls.empty_is_absent}
        return data

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy with changes, which are not validated; what was derived from old fields is dropped."""
        if deep:
            copy = super().model_copy(update=update, deep=deep)
            for name in copy.__dict__.keys() - type(self).model_fields.keys():
                del copy.__dict__[name]
            return copy
        # By hand: simulations make nothing more often, and there is nothing private or extra to copy.
        cls = self.__class__
        fields = cls.__pydantic_fields__
        values = self.__dict__
        told = self.__pydantic_fields_set__
        if len(values) > len(fields):
            values = {name: value for name, value in values.items() if name in fields}
        if update:
            values = {**values, **update}
            if not told.issuperset(update):
                told = told.union(update)
        else:
            values = values.copy()
        made = object.__new__(cls)
        _set_values(made, values)
        _set_told(made, told)
        _set_extra(made, None)
        _set_private(made, None)
        return made


# A frozen model refuses assignments, and `object.__setattr__` looks each name up anew.
_set_values = BaseModel.__dict__["__dict__"].__set__
_set_told = BaseModel.__dict__["__pydantic_fields_set__"].__set__
_set_extra = BaseModel.__dict__["__pydantic_extra__"].__set__
_set_private = BaseModel.__dict__["__pydantic_private__"].__set__
