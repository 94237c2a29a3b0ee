"""Reads maps of a document field by field, and reports faults with their path; an unread field is a fault."""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, Final, TypeVar

from ..models.base import parse_duration
from ..models.errors import InputError
from ..models.scenario import SECOND

T = TypeVar("T")


class Required:
    """No default: the field must be there."""


REQUIRED: Final = Required()


class Section:
    """A map within a document.

    Parameters
    ----------
    file : str
    path : str
        Where it stands, empty for the whole document.
    raw : object
        What was read there.

    Attributes
    ----------
    file : str
        Whose faults they are.

    Raises
    ------
    InputError
        If that is no map.
    """

    def __init__(self, file: str, path: str, raw: Any) -> None:
        self.file = file
        self._path = path
        if not isinstance(raw, dict):
            raise self.fault("", "must be a map")
        self._raw: dict[Any, Any] = raw
        self._read: set[str] = set()

    def fault(self, field: str, message: str) -> InputError:
        """Return an error in a field."""
        return InputError(self.file, "", self._below(field), message)

    def _below(self, field: str) -> str:
        return f"{self._path}.{field}" if self._path and field else self._path or field

    def close(self) -> None:
        """Refuse fields that were not read: a misspelt one would be ignored silently."""
        for name in self._raw:
            if name not in self._read:
                known = ", ".join(sorted(self._read))
                raise self.fault(str(name), f"unknown field; known are {known}")

    def has(self, field: str) -> bool:
        """Whether a field is there."""
        return self._raw.get(field) is not None

    def given(self, field: str, parse: Callable[[Any], T], usual: T | Required | None) -> Any:
        """Return a field's value, as read by a function that raises `ValueError`, or a default."""
        self._read.add(field)
        value = self._raw.get(field)
        if value is None:
            if isinstance(usual, Required):
                raise self.fault(field, "required")
            return usual
        try:
            return parse(value)
        except ValueError as error:
            raise self.fault(field, str(error)) from None

    def text(self, field: str, usual: str | Required = REQUIRED) -> str:
        """Return a text."""
        return self._typed(field, str, "a text", usual)

    def whole(self, field: str, usual: int | Required = REQUIRED) -> int:
        """Return a whole number from 0 on."""

        def parse(value: Any) -> int:
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
                raise ValueError(f"must be a whole number from 0 on, not {value!r}")
            return value

        found: int = self.given(field, parse, usual)
        return found

    def number(self, field: str, usual: float | Required = REQUIRED) -> float:
        """Return a number from 0 on."""

        def parse(value: Any) -> float:
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e12:
                raise ValueError(f"must be a number from 0 on, not {value!r}")
            return float(value)

        found: float = self.given(field, parse, usual)
        return found

    def time(self, field: str, usual: int | Required = REQUIRED) -> int:
        """Return a time from 0s on, in nanoseconds."""

        def parse(value: Any) -> int:
            seconds = parse_duration(value)
            if not isfinite(seconds) or not 0 <= seconds < 1e9:
                raise ValueError("must be a time from 0s on")
            return round(seconds * SECOND)

        found: int = self.given(field, parse, usual)
        return found

    def flag(self, field: str) -> bool:
        """Return true or false; false where the field is absent."""
        return self._typed(field, bool, "true or false", False)

    def mapping(self, field: str) -> Mapping[str, Any]:
        """Return a map as it is; empty where the field is absent."""
        return self._typed(field, dict, "a map", {})

    def strings(self, field: str) -> dict[str, str]:
        """Return a map of texts."""
        found = self.mapping(field)
        for name, value in found.items():
            if not isinstance(name, str) or not isinstance(value, str):
                raise self.fault(f"{field}.{name}", f"must be a text, not {value!r}")
        return dict(found)

    def list_of(self, field: str) -> list[Any]:
        """Return a list as it is; empty where the field is absent."""
        return self._typed(field, list, "a list", [])

    def texts(self, field: str) -> list[str]:
        """Return a list of texts."""
        found = self.list_of(field)
        for index, value in enumerate(found):
            if not isinstance(value, str):
                raise self.fault(f"{field}[{index}]", f"must be a text, not {value!r}")
        return found

    def section(self, field: str, *, required: bool = False) -> "Section":
        """Return a map to be read in turn; an empty one where the field is absent and not required."""
        self._read.add(field)
        value = self._raw.get(field)
        if value is None:
            if required:
                raise self.fault(field, "required")
            value = {}
        return Section(self.file, self._below(field), value)

    def sections(self, field: str) -> Sequence["Section"]:
        """Return a list of maps to be read in turn."""
        return [
            Section(self.file, self._below(f"{field}[{index}]"), raw)
            for index, raw in enumerate(self.list_of(field))
        ]

    def _typed(self, field: str, kind: type[T], what: str, usual: T | Required) -> T:
        def parse(value: Any) -> T:
            if not isinstance(value, kind):
                raise ValueError(f"must be {what}, not {value!r}")
            return value

        found: T = self.given(field, parse, usual)
        return found
