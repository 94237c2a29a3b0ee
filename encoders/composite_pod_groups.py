"""Groups of groups: enough children stand, and a whole subtree stays in one domain.

For a PodGroup g of a tree with quorum m (`minCount`, 1 without a gang), and a CompositePodGroup c with M
(`minGroupCount`, 1 without a gang), with the literals stands[·], and gains[·], true whenever a member below
is newly placed:

    Σ placed members of g + running members that stay >= m·stands[g]
    Σ stands[children of c] >= M·stands[c]
    gains[child] -> gains[c] -> stands[c]

For each constrained key k of c, with one literal per domain d, at most one of them true:

    a member below is newly placed in d  ->  in[c,k,d]
    in[c,k,d]  ->  every running member below that is outside d leaves
    in[g,k',d']  ->  one of the in[c,k,d] that share nodes with d', for every constrained child g of c

The last row follows from the others; it tells the search which racks are in which block. A part of a round
that lacks groups of a tree is not held to the tree's rules: the whole is.

Source: KEP-6012; docs/groups.md.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..framework.rules.composites import Composite, composites
from ..framework.vocabulary import names
from .family import Family, Tie
from .pod_groups import chosen_domain, classes_of, follow, starts, stay_inside, staying
from .terms import Terms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ortools.sat.python import cp_model

    from ..framework.rules.groups import Group
    from .context import Context
    from .problem import Problem

name = names.GANG_SCHEDULING


def applies(problem: Problem) -> bool:
    """Only where a pending pod is in a tree."""
    return any(root.pending for root in composites(problem.cluster))


def encode(ctx: Context) -> None:
    """Add the rows of every tree that may gain members and is here as a whole."""
    for root in composites(ctx.problem.cluster):
        if root.waits is None and root.pending and _whole(ctx.problem, root):
            _gains(ctx, root)
            for item in root.inner():
                for key in item.topology_keys:
                    _together(ctx, item, key)


def _whole(problem: Problem, root: Composite) -> bool:
    known = {i for cls in problem.classes for i in cls.pods}
    return known.issuperset(root.pending)


def _gains(ctx: Context, group: Group) -> cp_model.IntVar | None:
    """Give the literal that is true whenever a member of a group is newly placed; None where none can be."""
    if not isinstance(group, Composite):
        return starts(ctx, group) if group.pending else None
    below = [literal for child in group.children if (literal := _gains(ctx, child)) is not None]
    if not below:
        return None
    gains = ctx.model.new_bool_var(f"gains[{group.key}]")
    for literal in below:
        ctx.model.add_implication(literal, gains)
    ctx.model.add_implication(gains, _stands(ctx, group))
    return gains


def _stands(ctx: Context, group: Group) -> cp_model.IntVar:
    return ctx.memo(("stands", group.index), partial(_new_stands, ctx, group))


def _new_stands(ctx: Context, group: Group) -> cp_model.IntVar:
    """Give a literal that may be true only where a group stands."""
    literal = ctx.model.new_bool_var(f"stands[{group.key}]")
    if isinstance(group, Composite):
        present, least = Terms(), group.needed_groups
        for child in group.children:
            present.add(_stands(ctx, child), 1)
    else:
        present, least = ctx.placed(classes_of(ctx.problem, group)), group.quorum
        present.extend(staying(ctx, group))
    ctx.model.add(present.expression() >= least * literal).with_name(f"stands[{group.key}]")
    return literal


def _together(ctx: Context, item: Composite, key: str) -> None:
    problem = ctx.problem
    ids = problem.cluster.domains(key).ids
    classes = [cls for leaf in item.leaves() for cls in classes_of(problem, leaf)]
    reached = sorted({int(d) for cls in classes for d in np.unique(ids[cls.mask]) if d >= 0})
    chosen = {d: ctx.model.new_bool_var(f"in[{item.key},{key},{d}]") for d in reached}
    ctx.memo(("in composite", item.index, key), lambda: chosen)
    ctx.model.add_at_most_one(chosen.values())
    follow(ctx, item, ids, chosen)
    stay_inside(ctx, classes, ids, chosen)
    _nest(ctx, item, chosen, key)


def _nest(ctx: Context, item: Composite, chosen: dict[int, cp_model.IntVar], key: str) -> None:
    """Tell which domains of the children are in which domains of a group above them."""
    cluster = ctx.problem.cluster
    ids = cluster.domains(key).ids
    for child in item.children:
        for inner in child.topology_keys if child.pending else ():
            inner_ids = cluster.domains(inner).ids
            for domain, literal in _chosen(ctx, child, inner).items():
                around = {int(d) for d in np.unique(ids[inner_ids == domain])}
                ctx.model.add_bool_or(literal.negated(), *(chosen[d] for d in around & chosen.keys()))


def _chosen(ctx: Context, group: Group, key: str) -> dict[int, cp_model.IntVar]:
    if isinstance(group, Composite):
        return ctx.memo(("in composite", group.index, key), dict)
    return chosen_domain(ctx, group, key)


def ties(problem: Problem) -> Iterator[Tie]:
    """Tie the pending members of each tree to its evictable ones."""
    class_of = {p: v for v in problem.victims for p in v.pods}
    for root in composites(problem.cluster):
        classes = [cls for leaf in root.leaves() for cls in classes_of(problem, leaf)]
        yield Tie(classes, [class_of[p] for p in root.running if p in class_of])


FAMILY = Family(name, applies, encode, ties=ties)
