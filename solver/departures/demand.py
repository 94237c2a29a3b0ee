"""What is to be placed, in rows of pods that the resources that count cannot tell apart.

Pods of several classes are one row where they ask for the same of these resources and may stand on the same
nodes. Where all pods of all levels are placed, their levels do not matter either.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from ...framework.vocabulary import names
from ...models import tiers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...encoders.problem import Problem
    from ...framework.vocabulary.arrays import Ints
    from ..refill.blueprint import Sides
    from .params import DepartureParams


@dataclass(frozen=True)
class Scarce:
    """The resources that count.

    Attributes
    ----------
    rows : sequence of int
        Their indices, the scarcest first; the pod slots come after all resources of the cluster.
    units : int array (R, 1)
        What one unit of each is.
    need : int array (R, C)
        Units that a pod of each class asks for, rounded down.
    free : int array (R, N)
        What is free now.
    """

    rows: Sequence[int]
    units: Ints
    need: Ints
    free: Ints


def scarce_resources(problem: Problem, params: DepartureParams) -> Scarce | None:
    """Find what pods ask for nearly all of that is free; None where they ask for nothing."""
    asked = _asked(problem)
    free = np.vstack((problem.free_now, problem.slots_now)).astype(np.int64)
    sizes = np.array([cls.size for cls in problem.classes], dtype=np.int64)
    # Only the order counts, and what all nodes have may be beyond 64 bits.
    room = np.maximum(free, 0).sum(axis=1, dtype=np.float64)
    ratio = (asked @ sizes) / np.maximum(room, 1.0)
    order = np.argsort(-ratio, kind="stable").tolist()
    rows = [r for r in order if ratio[r] > 0 and (r == order[0] or ratio[r] >= params.scarce)]
    if not rows:
        return None
    rows = rows[: params.most_rows]
    most_free = np.vstack((problem.most_free, problem.most_slots)).astype(np.int64)[rows]
    units = np.array(
        [
            max(gcd(*asked[r].tolist()), -(-int(top) // params.most_units), 1)
            for r, top in zip(rows, most_free.max(axis=1), strict=True)
        ]
    )[:, None]
    return Scarce(rows, units, asked[rows] // units, free[rows])


def _asked(problem: Problem) -> Ints:
    """Return what a pod of each class is held to, (R + 1, C); not what devices serve on some node."""
    asked = np.zeros((len(problem.cluster.resources) + 1, len(problem.classes)), dtype=np.int64)
    for cls in problem.asking(names.NODE_RESOURCES_FIT, problem.classes):
        asked[-1, cls.index] = 1
        for r, amount in enumerate(cls.request.tolist()):
            served = r in cls.served and bool(cls.served[r].any())
            asked[r, cls.index] = 0 if served else amount
    return asked


@dataclass(frozen=True)
class Demand:
    """The rows of what is to be placed.

    Attributes
    ----------
    classes : sequence of (sequence of int)
        By row, the classes of its pods.
    need : int array (R, D)
        By row, the units that one pod asks for.
    limit : int array (D, N)
        By row, the most of its pods on each node.
    low, size : int arrays (D,)
        By row, how many pods are placed at least, and at most.
    level : int array (D,)
        By row, the level that it is part of.
    least : int array (L,)
        By level, how many pods are placed at least.
    """

    classes: Sequence[Sequence[int]]
    need: Ints
    limit: Ints
    low: Ints
    size: Ints
    level: Ints
    least: Ints

    def cheapest(self, prices: Ints) -> int:
        """Return the least that the pods placed are worth at prices by row, of 0 or more."""
        total = int((self.low * prices).sum())
        for level, least in enumerate(self.least.tolist()):
            mine = np.flatnonzero(self.level == level)
            order = mine[np.argsort(prices[mine], kind="stable")]
            more = (self.size - self.low)[order]
            before = np.cumsum(more) - more + self.low[mine].sum()
            often = np.clip(least - before, 0, more)
            total += int((often * prices[order]).sum())
        return total


def demand_of(problem: Problem, scarce: Scarce, held: Mapping[str, int]) -> Demand:
    """Return what every plan places that is no worse than values held of tiers of placed pods.

    Levels of which no tier is held are left out; of the others those that place all they can are one level.
    """
    size = [min(cls.size, int(cls.limit.sum())) for cls in problem.classes]
    place = {priority: level for level, priority in enumerate(problem.levels)}
    level = [place[cls.priority] for cls in problem.classes]
    least = [min(max(held.get(tiers.scheduled(priority), 0), 0), 2**31) for priority in problem.levels]
    most = [sum(n for n, at in zip(size, level, strict=True) if at == k) for k in range(len(least))]
    whole = [k for k, (a, b) in enumerate(zip(least, most, strict=True)) if a and a >= b]
    merged = {k: whole[0] if k in whole else k for k in range(len(least))}
    rows: dict[tuple[object, ...], list[int]] = {}
    for cls in problem.classes:
        at = level[cls.index]
        if least[at] and size[cls.index]:
            key = (tuple(scarce.need[:, cls.index].tolist()), cls.mask.tobytes(), merged[at])
            rows.setdefault(key, []).append(cls.index)
    limit = np.array([cls.limit for cls in problem.classes], dtype=np.int64)
    joint = [sum(min(least[k], most[k]) for k in merged if merged[k] == at) for at in range(len(least))]
    mine = list(rows.values())
    return Demand(
        mine,
        scarce.need[:, [classes[0] for classes in mine]],
        np.array([limit[classes].sum(axis=0) for classes in mine]).reshape(len(mine), limit.shape[1]),
        np.zeros(len(mine), dtype=np.int64),
        np.array([sum(size[c] for c in classes) for classes in mine], dtype=np.int64),
        np.array([merged[level[classes[0]]] for classes in mine], dtype=np.int64),
        np.array(joint, dtype=np.int64),
    )


def demand_by_sides(
    problem: Problem, scarce: Scarce, sides: Sides, standing: Mapping[tuple[int, int], int]
) -> Demand:
    """Return the demand of a plan that has the same pods as another one, and on each side those that count.

    A row is of one side: classes that a spread constraint counts have as many pods there as they stand, and
    pods of the others may be on any.

    Parameters
    ----------
    standing : mapping
        Newcomers of that plan by (class, node).
    """
    side_of = {int(n): s for s, side in enumerate(sides.nodes) for n in np.flatnonzero(side)}
    rows: dict[tuple[object, ...], dict[int, list[int]]] = {}
    for (c, n), count in sorted(standing.items()):
        key = (tuple(scarce.need[:, c].tolist()), problem.classes[c].mask.tobytes())
        by_side = rows.setdefault(key, {}).setdefault(c, [0] * len(sides.nodes))
        by_side[side_of[n]] += count
    classes, limit, low, size, level, least = [], [], [], [], [], []
    for at, mine in enumerate(rows.values()):
        tied = np.array([by_side for c, by_side in mine.items() if c in sides.tied], dtype=np.int64)
        untied = sum(sum(by_side) for c, by_side in mine.items() if c not in sides.tied)
        least.append(int(tied.sum()) + untied)
        most = np.array([problem.classes[c].limit for c in mine]).sum(axis=0)
        for side, number in zip(sides.nodes, tied.reshape(-1, len(sides.nodes)).sum(axis=0), strict=True):
            classes.append(list(mine))
            limit.append(np.where(side, most, 0))
            low.append(int(number))
            size.append(int(number) + untied)
            level.append(at)
    need = scarce.need[:, [mine[0] for mine in classes]]
    return Demand(
        classes, need, np.array(limit), np.array(low), np.array(size), np.array(level), np.array(least)
    )
