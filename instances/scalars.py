"""What a plain scalar of YAML means to kubectl: text, number, truth value or nothing.

kubectl prints a text without quotation marks where its YAML library (a fork of go-yaml v2, from before YAML
1.2) takes it for nothing else: `123e4567` stands there bare, since its value is out of range. So the meaning
is decided here as that library decides it: by words, by Go's spellings of whole numbers up to 64 bits, by
decimal floats that a double can hold. All else is text, a time as well.

Source: sigs.k8s.io/yaml, goyaml.v2/resolve.go; yaml.go for keys.
"""

import base64
import binascii
import re
import struct
from collections.abc import Mapping
from functools import lru_cache
from math import inf, isfinite
from typing import Any, Final

from ..models.quantity import SpelledFloat

# The letters y and n alone, which that library takes for truth values, are text here: most other libraries
# write such a text without quotation marks, and kubectl never does.
_WORDS: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_NOT_TEXT: Final = frozenset("yYnNtTfFoO~.+-0123456789")
# The library looks for binary numbers twice, and the second time finds a sign behind the prefix, too.
_WHOLE: Final = re.compile(
    r"(?P<sign>[-+]?)(?:0[bB](?P<binary>[01]+)|0(?P<octal>[0-7]+)|0[oO](?P<marked>[0-7]+)"
    r"|0[xX](?P<hexadecimal>[0-9a-fA-F]+)|(?P<decimal>0|[1-9][0-9]*))"
    r"|0b(?P<inner>[-+])(?P<late>[01]+)"
)
_BASES: Final = {"decimal": 10, "binary": 2, "late": 2, "octal": 8, "marked": 8, "hexadecimal": 16}
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_POINT_FIRST: Final = re.compile(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?")
_MOST: Final = {"": 2**64 - 1, "+": 2**63 - 1, "-": 2**63}
# More digits are out of range in every base; Python would refuse to count some of them.
_LONGEST: Final = 2048
_EXACT_FLOAT: Final = 2**53
_LARGEST_SINGLE: Final = (2 - 2**-23) * 2.0**127
_LEAST_EXPONENT: Final = 6
_SHOWN: Final = 40
_TAG: Final = "tag:yaml.org,2002:"
_TYPES: Final[Mapping[str, tuple[str, tuple[type, ...]]]] = {
    "int": ("a whole number", (int,)),
    "float": ("a number", (int, float)),
    "bool": ("true or false", (bool,)),
    "null": ("null", (type(None),)),
    "timestamp": ("a time", (str,)),
}


def plain(text: str) -> Any:
    """Return what a scalar without quotation marks means, as JSON has it; text, if it is nothing else."""
    return _meaning(text) if not text or text[0] in _NOT_TEXT else text


def tagged(tag: str, text: str) -> Any:
    """Return what a scalar with a tag of its own means; a tag that YAML does not define says nothing.

    Raises
    ------
    ValueError
        If the text is nothing of that kind.
    """
    kind = tag.removeprefix(_TAG) if tag.startswith(_TAG) else ""
    if kind == "binary":
        try:
            return base64.b64decode("".join(text.split()), validate=True).decode()
        except (binascii.Error, UnicodeError, ValueError):
            raise ValueError("is no text in base64, as !!binary says") from None
    if kind not in _TYPES:
        return text
    what, types = _TYPES[kind]
    value = plain(text)
    if not isinstance(value, types) or (isinstance(value, bool) and kind != "bool"):
        raise ValueError(f"{text[:_SHOWN]!r} is not {what}, as !!{kind} says")
    return value


def key(text: str) -> str:
    """Return the key that a scalar without quotation marks is; numbers and truth values become text.

    Raises
    ------
    ValueError
        If it can be no key.
    """
    value = _resolve(text)
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _shortest(value)
    if isinstance(value, int) and value < 2**63:
        return str(value)
    raise ValueError(f"a key must be text, not {text[:_SHOWN] or 'nothing'}")


@lru_cache(maxsize=1 << 16)
def _meaning(text: str) -> Any:
    value = _resolve(text)
    if not isinstance(value, float):
        return value
    if not isfinite(value):
        raise ValueError(f"{text} is no number that JSON has; in quotation marks it is text")
    return int(value) if value.is_integer() and abs(value) < _EXACT_FLOAT else value


def _resolve(text: str) -> Any:
    """Return what the library takes a scalar for: None, a bool, an int, a float, or the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in ".+-0123456789":
        return text
    digits = text if text[0] == "." else text.replace("_", "")
    whole = _whole(digits)
    if whole is not None:
        return whole
    if not (_POINT_FIRST if text[0] == "." else _FLOAT).fullmatch(digits):
        return text
    number = SpelledFloat(digits.replace("_", "").lower())
    return number if isfinite(number) else text


def _whole(text: str) -> int | None:
    """Read a whole number of 64 bits in Go's spellings; None if it is none."""
    match = _WHOLE.fullmatch(text)
    if match is None or len(text) > _LONGEST:
        return None
    sign = match["sign"] or match["inner"] or ""
    base, digits = next((base, match[name]) for name, base in _BASES.items() if match[name])
    number = int(digits, base)
    if number > _MOST[sign]:
        return None
    return -number if sign == "-" else number


def _shortest(value: float) -> str:
    """Write a float as Go's `FormatFloat(value, 'g', -1, 32)` does."""
    if value != value or abs(value) > _LARGEST_SINGLE:
        return ".nan" if value != value else ".inf" if value > 0 else "-.inf"
    single = _single(value)
    spellings = (f"{single:.{digits}e}" for digits in range(9))
    mantissa, exponent = next(text for text in spellings if _single(float(text)) == single).split("e")
    if not -4 <= int(exponent) < _LEAST_EXPONENT:
        return f"{mantissa}e{exponent}"
    decimals = len(mantissa.lstrip("-").replace(".", "")) - 1 - int(exponent)
    return f"{float(f'{mantissa}e{exponent}'):.{max(0, decimals)}f}"


def _single(value: float) -> float:
    found: float = struct.unpack("f", struct.pack("f", value))[0]
    return found
