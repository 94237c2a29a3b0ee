"""Moves: a running pod leaves, and what its controller makes in its place is placed.

    Σ_n y[c,n] >= Σ moved[v]                     over the victims v whose successors are of class c
    Σ_n y[c,n] − Σ moved[v] <= pending(c)        a successor is there only once its pod has left
    Σ moved[v] <= most

with the evictions of the model as `moved`. Nobody needs a preemptor, and no budget is a row: it limits who is
away at one time, which is a matter of the order, and whoever may never be away is no victim.

A node n is free if nobody stays or lands who could go elsewhere:

    free[n] -> moved[v] = size(v), y[c,n] = 0        (a node that can be bought: free[n] = 1 − bought[n])
    Σ request_r(c)·y[c,n] + Σ usage_r(v)·(size(v) − moved[v]) <= room_r(n)·(1 − free[n])

The second row follows from the first one and from that of the node's room; it makes the linear relaxation as
tight as the sums are. It is scaled, what is asked rounded down.

Source: docs/rebalance.md; docs/model.md, "Moves".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..framework.vocabulary import names
from ..models import tiers
from .family import Family, Tie
from .linear import LOWEST, add_row
from .preferences import PREFERENCES
from .terms import Terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .context import Context
    from .mobility import Mobility
    from .problem import PodClass, Problem, VictimClass

name = names.DEFAULT_PREEMPTION

#: The room of a node in the scaled rows, at most: sums of Booleans stay far below 2^31.
_GRAINS: Final = 2**16


def applies(problem: Problem) -> bool:
    """Whether the family applies: where pods may move."""
    return problem.mobility is not None


def encode(ctx: Context) -> None:
    """Add the rows of who comes back, the limit, and the tiers of the goal and of the moves."""
    problem = ctx.problem
    mobility = problem.mobility
    assert mobility is not None
    leavers = leavers_of(problem)
    for cls in problem.classes:
        leaving = leavers.get(cls.index, ())
        if leaving:
            label = problem.cluster.pods[cls.pod].key
            back = ctx.evicted(leaving).extend(ctx.placed([cls]), -1)
            ctx.at_most(back, 0, name=f"returns[{label}]")
            came = ctx.placed([cls]).extend(ctx.evicted(leaving), -1)
            ctx.at_most(came, waiting(problem, cls), name=f"comes[{label}]")
    gone = ctx.evicted(problem.victims)
    if mobility.most is not None:
        ctx.at_most(gone, mobility.most, name="limit[moves]")
    _gain(ctx, mobility, leavers)
    ctx.goal(tiers.MOVES, "min", gone, most=mobility.most)
    if mobility.memory:
        memory = problem.cluster.resources.index("memory")
        ctx.goal(tiers.MOVED_MEMORY, "min", gone.weighted([int(v.usage[memory]) for v in problem.victims]))


def leavers_of(problem: Problem) -> dict[int, list[VictimClass]]:
    """Class -> the victims whose successors are of it."""

    def find() -> dict[int, list[VictimClass]]:
        assert problem.mobility is not None
        class_of = {i: c.index for c in problem.classes for i in c.pods}
        found: dict[int, list[VictimClass]] = {}
        for v in problem.victims:
            found.setdefault(class_of[problem.mobility.successors[v.pod]], []).append(v)
        return found

    return problem.memo("leavers", find)


def waiting(problem: Problem, cls: PodClass) -> int:
    """Count the pods of a class that wait in the input."""
    return cls.size - sum(v.size for v in leavers_of(problem).get(cls.index, ()))


def _gain(ctx: Context, mobility: Mobility, leavers: dict[int, list[VictimClass]]) -> None:
    problem = ctx.problem
    if mobility.admits:
        for level in problem.levels:
            classes = [c for c in problem.classes if c.priority == level]
            most = sum(min(waiting(problem, c), int(c.limit.sum())) for c in classes)
            came = ctx.placed(classes)
            for cls in classes:
                came.extend(ctx.evicted(leavers.get(cls.index, ())), -1)
            ctx.goal(tiers.scheduled(level), "max", came, least=0, most=most)
    if mobility.goal in PREFERENCES:
        PREFERENCES[mobility.goal].encode(ctx)
    elif mobility.goal != "admit":
        _free_nodes(ctx, mobility)


def _free_nodes(ctx: Context, mobility: Mobility) -> None:
    cluster = ctx.problem.cluster
    free, paid = Terms(), Terms()
    for node in np.flatnonzero(~mobility.kept).tolist():
        literal = ctx.model.new_bool_var(f"free[{cluster.node_names[node]}]")
        if node in ctx.bought:  # what is bought is paid
            ctx.model.add(literal + ctx.bought[node] == 1)
        victims = ctx.problem.victims_on.get(node, ())
        for v in victims:
            row = (ctx.evictions[v.index], literal)
            add_row(ctx.model, (-1, v.size), row, LOWEST, 0)
        for cls in ctx.classes_on(node):
            most = int(cls.limit[node])
            add_row(ctx.model, (1, most), (ctx.counts[cls.index, node], literal), LOWEST, most)
        _room_rows(ctx, node, victims, literal)
        free.add(literal, 1)
        if mobility.prices is not None:
            paid.add(literal, 1, -int(mobility.prices[node]))
    if mobility.prices is not None:
        paid.constant = int(mobility.prices.sum())
        ctx.goal(tiers.PRICE, "min", paid)
    ctx.goal(tiers.FREE_NODES, "max", free)


def _room_rows(ctx: Context, node: int, victims: Sequence[VictimClass], literal: object) -> None:
    """Add the rows that tie what stands on a node to whether it is free, scaled."""
    problem = ctx.problem
    classes = [
        c
        for c in problem.asking(names.NODE_RESOURCES_FIT, ctx.classes_on(node))
        if c.bounded and not c.served
    ]
    newcomers, leaving = ctx.placed(classes, [node]), ctx.evicted(victims)
    amounts: list[tuple[list[int], list[int], int]] = [
        ([1] * len(classes), [1] * len(victims), int(problem.slots_now[node]))
    ]
    amounts += [
        (
            [int(c.request[r]) for c in classes],
            [int(v.usage[r]) for v in victims],
            int(problem.free_now[r, node]),
        )
        for r in range(len(problem.cluster.resources))
    ]
    for asked, used, now in amounts:
        room = now + sum(u * v.size for u, v in zip(used, victims, strict=True))
        if now < 0 or room <= 0 or not (any(asked) or any(used)):
            continue
        grain = -(-room // _GRAINS)
        held = [u // grain for u in used]
        row = newcomers.weighted([a // grain for a in asked]).extend(leaving.weighted([-h for h in held]))
        row.constant = sum(h * v.size for h, v in zip(held, victims, strict=True))
        row.add(literal, 1, room // grain)  # type: ignore[arg-type]
        ctx.at_most(row, room // grain, name=f"free.room[{problem.cluster.node_names[node]}]")


def ties(problem: Problem) -> Iterator[Tie]:
    """Tie who leaves to what comes in their place; a limit on moves ties them all."""
    if problem.mobility is None:
        return
    for index, victims in leavers_of(problem).items():
        yield Tie([problem.classes[index]], victims)
    if problem.mobility.most is not None:
        yield Tie((), problem.victims)


FAMILY = Family(name, applies, encode, ties=ties)
