"""Pod groups: gangs start whole, a constrained group stays in one domain, and some are evicted whole.

For a gang g with minCount m and the literal starts[g], true whenever a member is newly placed:

    Σ placed members + running members that stay >= m·starts[g]

For each constrained key k of a group, with one literal per domain d, at most one of them true:

    a member is newly placed in d  ->  in[g,k,d]
    in[g,k,d]  ->  every running member outside d leaves

A gang without running members that has one class of m = minCount pending ones comes with all or with none.
For such gangs g that ask for the same, a being their request and most what can be free at most:

    Σ placed members of g <= m·starts[g]
    Σ starts[g] <= Σ_d floor(Σ_{n in d} floor(most(n)/a) / m)     over the domains of their key, or all nodes

and where all pods of a level are theirs, for every resource r and the classes c of other levels:

    Σ placed members = m·gangs                                    the level's value is a multiple of m
    m·Σ starts[g] + Σ floor(request_r(c)/a_r)·placed[c] <= Σ_n floor(most_r(n)/a_r)

Every plan holds to these: what a node has left beside whole pods, or a domain beside whole gangs, is of use
to no gang. The rows of room alone fill it with parts of gangs, and only branching shows that these never
start.

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
    whole: list[tuple[Group, PodClass]] = []
    for group in groups(ctx.problem.cluster):
        classes = classes_of(ctx.problem, group)
        if not classes:
            continue
        if group.waits is not None:
            _keep_out(ctx, classes)
            continue
        if group.min_count is not None:
            _whole(ctx, group, classes)
            if not group.running and [c.size for c in classes] == [group.min_count]:
                whole.append((group, classes[0]))
        for key in group.topology_keys:
            _together(ctx, group, key, classes)
    _all_or_none(ctx, whole)


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


def _all_or_none(ctx: Context, whole: Sequence[tuple[Group, PodClass]]) -> None:
    """Add what follows from gangs that come with all their members, a class each, or with none."""
    alike: dict[tuple[object, ...], list[tuple[Group, PodClass]]] = {}
    for group, cls in whole:
        ctx.model.add(ctx.placed([cls]).expression() <= cls.size * starts(ctx, group))
        key = (cls.priority, cls.size, cls.request.tobytes(), cls.mask.tobytes(), group.topology_keys[:1])
        alike.setdefault(key, []).append((group, cls))
    for found in alike.values():
        gangs, classes = [group for group, _ in found], [cls for _, cls in found]
        if not classes[0].bounded or classes[0].served:
            continue
        _count_gangs(ctx, gangs, classes[0])
        level = classes[0].priority
        if sum(c.priority == level for c in ctx.problem.classes) == len(classes):
            size = classes[0].size
            number = ctx.model.new_int_var(0, len(gangs), f"gangs[priority={level}]")
            ctx.model.add(ctx.placed(classes).expression() == size * number)
            _count_beside(ctx, gangs, classes)


def _count_gangs(ctx: Context, gangs: Sequence[Group], cls: PodClass) -> None:
    """Bound how many of like gangs start by what their domains have room for; `cls`: the members of one."""
    problem, keys = ctx.problem, gangs[0].topology_keys
    most = problem.most_slots
    for r, amount in enumerate(cls.request.tolist()):
        if amount > 0:
            most = np.minimum(most, problem.most_free[r] // amount)
    ids = problem.cluster.domains(keys[0]).ids if keys else np.zeros(len(most), dtype=np.int32)
    here = cls.mask & (ids >= 0)
    room = np.zeros(int(ids.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(room, ids[here], np.maximum(most, 0)[here])
    ctx.at_most(_started(ctx, gangs), int((room // cls.size).sum()), name=f"gangs[{gangs[0].key}]")


def _count_beside(ctx: Context, gangs: Sequence[Group], members: Sequence[PodClass]) -> None:
    """Bound like gangs and all others that come to their nodes, in whole pods of the gangs."""
    problem, cls = ctx.problem, members[0]
    nodes = np.flatnonzero(cls.mask).tolist()
    theirs = {c.index for c in members}
    others = problem.asking(names.NODE_RESOURCES_FIT, (c for c in problem.classes if c.index not in theirs))
    for r, amount in enumerate(cls.request.tolist()):
        if amount <= 0:
            continue
        taken = Terms().extend(_started(ctx, gangs), cls.size)
        for c in others:
            if r not in c.served and c.request[r] >= amount:
                taken.extend(ctx.placed([c], nodes), int(c.request[r]) // amount)
        room = np.maximum(problem.most_free[r, nodes], 0) // amount
        ctx.at_most(taken, int(room.sum()), name=f"beside[{gangs[0].key},{problem.cluster.resources[r]}]")


def _started(ctx: Context, gangs: Sequence[Group]) -> Terms:
    return Terms([starts(ctx, group) for group in gangs], [1] * len(gangs), [1] * len(gangs))


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
