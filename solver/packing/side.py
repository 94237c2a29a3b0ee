"""A side of a round as numbers: what pods ask for, what nodes have once all victims have left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..refill.blueprint import loosely_tied

if TYPE_CHECKING:
    from ...encoders.problem import Problem
    from ...framework.vocabulary.arrays import Bools, Ints
    from .quotas import Quotas


@dataclass(frozen=True)
class Side:
    """Nodes to be filled, and with what.

    Attributes
    ----------
    weights : ints, shape (rows, classes)
        What a pod takes of each resource, and of the pod slots, where they can run short.
    rooms : ints, shape (nodes, rows)
        What each node has of them.
    free : ints, shape (nodes, rows)
        What of it no victim has.
    least, most : ints, shape (nodes, classes)
        Pods of a class on each node, at least and at most.
    demand : ints, shape (classes,)
        Pods that are to stand on these nodes.
    """

    weights: Ints
    rooms: Ints
    free: Ints
    least: Ints
    most: Ints
    demand: Ints


def suits(problem: Problem) -> bool:
    """Whether only room and spread constraints say where pods may stand once all victims have left.

    Every victim must be less important than whoever waits: then each newcomer may be its preemptor.
    """
    apart = problem.mobility is None and not problem.optional
    if not apart or not problem.classes or not loosely_tied(problem):
        return False
    able = all(cls.bounded and not cls.served for cls in problem.classes)
    lowest = min(cls.priority for cls in problem.classes)
    victims = [v for v in problem.victims if not v.free]
    return able and (
        not victims
        or (all(cls.preempts for cls in problem.classes) and max(v.priority for v in victims) < lowest)
    )


def side_of(problem: Problem, nodes: Bools, plan: Quotas, demand: Ints) -> Side:
    """Return the nodes of one side, in units in which all requests are whole."""
    ones = np.ones(len(problem.classes), dtype=np.int64)
    weights = np.column_stack(([cls.request for cls in problem.classes], ones)).T.astype(np.int64)
    rooms = np.vstack((problem.most_free, problem.most_slots))[:, nodes].astype(np.int64)
    rooms = np.maximum(rooms, 0)
    free = np.vstack((problem.free_now, problem.slots_now))[:, nodes].astype(np.int64)
    scarce = weights @ demand > rooms.min(axis=1, initial=np.iinfo(np.int64).max)
    scarce[-1] = True  # some row there is
    weights, rooms, free = weights[scarce], rooms[scarce], free[scarce]
    grain = np.maximum(np.gcd.reduce(weights, axis=1), 1)
    return Side(
        weights // grain[:, None],
        (rooms // grain[:, None]).T,
        (free // grain[:, None]).T,
        plan.least[:, nodes].T,
        plan.most[:, nodes].T,
        demand,
    )
