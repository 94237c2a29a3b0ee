"""Excess of domains over the maxSkew of soft constraints, as `framework.measures.skew` measures it.

    Σ over groups of carriers of
        Σ over domains d that receive one of
            max(0, running_left(d) + new_matching(d) − lowest − maxSkew)
        + price · new_carriers on nodes without the key
    lowest <= running_left(d') + new_matching(d')        for every domain d'   (0 below minDomains)

The expression is a cost: a solver that minimises it drives `lowest` up and each excess down to what it must
be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..framework.measures.skew import price_without_key
from .terms import Terms
from .topology_spread import SpreadGroup, spread_groups

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..framework.index.cluster import Cluster
    from ..framework.rules.spread import SpreadConstraint
    from .context import Context


def excess(
    ctx: Context, constraints_of: Callable[[Cluster, int], Sequence[SpreadConstraint]], label: str
) -> Terms:
    """Build the cost of the constraints that `constraints_of` names for each pod."""
    cost = Terms()
    for number, group in enumerate(spread_groups(ctx.problem, constraints_of)):
        cost.extend(_group_excess(ctx, group, f"{label}[{number}]"))
    return cost


def _group_excess(ctx: Context, group: SpreadGroup, label: str) -> Terms:
    lowest = _lowest(ctx, group, label)
    cost = Terms()
    for domain in group.domains:
        nodes = [*group.members(domain), *group.bystanders(domain)]
        landing = [lit for c in group.carriers if (lit := ctx.lands(c, nodes)) is not None]
        skew = (
            group.running_in(ctx, domain, left=True).extend(group.matches_in(ctx, domain)).extend(lowest, -1)
        )
        upper = skew.high - group.constraint.max_skew
        if upper <= 0 or not landing:
            continue
        over = ctx.model.new_int_var(0, upper, f"{label}/{domain}")
        for literal in landing:
            ctx.model.add(over >= skew.expression() - group.constraint.max_skew).only_enforce_if(literal)
        cost.add(over, upper)
    without = np.flatnonzero(group.domain_of < 0).tolist()
    for cls in group.carriers:
        price = price_without_key(ctx.problem.cluster, cls.pod, group.constraint)
        cost.extend(ctx.placed([cls], without), price)
    return cost


def _lowest(ctx: Context, group: SpreadGroup, label: str) -> Terms:
    lowest = Terms()
    if group.counts_from_zero or not group.domains:
        return lowest
    totals = [group.running_in(ctx, d, left=True).extend(group.matches_in(ctx, d)) for d in group.domains]
    upper = group.highest_minimum(totals)
    if upper:
        lowest.add(ctx.model.new_int_var(0, upper, f"{label}/lowest"), upper)
        for total in totals:
            ctx.at_most(Terms().extend(lowest).extend(total, -1), 0)
    return lowest
