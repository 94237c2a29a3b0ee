"""Cost of breaking a fallen-back constraint (KEP-3990).

    fallback = Σ over constraints, over domains d that receive one of their fallen-back pods, of
               max(0, matching(d) − lowest − maxSkew)
             + what a fallen-back pod costs on a node without the key: more than any domain could

in the end state, with `matching` all pods that count, running or new, and `lowest` their minimum over domains
(0 below minDomains). A fallen-back constraint is not dropped: it is stated as before, and its violation costs
in a tier of its own.

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
    """Whether the family applies: always; without fallen-back constraints the tier is the constant 0."""
    return bool(problem.classes)


def encode(ctx: Context) -> None:
    """Register the tier `fallback`."""
    ctx.goal(tiers.FALLBACK, "min", excess(ctx, fallen_back_constraints, "fallback"))


def ties(problem: Problem) -> Iterator[Tie]:
    """Tie what a constraint joins that has fallen back."""
    return ties_of(problem, fallen_back_constraints)


FAMILY = Family(name, applies, encode, ties=ties)
