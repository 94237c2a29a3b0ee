"""How many pods of each class come to each zone of filled nodes, so that hard spread constraints hold.

Nodes that no constraint of a coarse topology key tells apart are one cell. With y[k,z] pods of class k in
cell z, and the places that filled nodes have there for pods like them:

    maximise Σ weight_k·y[k,z]
    Σ_{classes k alike} y[k,z] <= Σ_{nodes n of z} open[n]
    the rows of these constraints (`encoders.topology_spread`), a cell as one node of it

All that tells nodes of a cell apart is left to the filters: the quotas are no plan, nor is their sum a bound.

Source: docs/model.md.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from ortools.sat.python import cp_model

from ...encoders.context import Context
from ...encoders.topology_spread import add_skews, spread_groups
from ...framework.rules.spread import hard_constraints
from ..model.interrupts import run_or_leave

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...encoders.problem import PodClass, Problem
    from ...framework.index.cluster import Cluster
    from ...framework.rules.spread import SpreadConstraint
    from ...framework.vocabulary.arrays import Bools, Ints
    from .slots import Slots

COARSE = 2
"""Nodes that a domain of a coarse topology key has at least on average."""


@dataclass
class Quotas:
    """How many pods may still come where.

    Attributes
    ----------
    cell_of : ints, shape (nodes,)
    left : ints, shape (classes of the problem, cells)
    """

    cell_of: Ints
    left: Ints

    def nodes(self, cls: int) -> Bools:
        """Return the nodes to which a pod of a class may still come; bool[nodes]."""
        found: Bools = (self.left[cls] > 0)[self.cell_of]
        return found

    def take(self, cls: int, node: int) -> None:
        """Let a pod of a class come to a node."""
        self.left[cls, self.cell_of[node]] -= 1


def spread_out(
    problem: Problem,
    slots: Slots,
    weights: Ints,
    new_solver: Callable[[float], cp_model.CpSolver],
    until: float,
) -> Quotas | None:
    """Choose quotas; None where no coarse constraint ties the pods, or where none are found in time.

    Parameters
    ----------
    weights : ints, shape (classes of the round,)
        What a placed pod of each class is worth.
    """
    cell_of = _cells(problem)
    if cell_of is None:
        return None
    first = np.unique(cell_of, return_index=True)[1]
    places = np.zeros((len(weights), len(first)), dtype=np.int64)
    np.add.at(places.T, cell_of, slots.open.T)
    classes = tuple(_narrowed(cls, slots, cell_of, first) for cls in problem.classes)
    context = Context(replace(problem, classes=classes, victims=(), victims_on={}, devices=None))
    add_skews(context, _coarse)
    for c, like in enumerate(slots.round.classes):
        for cell, node in enumerate(first.tolist()):
            mine = context.placed([classes[cls.index] for cls in like.classes], [node])
            context.at_most(mine, int(places[c, cell]))
    worth = [int(weights[slots.class_of[cls.pod]]) for cls in problem.classes]
    context.model.maximize(
        sum(w * context.placed([cls]).expression() for w, cls in zip(worth, classes, strict=True))
    )
    solver = new_solver(max(until - time.monotonic(), 0.01))
    status = run_or_leave(lambda: solver.solve(context.model), solver.stop_search)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    left = np.zeros((len(classes), len(first)), dtype=np.int64)
    for (index, node), variable in context.counts.items():
        left[index, cell_of[node]] = solver.value(variable)
    return Quotas(cell_of, left)


def _coarse(cluster: Cluster, pod: int) -> Sequence[SpreadConstraint]:
    """Return the hard constraints of a pod whose domains have several nodes."""
    found = []
    for constraint in hard_constraints(cluster, pod):
        domains = np.unique(cluster.domains(constraint.topology_key).ids)
        if len(domains) * COARSE <= cluster.n_nodes:
            found.append(constraint)
    return found


def _cells(problem: Problem) -> Ints | None:
    """Number the cells, one for each node; None without coarse constraints."""
    groups = spread_groups(problem, _coarse)
    if not groups:
        return None
    told = {(g.domain_of.tobytes(), g.eligible.tobytes()): (g.domain_of, g.eligible) for g in groups}
    rows = np.array([row for pair in told.values() for row in pair], dtype=np.int64)
    return np.asarray(np.unique(rows, axis=1, return_inverse=True)[1].reshape(-1))


def _narrowed(cls: PodClass, slots: Slots, cell_of: Ints, first: Ints) -> PodClass:
    """Return a class that comes to one node of each cell, to as many places as the cell has for it."""
    limit = np.zeros_like(cls.limit)
    np.add.at(limit, first[cell_of], np.minimum(cls.limit, slots.open[slots.class_of[cls.pod]]))
    limit = np.minimum(limit, cls.size)
    return replace(cls, mask=np.asarray(limit > 0), limit=limit)
