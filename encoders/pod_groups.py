"""Pod groups: gangs start whole, a constrained group stays in one domain, and some are evicted whole.

For a gang g with minCount m and the literal starts[g], true whenever a member is newly placed:

    Σ placed members + running members that stay >= m·starts[g]

For each constrained key k of a group, with one literal per domain d, at most one of them true:

    a member is newly placed in d  ->  in[g,k,d]
    in[g,k,d]  ->  every running member outside d leaves

Nodes without the key are out. A group that waits (object missing, too few members, members at odds) places no
member.

A group with disruptionMode `all`, a CompositePodGroup with all below it, has one literal whole[g] for all its
classes v of running members, on whatever nodes they are:

    evicted[v] = size(v)·whole[g]
    whole[g]  ->  not starts[h]         for h = g, or every PodGroup h below it

Source: KEP-4671, KEP-5732, KEP-5710, KEP-6012; docs/groups.md.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..framework.rules.composites import leaves_of
from ..framework.rules.eviction_units import units
from ..framework.rules.groups import Group, groups
from ..framework.vocabulary import names
from .family import Family, Tie
from .terms import Terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt
    from ortools.sat.python import cp_model

    from .context import Context
    from .problem import PodClass, Problem

name = names.GANG_SCHEDULING


def applies(problem: Problem) -> bool:
    """Whether a pending pod names a group, or a group may be evicted whole."""
    return bool(problem.units) or any(group.pending for group in groups(problem.cluster))


def encode(ctx: Context) -> None:
    """Add the rows of every group with pending members, and of those that may be evicted whole."""
    for unit in units(ctx.problem.cluster):
        if unit.index in ctx.problem.units:
            _evicted_whole(ctx, unit)
    for group in groups(ctx.problem.cluster):
        classes = classes_of(ctx.problem, group)
        if not classes:
            continue
        if group.waits is not None:
            _keep_out(ctx, classes)
            continue
        if group.min_count is not None:
            _whole(ctx, group, classes)
        for key in group.topology_keys:
            _together(ctx, group, key, classes)


def classes_of(problem: Problem, group: Group) -> list[PodClass]:
    """Return the classes of a group's pending members: classes never mix groups."""
    members = set(group.pending)
    return [c for c in problem.classes if c.pod in members]


def starts(ctx: Context, group: Group) -> cp_model.IntVar:
    """Return the literal that is true whenever a member is newly placed."""
    return ctx.memo(("starts", group.index), partial(_starts, ctx, group))


def chosen_domain(ctx: Context, group: Group, key: str) -> dict[int, cp_model.IntVar]:
    """Return a literal for each domain of a required key where newcomers may go; at most one is true."""
    return ctx.memo(("in", group.index, key), partial(_chosen_domain, ctx, group, key))


def _chosen_domain(ctx: Context, group: Group, key: str) -> dict[int, cp_model.IntVar]:
    ids = ctx.problem.cluster.domains(key).ids
    classes = classes_of(ctx.problem, group)
    reached = sorted({int(d) for c in classes for d in np.unique(ids[c.mask]) if d >= 0})
    chosen = {d: ctx.model.new_bool_var(f"in[{group.key},{key},{d}]") for d in reached}
    ctx.model.add_at_most_one(chosen.values())
    return chosen


def staying(ctx: Context, group: Group) -> Terms:
    """Count the running members that are not evicted."""
    running = set(group.running)
    victims = [v for v in ctx.problem.victims if v.pod in running]
    terms = Terms(constant=len(running))
    return terms.extend(ctx.evicted(victims), -1)


def _keep_out(ctx: Context, classes: Sequence[PodClass]) -> None:
    for cls in classes:
        for variable in ctx.placed([cls]).variables:
            ctx.model.add(variable == 0)


def _starts(ctx: Context, group: Group) -> cp_model.IntVar:
    literal = ctx.model.new_bool_var(f"starts[{group.key}]")
    placed = ctx.placed(classes_of(ctx.problem, group))
    for variable, upper in zip(placed.variables, placed.uppers, strict=True):
        ctx.model.add(variable <= upper * literal)
    return literal


def _evicted_whole(ctx: Context, unit: Group) -> None:
    whole = ctx.model.new_bool_var(f"whole[{unit.key}]")
    for v in ctx.problem.units[unit.index]:
        ctx.model.add(ctx.evictions[v.index] == v.size * whole)
    for group in leaves_of(unit):
        if classes_of(ctx.problem, group):
            ctx.model.add_implication(whole, starts(ctx, group).negated())


def _whole(ctx: Context, group: Group, classes: Sequence[PodClass]) -> None:
    present = ctx.placed(classes).extend(staying(ctx, group))
    row = ctx.model.add(present.expression() >= group.quorum * starts(ctx, group))
    row.with_name(f"gang[{group.key}]")


def _together(ctx: Context, group: Group, key: str, classes: Sequence[PodClass]) -> None:
    ids = ctx.problem.cluster.domains(key).ids
    chosen = chosen_domain(ctx, group, key)
    follow(ctx, group, ids, chosen)
    stay_inside(ctx, classes, ids, chosen)


def stay_inside(
    ctx: Context,
    classes: Sequence[PodClass],
    ids: npt.NDArray[np.int32],
    chosen: Mapping[int, cp_model.IntVar],
) -> None:
    """Keep the newcomers of some classes in chosen domains (`ids`: each node's, int32[N])."""
    for cls in classes:
        for node in np.flatnonzero(cls.mask).tolist():
            variable = ctx.count(cls, node)
            literal = chosen.get(int(ids[node]))
            if variable is None:
                continue
            if literal is None:
                ctx.model.add(variable == 0)
            else:
                ctx.model.add(variable <= int(cls.limit[node]) * literal)


def follow(
    ctx: Context, group: Group, ids: npt.NDArray[np.int32], chosen: Mapping[int, cp_model.IntVar]
) -> None:
    """Restrict newcomers to the domain of the running members that stay."""
    problem = ctx.problem
    running = set(group.running)
    leaving = {p: v for v in problem.victims for p in v.pods if p in running}
    for pod in group.running:
        here = int(ids[problem.state.node_of[pod]])
        for domain, literal in chosen.items():
            if domain == here:
                continue
            if pod in leaving:
                ctx.model.add_implication(literal, ctx.all_gone(leaving[pod]))
            else:
                ctx.model.add(literal == 0)


def ties(problem: Problem) -> Iterator[Tie]:
    """Tie the pending members of each group to its evictable ones, and those that leave together."""
    class_of = {p: v for v in problem.victims for p in v.pods}
    for unit in units(problem.cluster):
        classes = [cls for group in leaves_of(unit) for cls in classes_of(problem, group)]
        yield Tie(classes, [class_of[p] for p in unit.unit if p in class_of])
    for group in groups(problem.cluster):
        if group.pending:
            yield Tie(classes_of(problem, group), [class_of[p] for p in group.running if p in class_of])


FAMILY = Family(name, applies, encode, ties=ties)
