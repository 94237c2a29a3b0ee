"""What breaking a fallen-back constraint costs (KEP-3990).

    fallback = Σ over constraints, over domains d that receive one of their fallen-back pods, of
               max(0, matching(d) − lowest − maxSkew)
             + what a fallen-back pod costs on a node without the key: more than any domain could

in the end state, with `matching` all pods that count, however they came to be there, and `lowest` their
minimum over domains (0 below minDomains). The constraint is written as it stood before the fall; it is never
dropped, it costs in its own tier.

Source: KEP-3990, "Design Details"; the sum is that of docs/model.md, "The objective".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..framework.rules.spread import fallen_back_constraints
from ..framework.vocabulary import names
from ..models import tiers
from .excess import excess
from .family import Family
from .topology_spread import ties_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .context import Context
    from .family import Tie
    from .problem import Problem

name = names.POD_TOPOLOGY_SPREAD


def applies(problem: Problem) -> bool:
    """Every model has the tier; without fallen-back constraints it is the constant 0."""
    return bool(problem.classes)


def encode(ctx: Context) -> None:
    """Register the tier `fallback`."""
    ctx.goal(tiers.FALLBACK, "min", excess(ctx, fallen_back_constraints, "fallback"))


def ties(problem: Problem) -> Iterator[Tie]:
    """Tie what a constraint joins that has fallen back."""
    return ties_of(problem, fallen_back_constraints)


FAMILY = Family(name, applies, encode, ties=ties)
