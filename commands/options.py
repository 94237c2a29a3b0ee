"""Decorators of several options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")


def options(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Make one decorator of several, applied as if they stood under each other."""

    def apply(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply
