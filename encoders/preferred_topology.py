"""`preferredTopology`: groups with preferred keys stand in few domains (KEP-5732).

    Σ over groups g that gain a member, over preferred keys k of beyond[g,k]
    beyond[g,k] >= Σ_d taken[g,k,d] − 1
    a member is newly placed in d  ->  taken[g,k,d]
    g gains a member, and a running one in d stays  ->  taken[g,k,d]

All nodes without the label are one domain. The same measure of a finished plan is
`framework.measures.group_preferences.preferred_topology_excess`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..framework.rules.groups import Group, groups
from ..framework.vocabulary import names
from ..models import tiers
from .family import Family
from .pod_groups import classes_of, starts
from .terms import Terms

if TYPE_CHECKING:
    from .context import Context
    from .problem import Problem

name = names.TOPOLOGY_PLACEMENT


def applies(problem: Problem) -> bool:
    """Whether a pending group has a preferred key."""
    return any(g.preferred_keys and g.pending for g in groups(problem.cluster))


def encode(ctx: Context) -> None:
    """Register the tier `preferredTopology`."""
    cost = Terms()
    for group in groups(ctx.problem.cluster):
        if group.pending and group.waits is None:
            for key in group.preferred_keys:
                cost.extend(_beyond(ctx, group, key))
    ctx.goal(tiers.PREFERRED_TOPOLOGY, "min", cost)


def _beyond(ctx: Context, group: Group, key: str) -> Terms:
    """Count the domains that a group stands in beyond the first."""
    problem = ctx.problem
    ids = problem.cluster.domains(key).ids
    classes = classes_of(problem, group)
    running = set(group.running)
    leaving = {p: v for v in problem.victims for p in v.pods if p in running}
    begins = starts(ctx, group)
    taken = Terms()
    for domain in np.unique(ids).tolist():
        nodes = np.asarray(ids == domain)
        landing = [lit for c in classes if (lit := ctx.lands(c, nodes)) is not None]
        members = [i for i in group.running if nodes[problem.state.node_of[i]]]
        if not landing and not members:
            continue
        literal = ctx.model.new_bool_var(f"taken[{group.key},{key},{domain}]")
        for lands in landing:
            ctx.model.add_implication(lands, literal)
        for i in members:
            gone = [ctx.all_gone(leaving[i])] if i in leaving else []
            ctx.model.add_bool_or([literal, begins.negated(), *gone])
        taken.add(literal, 1)
    most = max(len(taken.variables) - 1, 0)
    beyond = ctx.model.new_int_var(0, most, f"beyond[{group.key},{key}]")
    ctx.model.add(beyond >= taken.expression() - 1)
    return Terms().add(beyond, most)


FAMILY = Family(name, applies, encode)
