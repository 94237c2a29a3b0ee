"""Arguments of the Python interface that have a wrong type, told in one line each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral

from ..models.errors import KubestowError


def whole(name: str, value: object, least: int) -> None:
    """Raise the one line for an argument that is not a whole number, or is too small.

    Raises
    ------
    KubestowError
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise KubestowError(f"{name}: must be a whole number, {least} or more, not {value!r}")


def text(name: str, value: object) -> None:
    """Raise the one line for an argument that is not text.

    Raises
    ------
    KubestowError
    """
    if not isinstance(value, str):
        raise KubestowError(f"{name}: must be text (in quotes), not {value!r}")


def listed(name: str, value: object) -> None:
    """Raise the one line for an argument that is no list; a text would be one of letters.

    Raises
    ------
    KubestowError
    """
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise KubestowError(f"{name}: must be a list, not {value!r}")


def one_of(name: str, value: object, known: Sequence[str]) -> None:
    """Raise the one line for an argument that is none of the known words.

    Raises
    ------
    KubestowError
    """
    if value not in known:
        raise KubestowError(f"{name}: must be one of {', '.join(known)}, not {value!r}")
