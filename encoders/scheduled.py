"""How many pods of each priority are placed: the first tier of every priority.

Where the round is asked about some pods (`Snapshot.asked`), whether any of them is placed comes before that;
and before that how many of the pods are placed that are to fare no worse (`Snapshot.kept`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..framework.vocabulary import names
from ..models import tiers
from .family import Family
from .terms import Terms

if TYPE_CHECKING:
    from .context import Context
    from .problem import Problem

name = names.PRIORITY_SORT


def applies(problem: Problem) -> bool:
    """Whether the family applies: always, but where pods move (`encoders.moves`)."""
    return bool(problem.classes) and problem.mobility is None


def encode(ctx: Context) -> None:
    """Register the tiers `kept`, `asked` and `scheduled[priority=p]`."""
    if ctx.problem.cluster.kept:
        kept = [c for c in ctx.problem.classes if c.pod in ctx.problem.cluster.kept]
        ctx.goal(tiers.KEPT, "max", ctx.placed(kept), most=sum(c.size for c in kept))
    if ctx.problem.cluster.asked:
        _asked(ctx)
    for level in ctx.problem.levels:
        classes = [c for c in ctx.problem.classes if c.priority == level]
        most = sum(min(c.size, int(c.limit.sum())) for c in classes)
        ctx.goal(tiers.scheduled(level), "max", ctx.placed(classes), most=most)


def _asked(ctx: Context) -> None:
    classes = [c for c in ctx.problem.classes if c.pod in ctx.problem.cluster.asked]
    placed = ctx.placed(classes)
    if sum(c.size for c in classes) > 1:
        some = ctx.model.new_bool_var(tiers.ASKED)
        ctx.model.add(placed.expression() >= some)
        placed = Terms([some], [1], [1])
    ctx.goal(tiers.ASKED, "max", placed, most=1)


FAMILY = Family(name, applies, encode)
