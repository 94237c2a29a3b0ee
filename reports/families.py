"""Families of generators: the list, and the knobs of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from .layout import section

if TYPE_CHECKING:
    from collections.abc import Collection

    from ..models.generator import Family


def families_report(families: Collection[Family]) -> RenderableType:
    """Return the list of families."""
    rows = [(family.name, family.title) for family in families]
    return Group(*section("Families of rounds", ("name", "title"), rows, most=len(rows))[1:])


def knobs_report(family: Family) -> RenderableType:
    """Return what can be set of a family."""
    rows = [
        (knob.name, str(knob.default), knob.values, knob.unit or "\N{EN DASH}", knob.about)
        for knob in family.knobs
    ]
    columns = ("knob", "default", "values", "unit", "what it does")
    return Group(
        Text.assemble((family.name, "bold"), ": ", family.title),
        *section("Knobs (--set NAME=VALUE)", columns, rows, most=len(rows)),
    )
