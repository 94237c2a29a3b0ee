"""`desiredCount`: prefer a domain that can also hold the members still to come (KEP-5732).

    shortfall(g) >= desiredCount·starts[g] − members that stand − Σ room[g,n]
    room[g,n] fits beside everything on node n            by resources and pod slots, not by devices;
                                                          unbounded where the profile filters by neither
    room[g,n] <= most·in[g,k,domain of n]                            for every required key k

The same measure of a finished plan is `framework.measures.group_preferences.desired_count_shortfall`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..framework.cycle.runtime import framework_for
from ..framework.measures.group_preferences import NO_END
from ..framework.plugins.node_resources_fit import wanted_room
from ..framework.rules.groups import Group, groups
from ..framework.vocabulary import names
from ..models import tiers
from .family import Family
from .linear import add_at_most
from .pod_groups import chosen_domain, classes_of, starts, staying
from .terms import Terms

if TYPE_CHECKING:
    from .context import Context
    from .problem import PodClass, Problem

name = names.GANG_SCHEDULING


def applies(problem: Problem) -> bool:
    """Whether the family applies: always; without groups that state a count the tier is the constant 0."""
    return bool(problem.classes)


def encode(ctx: Context) -> None:
    """Register the tier `desiredCount`."""
    cost = Terms()
    for group in groups(ctx.problem.cluster):
        classes = classes_of(ctx.problem, group)
        if group.desired_count is not None and group.topology_keys and group.waits is None and classes:
            like = next(c for c in classes if group.pending[0] in c.pods)
            short = ctx.model.new_int_var(0, group.desired_count, f"shortfall[{group.key}]")
            missing = Terms().add(starts(ctx, group), 1, group.desired_count)
            for there in (ctx.placed(classes), staying(ctx, group), _room(ctx, group, like)):
                missing.extend(there, -1)
            ctx.model.add(short >= missing.expression())
            cost.add(short, group.desired_count)
    ctx.goal(tiers.DESIRED_COUNT, "min", cost)


def _room(ctx: Context, group: Group, like: PodClass) -> Terms:
    """Count the pods like `like` that fit beside all others in the chosen domains."""
    total = Terms()
    desired = group.desired_count or 0
    cluster = ctx.problem.cluster
    for node in np.flatnonzero(framework_for(cluster, like.pod).static_mask(like.pod)).tolist():
        most = min(_most(ctx, like, node), desired)
        if most <= 0:
            continue
        room = ctx.model.new_int_var(0, most, f"room[{group.key},{cluster.node_names[node]}]")
        for key in group.topology_keys:
            literal = chosen_domain(ctx, group, key).get(int(cluster.domains(key).ids[node]))
            ctx.model.add(room <= (0 if literal is None else most * literal))
        _fit_beside(ctx, like, node, Terms().add(room, most))
        total.add(room, most)
    return total


def _most(ctx: Context, like: PodClass, node: int) -> int:
    """Bound the pods like `like` on an otherwise empty node, all possible victims gone."""
    problem = ctx.problem
    wanted = wanted_room(problem.cluster, like.pod)
    if wanted is None:
        return NO_END
    victims = problem.victims_on.get(node, ())
    most = int(problem.slots_now[node]) + sum(v.size for v in victims)
    for r, asked in enumerate(wanted):
        if asked > 0:
            free = int(problem.free_now[r, node]) + sum(int(v.usage[r]) * v.size for v in victims)
            most = min(most, free // int(asked))
    return most


def _fit_beside(ctx: Context, like: PodClass, node: int, room: Terms) -> None:
    """Bound the room by what is free beside the pods that the plan puts there."""
    problem = ctx.problem
    wanted = wanted_room(problem.cluster, like.pod)
    if wanted is None:
        return
    used = ctx.model.new_bool_var(f"roomUsed[{node},{problem.cluster.pods[like.pod].key}]")
    [variable], [upper] = room.variables, room.uppers
    ctx.model.add(variable <= upper * used)
    victims = problem.victims_on.get(node, ())
    classes = ctx.classes_on(node)
    usage = problem.cluster.usage
    for r, asked in enumerate(wanted):
        if asked > 0:
            terms = Terms().extend(room, int(asked))
            for c in classes:
                terms.extend(ctx.placed([c], [node]), int(usage[c.pod][r]))
            for v in victims:
                terms.extend(ctx.evicted([v]), -int(v.usage[r]))
            free = int(problem.free_now[r, node])
            add_at_most(ctx.model, terms.coefficients, terms.variables, terms.uppers, free, when=used)
    slots = Terms().extend(room).extend(ctx.placed(classes, [node])).extend(ctx.evicted(victims), -1)
    free = int(problem.slots_now[node])
    add_at_most(ctx.model, slots.coefficients, slots.variables, slots.uppers, free, when=used)


FAMILY = Family(name, applies, encode)
