"""Who stands on each side of the cluster: the best sums, and of those the ones that leave most room.

The sums of `solver.bounds.summed`, one tier after another, then the largest least slack: how much of each
resource stays free on each side, in parts of what the side has. Only room decides which nodes pods go to
after that, so the more room is left the easier they are packed. Constraints that spread over domains of
several nodes are held on the sums, as they will be once all are bound and all victims have left. That is
stricter than they are for some orders, and so are the limits of each side: what is found here is no bound.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from ortools.sat.python import cp_model

from ...encoders.topology_spread import spread_groups
from ...framework.rules.spread import hard_constraints
from ..bounds.summed import SummedModel
from ..model.interrupts import run_or_leave

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...encoders.problem import Problem
    from ...encoders.topology_spread import SpreadGroup
    from ...framework.vocabulary.arrays import Ints
    from ..refill.blueprint import Sides
    from .params import PackingParams

MILLION = 1_000_000


class Quotas(NamedTuple):
    """How many pods of each class are to stand where.

    Attributes
    ----------
    coming : ints, shape (sides, classes)
    least, most : ints, shape (classes, nodes)
        Limits on each node.
    """

    coming: Ints
    least: Ints
    most: Ints


def quotas(
    problem: Problem,
    sides: Sides,
    held: Sequence[tuple[str, int]],
    names: Sequence[str],
    new_solver: Callable[[float], cp_model.CpSolver],
    params: PackingParams,
    until: float,
) -> Quotas | None:
    """Decide by sums who stands on each side; None where no numbers were found in time.

    Parameters
    ----------
    held : sequence of (str, int)
        Tiers that are no worse than these values.
    names : sequence of str
        Tiers below, in their order, each as good as the sums can have it.
    """
    sums = SummedModel(problem, sides.nodes)
    # In Python's whole numbers: what all nodes have may be beyond 64 bits.
    amounts = [np.maximum(problem.most_free[:, side], 0).astype(object).sum(axis=1) for side in sides.nodes]
    sums.add_room(np.array([[*(-(-amount // MILLION)), 0] for amount in amounts]), 0, MILLION)
    lowest = {}
    for group in spread_groups(problem, hard_constraints):
        if not _node_by_node(group):
            _spread(sums, sides, group)
        elif (cls := _alone(sides, group)) is not None:
            lowest[cls] = sums.model.new_int_var(0, problem.classes[cls].size, "lowest"), group
    for (c, s), variable in sums.placed.items():
        _limit(sums, sides, c, s, variable, lowest.get(c))
    sums.hold(held)
    solver = None
    for name in [*names, None]:
        if name is None:
            sums.model.maximize(sums.slack)
        elif name in sums.goals:
            goal = sums.goals[name]
            sums.model.minimize((1 if goal.sense == "min" else -1) * goal.terms.expression())
        else:
            continue
        seconds = min(params.quota_limit, until - time.monotonic())
        if seconds <= 0:
            return None
        solver = new_solver(seconds)
        solver.parameters.num_workers = 1
        solver.parameters.max_deterministic_time = params.quota_work
        status = run_or_leave(partial(solver.solve, sums.model), solver.stop_search)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        if name is not None:
            sums.hold([(name, int(solver.value(sums.goals[name].terms.expression())))])
    assert solver is not None
    coming = np.zeros((len(sides.nodes), len(problem.classes)), dtype=np.int64)
    for (c, s), variable in sums.placed.items():
        coming[s, c] = solver.value(variable)
    least, most = np.zeros_like(sides.caps), sides.caps.copy()
    for c, (variable, group) in lowest.items():
        least[c] = solver.value(variable)
        most[c] = np.minimum(problem.classes[c].limit, least[c] + group.constraint.max_skew)
    return Quotas(coming, least, most)


def _node_by_node(group: SpreadGroup) -> bool:
    """Whether each domain of a constraint is one node."""
    present = np.asarray(group.domain_of)[np.asarray(group.domain_of) >= 0]
    return len(np.unique(present)) == len(present)


def _alone(sides: Sides, group: SpreadGroup) -> int | None:
    """Return the class that a constraint between nodes is about, where it may stand on all of them alike.

    Then each node may have as many as the one with fewest and `maxSkew` more. Where other pods count as
    well, or some node is out of reach, only `maxSkew` is made use of (`Sides.caps`).
    """
    matching = group.matching
    if len(matching.classes) != 1 or matching.victims or matching.fixed.any():
        return None
    cls = matching.classes[0]
    everywhere = group.eligible.all() and np.logical_or.reduce(sides.nodes).all() and cls.mask.all()
    return cls.index if everywhere else None


def _limit(
    sums: SummedModel,
    sides: Sides,
    c: int,
    s: int,
    coming: cp_model.IntVar,
    lowest: tuple[cp_model.IntVar, SpreadGroup] | None,
) -> None:
    """Hold what all nodes of a side can have of a class to the limits of each."""
    nodes = int(sides.nodes[s].sum())
    if lowest is None:
        sums.model.add(coming <= int(sides.caps[c, sides.nodes[s]].sum()))
    else:
        fewest, group = lowest
        sums.model.add(coming >= nodes * fewest)
        sums.model.add(coming <= nodes * (fewest + group.constraint.max_skew))


def _spread(sums: SummedModel, sides: Sides, group: SpreadGroup) -> None:
    """Hold a constraint between the domains of whole sides, as it is once all pods are there."""
    domains = np.asarray(group.domain_of, dtype=np.int64)
    most = sum(cls.size for cls in group.matching.classes) + int(group.matching.fixed.sum())
    lowest = sums.model.new_int_var(0, most, "lowest")
    side_of = [int(domains[np.flatnonzero(side)[0]]) for side in sides.nodes]
    for domain in group.domains:
        there = group.eligible & (domains == domain)
        here = [s for s, mine in enumerate(side_of) if mine == domain]
        coming = [sums.placed[cls.index, s] for cls in group.matching.classes for s in here]
        total = cp_model.LinearExpr.sum(coming) + int(group.matching.fixed[there].sum())
        sums.model.add(total >= lowest)
        sums.model.add(total <= lowest + group.constraint.max_skew)
