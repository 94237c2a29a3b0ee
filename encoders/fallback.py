"""What breaking a fallen-back constraint costs (KEP-3990).

    fallback = Σ over domains d that receive fallen-back carriers of
               max(0, running_left(d) + new_carriers(d) − lowest − maxSkew)

in the end state, with `lowest` the minimum over domains of what is left and what is new (0 below minDomains).
The constraint is written as it stood before the fall; it is never dropped, it costs in its own tier.

Source: KEP-3990, "Design Details"; the sum is the design's tier `fallback`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..framework import names
from ..framework.spread import fallen_back_constraints
from ..models import tiers
from .context import Terms
from .topology_spread import spread_groups

if TYPE_CHECKING:
    from .context import Context
    from .problem import Problem

name = names.POD_TOPOLOGY_SPREAD


def applies(problem: Problem) -> bool:
    """Every model has the tier; without fallen-back constraints it is the constant 0."""
    return bool(problem.classes)


def encode(ctx: Context) -> None:
    """Register the tier `fallback`."""
    cost = Terms()
    for number, group in enumerate(spread_groups(ctx.problem, fallen_back_constraints)):
        lowest = Terms()
        if not group.counts_from_zero and group.domains:
            totals = [
                group.running_in(ctx, d, left=True).extend(group.matches_in(ctx, d)) for d in group.domains
            ]
            span = max(0, min(t.high for t in totals))
            variable = ctx.model.new_int_var(0, span, f"fallbackLowest[{number}]")
            for total in totals:
                ctx.model.add(variable <= total.expression())
            lowest.add(variable, span)
        for domain in group.domains:
            members = group.members(domain)
            landing = [lit for c in group.carriers if (lit := ctx.lands(c, members)) is not None]
            skew = (
                group.running_in(ctx, domain, left=True)
                .extend(group.carriers_in(ctx, domain))
                .extend(lowest, -1)
            )
            span = skew.high - group.constraint.max_skew
            if span <= 0:
                continue
            excess = ctx.model.new_int_var(0, span, f"fallback[{number},{domain}]")
            for literal in landing:
                ctx.model.add(excess >= skew.expression() - group.constraint.max_skew).only_enforce_if(
                    literal
                )
            if landing:
                cost.add(excess, span)
    ctx.goal(tiers.FALLBACK, "min", cost)
