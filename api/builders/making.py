"""From what a builder has written to the object; faults are told as a reader of manifests tells them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

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
