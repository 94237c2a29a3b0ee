"""Options put together, and whether one was given."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")


class FiniteRange(click.FloatRange):
    """A number within a range. NaN is in none and `inf` is no limit: neither would ever be exceeded."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or refuse it in one line."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


def options(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Make one decorator of several, applied as if they stood under each other."""

    def apply(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


def given(name: str) -> bool:
    """Whether a parameter of the command was given, on the command line or by the environment."""
    source = click.get_current_context().get_parameter_source(name)
    return source not in (None, ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP)
