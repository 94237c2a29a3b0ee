"""What steps cost, from a file (docs/suggest.md has the format)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..models.step_costs import DEFAULT_COSTS, NEVER, StepCosts
from .documents import the_document
from .files import read_file
from .raw_objects import plain
from .scenario_reader import Section

if TYPE_CHECKING:
    from pathlib import Path

_KIND: Final = "StepCosts"
_HIGHEST: Final = 1000
"""The highest cost of a step."""


def load_costs(path: str | Path) -> StepCosts:
    """Read a file of costs and limits of steps; what it does not name keeps its default.

    Raises
    ------
    InputError
        For anything that is none.
    """
    file, content = read_file(path, "one file of costs")
    top = Section(file, "", plain(the_document(file, content, "costs of steps")))
    if top.text("kind", _KIND) != _KIND:
        raise top.fault("kind", f"must be {_KIND}")
    top.text("apiVersion", "")
    costs = Section(file, "costs", top.mapping("costs"))
    found: dict[str, int] = {}
    for kind, usual in DEFAULT_COSTS.items():
        price = costs.given(kind, _price, _Price(usual))
        if price.cost is not None:
            found[kind] = price.cost
    costs.close()
    limits = Section(file, "limits", top.mapping("limits"))
    usual_limits = StepCosts()
    given = StepCosts(
        costs=found,
        max_skew=limits.whole("maxSkew", usual_limits.max_skew),
        budget=limits.whole("budget", usual_limits.budget),
        priority=limits.whole("priority", usual_limits.priority),
        request=limits.given("request", _share, usual_limits.request),
    )
    limits.close()
    top.close()
    return given


class _Price(NamedTuple):
    """The cost of a kind of step; None where no step of it is taken."""

    cost: int | None


def _price(value: Any) -> _Price:
    if value == NEVER:
        return _Price(None)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _HIGHEST:
        raise ValueError(f"must be a whole number from 1 to {_HIGHEST}, or {NEVER}, not {value!r}")
    return _Price(value)


def _share(value: Any) -> Fraction:
    text = value.removesuffix("%") if isinstance(value, str) else ""
    if not (text.isascii() and text.isdecimal() and text != value and 1 <= int(text) <= 100):
        raise ValueError(f"must be a share from 1% to 100%, such as 50%, not {value!r}")
    return Fraction(int(text), 100)
