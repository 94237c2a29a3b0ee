"""How many pods of each priority are placed: the first tier of every priority."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..framework.vocabulary import names
from ..models import tiers
from .family import Family

if TYPE_CHECKING:
    from .context import Context
    from .problem import Problem

name = names.PRIORITY_SORT


def applies(problem: Problem) -> bool:
    """Whether the family applies: always."""
    return bool(problem.classes)


def encode(ctx: Context) -> None:
    """Register the tiers `scheduled[priority=p]`."""
    for level in ctx.problem.levels:
        classes = [c for c in ctx.problem.classes if c.priority == level]
        most = sum(min(c.size, int(c.limit.sum())) for c in classes)
        ctx.goal(tiers.scheduled(level), "max", ctx.placed(classes), most=most)


FAMILY = Family(name, applies, encode)
