"""What a validator finds: the field at fault and what would be right."""

import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

from ..quantity import format_quantity

_PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")

# Longer ones are left to `most`; Python reads no number of more than 4300 digits.
_PERCENTAGE = re.compile(r"[0-9]{1,1000}%")


class Fault(NamedTuple):
    """A field in the API's spelling (`spec.tolerations[0].key`) and one sentence about it."""

    field: str
    message: str


Faults = Iterator[Fault]


def below(path: str, name: str) -> str:
    """Return the path of a named part: `limits.cpu`, but `limits[nvidia.com/gpu]`."""
    if not path:
        return name
    return f"{path}.{name}" if _PLAIN_NAME.fullmatch(name) else f"{path}[{name}]"


def one_of(values: Iterable[str]) -> str:
    """Return the allowed values as a phrase: `A, B or C`."""
    *most, last = values
    return f"{', '.join(most)} or {last}" if most else last


def required_text(value: str | None, path: str) -> Faults:
    """Find a text that is missing or empty."""
    if not value:
        yield Fault(path, "required")


def known(value: str | None, allowed: Iterable[str], path: str) -> Faults:
    """Find a value outside a closed set; None is no value."""
    allowed = tuple(allowed)
    if value is not None and value not in allowed:
        yield Fault(path, f"must be {one_of(allowed)}, not {value!r}")


def at_least(value: int | None, least: int, path: str) -> Faults:
    """Find a number below its least value; None is no value."""
    if value is not None and value < least:
        yield Fault(path, f"must be at least {least}, not {value}")


def within(value: int | None, least: int, most: int, path: str) -> Faults:
    """Find a number outside its range; None is no value."""
    if value is not None and not least <= value <= most:
        yield Fault(path, f"must be between {least} and {most}, not {value}")


def number_or_share(value: int | str | None, path: str, most: int | None = None) -> Faults:
    """Find what is neither a number from 0 on nor a percentage up to the most, if any; None is no value."""
    if isinstance(value, int):
        yield from at_least(value, 0, path)
    elif value is not None and not (
        _PERCENTAGE.fullmatch(value) and (most is None or int(value[:-1]) <= most)
    ):
        allowed = "a percentage" if most is None else f"a percentage from 0% to {most}%"
        yield Fault(path, f"must be a number or {allowed}, not {value!r}")


def unique(values: Iterable[str | None], path: str, name: str) -> Faults:
    """Find entries of a list that repeat an earlier one's value of a field; None repeats nothing."""
    seen: set[str] = set()
    for index, value in enumerate(values):
        if value is None:
            continue
        if value in seen:
            yield Fault(f"{path}[{index}]" + (f".{name}" if name else ""), f"duplicate {value!r}")
        seen.add(value)


def at_most_items(count: int, most: int, path: str) -> Faults:
    """Find a list that is too long."""
    if count > most:
        yield Fault(path, f"must have at most {most} {'entry' if most == 1 else 'entries'}, not {count}")


def not_negative(amounts: Mapping[str, Fraction], path: str) -> Faults:
    """Find negative quantities of a map."""
    for name, quantity in amounts.items():
        if quantity < 0:
            yield Fault(below(path, name), f"must not be negative, but is {format_quantity(quantity)}")
