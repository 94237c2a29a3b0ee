"""How Kubernetes' own types travel through CEL: quantities, addresses and URLs as maps, versions as lists.

The runtime chooses an overload by the kind of the argument (map, list, text ...), so types that share a
function's name must differ in kind: `compareTo` is one function on maps and another on lists.

Every function raises `ValueError` for what upstream calls an error.
"""

from fractions import Fraction
from functools import lru_cache
from typing import Final

from ....models.quantity import parse_quantity
from ....models.semver import Version, parse_version

Packed = dict[str, str]
PackedVersion = list[str]

_QUANTITY: Final = "quantity"


@lru_cache(maxsize=1 << 14)
def _exact(text: str) -> Fraction:
    return Fraction(text)


def pack_quantity(value: Fraction) -> Packed:
    """Return a quantity as CEL carries it; equal quantities are equal maps."""
    return {_QUANTITY: f"{value.numerator}/{value.denominator}"}


def unpack_quantity(value: Packed) -> Fraction:
    """Return the quantity that a map carries."""
    text = value.get(_QUANTITY) if isinstance(value, dict) else None
    if text is None:
        raise ValueError("no such overload")
    return _exact(text)


def read_quantity(text: str) -> Packed:
    """Read a quantity from its spelling."""
    return pack_quantity(parse_quantity(text))


def is_quantity(text: str) -> bool:
    """Whether a text spells a quantity."""
    try:
        parse_quantity(text)
    except ValueError:
        return False
    return True


def pack_version(value: Version) -> PackedVersion:
    """Return a version as CEL carries it; equal versions are equal lists."""
    return [str(value)]


def unpack_version(value: PackedVersion) -> Version:
    """Return the version that a list carries."""
    if len(value) != 1 or not isinstance(value[0], str):
        raise ValueError("no such overload")
    return parse_version(value[0])


def read_version(text: str, normalize: bool = False) -> PackedVersion:
    """Read a version from its spelling."""
    return pack_version(parse_version(text, normalize=normalize))


def is_version(text: str, normalize: bool = False) -> bool:
    """Whether a text spells a version."""
    try:
        parse_version(text, normalize=normalize)
    except ValueError:
        return False
    return True


def tagged(value: Packed, tag: str) -> str:
    """Return what a map of this kind carries (`ip`, `cidr`, `url`)."""
    if not isinstance(value, dict) or tag not in value:
        raise ValueError("no such overload")
    return value[tag]
