"""Kubernetes quantities as exact fractions.

A quantity is a decimal number and an optional suffix: a decimal one (`n u m k M G T P E`), a binary one
(`Ki Mi Gi Ti Pi Ei`) or a decimal exponent (`e3`, `E-2`). Nothing here is a float: a number is a
`fractions.Fraction` until it is rounded up to the unit in which it is compared. As upstream has it, what is
finer than a billionth is rounded up (away from zero), and a binary spelling ends at 2**63 - 1. Amounts in
lists of resources are rounded up to a thousandth, as they are stored.

Sources: k8s.io/apimachinery/pkg/api/resource/quantity.go; kubernetes pkg/apis/core/v1/defaults.go.
"""

import re
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator

_SUFFIXES: dict[str, Fraction] = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 10**3),
    "": Fraction(1),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "Pi": Fraction(2**50),
    "Ei": Fraction(2**60),
}
_NANO = 10**9
_MILLI = 1000
_LARGEST_BINARY = Fraction(2**63 - 1)
_MAX_EXPONENT = 400
_MAX_LENGTH = 1000
_ZERO = Fraction(0)
# What Go's TrimSpace takes off a JSON text, in which tabs and line breaks can only stand escaped.
_SPACES = (
    " \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_QUANTITY = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?(?:(?P<suffix>[numkMGTPE]|[KMGTPE]i)|[eE](?P<exponent>[+-]?[0-9]+))?"
)

Quantity = Fraction
"""An exact amount in the resource's base unit (cores, bytes, pieces)."""


@lru_cache(maxsize=1 << 16)
def _parse_text(text: str) -> Fraction:
    match = _QUANTITY.fullmatch(text)
    if match is None or not (match["whole"] or match["part"]):
        raise ValueError(f"{text!r} is not a quantity (such as 500m, 1.5, 2Gi or 1e3)")
    if len(text) > _MAX_LENGTH:
        raise ValueError(f"'{text[:40]}…' is no quantity: it has {len(text)} characters")
    part = match["part"] or ""
    number = Fraction(int((match["whole"] or "0") + part), 10 ** len(part))
    if match["exponent"] is not None:
        exponent = int(match["exponent"])
        if abs(exponent) > _MAX_EXPONENT:
            raise ValueError(f"{text!r} is no quantity: its exponent is out of range")
        number *= Fraction(10) ** exponent
    else:
        number *= _SUFFIXES[match["suffix"] or ""]
    number = Fraction(-((-number * _NANO).__floor__()), _NANO)
    if (match["suffix"] or "").endswith("i"):
        number = min(number, _LARGEST_BINARY)
    return -number if match["sign"] == "-" else number


class SpelledFloat(float):
    """A float that remembers how it was spelled, so that a quantity can be read from it exactly."""

    __slots__ = ("spelling",)

    spelling: str

    def __new__(cls, spelling: str) -> "SpelledFloat":
        """Read a float from its spelling."""
        number = super().__new__(cls, spelling)
        number.spelling = spelling
        return number

    def __repr__(self) -> str:
        return self.spelling


def parse_quantity(value: object) -> Fraction:
    """Read a quantity exactly from its text or from a bare number.

    A float is read by the spelling it had in the input where that is known, else by its shortest decimal one,
    so that 0.1 is one tenth.

    Raises
    ------
    ValueError
        If the value is no quantity.
    """
    if isinstance(value, str):
        return _parse_text(value.strip(_SPACES))
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{value!r} is not a quantity (such as 500m, 1.5, 2Gi or 1e3)")
    return _parse_text(repr(value))


def _read(value: Any) -> Fraction:
    """Read a field; a null in a map of quantities is zero, as the API server reads it."""
    return _ZERO if value is None else parse_quantity(value)


QuantityField = Annotated[
    Fraction,
    PlainValidator(_read),
    PlainSerializer(lambda quantity: format_quantity(quantity), return_type=str, when_used="json"),
]
"""The pydantic type of a field that holds a quantity."""


def _read_amount(value: Any) -> Fraction:
    quantity = _read(value)
    if _MILLI % quantity.denominator == 0:
        return quantity
    size = -((-abs(quantity.numerator) * _MILLI) // quantity.denominator)
    return Fraction(size if quantity > 0 else -size, _MILLI)


AmountField = Annotated[
    Fraction,
    PlainValidator(_read_amount),
    PlainSerializer(lambda quantity: format_quantity(quantity), return_type=str, when_used="json"),
]
"""The type of an amount in a list of resources (requests, limits, capacity, allocatable, overhead).

The API server stores each of them rounded up to a thousandth, away from zero (SetDefaults_ResourceList);
other quantities, such as those of devices, stay as they are.
"""


def unit_ceil(quantity: Fraction) -> int:
    """Return the quantity in whole units, rounded up."""
    return -((-quantity.numerator) // quantity.denominator)


def milli_ceil(quantity: Fraction) -> int:
    """Return the quantity in thousandths, rounded up."""
    return -((-quantity.numerator * 1000) // quantity.denominator)


def format_quantity(quantity: Fraction) -> str:
    """Return a short exact spelling that `parse_quantity` reads back to the same number.

    Raises
    ------
    ValueError
        If the number has no finite decimal spelling (no quantity is such a number).
    """
    if quantity.denominator == 1:
        whole = quantity.numerator
        for suffix in ("Ei", "Pi", "Ti", "Gi", "Mi", "Ki"):
            size = _SUFFIXES[suffix].numerator
            if whole and whole % size == 0 and abs(whole) <= _LARGEST_BINARY:
                return f"{whole // size}{suffix}"
        return str(whole)
    for suffix in ("m", "u", "n"):
        scaled = quantity / _SUFFIXES[suffix]
        if scaled.denominator == 1:
            return f"{scaled.numerator}{suffix}"
    power = 0
    while quantity.denominator != 1:
        if quantity.denominator % 2 and quantity.denominator % 5:
            raise ValueError(f"{quantity} has no finite decimal spelling")
        quantity *= 10
        power += 1
    return f"{quantity.numerator}e-{power}"
