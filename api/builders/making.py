"""From what a builder was given to the object; faults are told in the words of a reader of manifests."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, TypeVar

from ...models.errors import KubestowError
from ...models.meta import KubeObject
from ...models.validation import read

if TYPE_CHECKING:
    from .values import Document

T = TypeVar("T", bound=KubeObject)


def made(model: type[T], document: Document) -> T:
    """Return the object of a document.

    Raises
    ------
    InputError
        If a field has the wrong type or an unknown value: kind and name, field, what would be right.
    """
    return read(model, {"kind": model.__name__, **document}, "")


def whole(name: str, value: object, least: int) -> None:
    """Raise the one line for an argument that is not a whole number, or is too small.

    Raises
    ------
    KubestowError
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise KubestowError(f"{name}: must be a whole number, {least} or more, not {value!r}")
