"""Whether so many pods fit on so many nodes, as a covering: the linear relaxation, and what it proves.

    minimise Σ_p λ_p
    Σ_p a_cp·λ_p + s_c >= size_c         for each class c
    Σ over the classes of a tier s_c <= spare of the tier
    0 <= s_c <= size_c, 0 <= λ_p

λ_p nodes have pattern p, s_c pods of class c are left out. Let the prices π_c >= 0 be whole numbers, μ what
the dearest pattern costs, and `need` what the pods cost at least of which no tier leaves out more than it
may. If nodes·μ < need, the nodes cannot hold them. If they can, no node has a pattern p with
μ − π·a_p > nodes·μ − need. All of this is decided in whole numbers: it holds exactly, whatever the prices.

Source: Gilmore and Gomory, A linear programming approach to the cutting-stock problem; Farley, A note on
bounding a class of linear programming problems; fixing by reduced costs before patterns are listed as in
Baldacci, Christofides and Mingozzi, An exact algorithm for the vehicle routing problem based on the set
partitioning formulation.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..bounds.lp import Glop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...framework.vocabulary.arrays import Bools, Ints
    from ..bounds.safe_bounds import Floats
    from .pool import Counts

# Prices are multiples of 1 / SCALE; sums over the pods of a node are exact in 64-bit floats.
SCALE = 2**30

# A pattern that is worth no more than this beyond a node does not help.
TOLERANCE = 1e-6

# Patterns that are added to the program at once, at most.
MOST_ADDED = 40

# What it costs to cover a pod by nothing, in nodes: a program has a solution before its patterns suffice.
UNCOVERED = 5.0


@dataclass(frozen=True)
class Covering:
    """The question.

    Attributes
    ----------
    patterns : int8, shape (patterns, classes)
        What may stand on a node: for each plan there are such that have all its pods.
    nodes : int
        How many there are.
    sizes : ints, shape (classes,)
        Pods of each class.
    tiers : sequence of ints
        The classes of each tier: every class is in one.
    spare : sequence of int
        How many pods of each tier may be left out.
    """

    patterns: Counts
    nodes: int
    sizes: Ints
    tiers: Sequence[Ints]
    spare: Sequence[int]

    def least_cost(self, prices: Ints) -> int:
        """Return what pods cost at least of which no tier leaves out more than it may."""
        total = int(prices @ self.sizes)
        for classes, spare in zip(self.tiers, self.spare, strict=True):
            dear = np.repeat(prices[classes], self.sizes[classes])
            total -= int(np.sort(dear)[::-1][:spare].sum())
        return total


class Proof(NamedTuple):
    """What prices prove.

    Attributes
    ----------
    refuted : bool
        Whether the pods do not fit.
    slack : ints, shape (patterns,)
        What each pattern is worth less than the dearest one, in multiples of 1 / `SCALE`.
    usable : bools, shape (patterns,)
        Patterns that nodes may have if they do fit.
    """

    refuted: bool
    slack: Ints
    usable: Bools


def prove(covering: Covering, prices: Floats) -> Proof:
    """Return what some prices prove, in whole numbers."""
    whole = np.floor(np.clip(prices, 0.0, 1.0) * SCALE)
    worth = (covering.patterns.astype(np.float64) @ whole).astype(np.int64)
    dearest = int(worth.max(initial=0))
    room = covering.nodes * dearest - covering.least_cost(whole.astype(np.int64))
    slack = dearest - worth
    return Proof(room < 0, slack, slack <= room)


class Relaxed(NamedTuple):
    """A solution of the linear relaxation.

    Attributes
    ----------
    nodes : float
        Nodes that are taken.
    prices : floats, shape (classes,)
        What a pod of each class costs, in nodes.
    taken : dict
        Pattern -> nodes that have it.
    """

    nodes: float
    prices: Floats
    taken: dict[int, float]


class Relaxation:
    """The linear relaxation; of the patterns those are in it that have helped."""

    def __init__(self, covering: Covering) -> None:
        from ortools.math_opt.python import mathopt

        self._patterns = covering.patterns
        self._worth = covering.patterns.astype(np.float32)
        self._model = model = mathopt.Model()
        out = [model.add_variable(lb=0.0, ub=float(size)) for size in covering.sizes]
        self._rows = [model.add_linear_constraint(lb=float(size)) for size in covering.sizes]
        for row, variable in zip(self._rows, out, strict=True):
            row.set_coefficient(variable, 1.0)
            uncovered = model.add_variable(lb=0.0)
            model.objective.set_linear_coefficient(uncovered, UNCOVERED)
            row.set_coefficient(uncovered, 1.0)
        self._spare = [model.add_linear_constraint(ub=float(spare)) for spare in covering.spare]
        for row, classes in zip(self._spare, covering.tiers, strict=True):
            for c in classes.tolist():
                row.set_coefficient(out[c], 1.0)
        self._taken: dict[int, mathopt.Variable] = {}
        for pattern in covering.patterns.argmax(axis=0).tolist():
            self._add(pattern)
        self._solver = Glop(model)

    def spare(self, spare: Sequence[int]) -> None:
        """Let the tiers leave out other numbers of pods."""
        for row, number in zip(self._spare, spare, strict=True):
            row.upper_bound = float(number)

    def solve(self, demand: Ints, until: float, most: float = np.inf) -> Relaxed | None:
        """Solve it for so many pods of each class.

        None where that fails, time is out, or more nodes than `most` are taken.
        """
        for row, number in zip(self._rows, demand.tolist(), strict=True):
            row.lower_bound = float(number)
        while (seconds := until - time.monotonic()) > 0:
            result = self._solver.solve(seconds)
            if result is None:
                return None
            nodes, prices = result.objective_value(), np.array(result.dual_values(self._rows))
            worth = self._worth @ prices.astype(np.float32)
            dearest = float(worth.max(initial=0.0))
            if nodes > most * max(dearest, 1.0) + TOLERANCE:
                return None
            known = len(self._taken)
            best = np.argpartition(-worth, MOST_ADDED)[:MOST_ADDED] if len(worth) > MOST_ADDED else None
            for pattern in range(len(worth)) if best is None else np.sort(best).tolist():
                if float(self._patterns[pattern] @ prices) > 1 + TOLERANCE:
                    self._add(pattern)
            if len(self._taken) == known:
                values = result.variable_values(list(self._taken.values()))
                return Relaxed(nodes, prices, dict(zip(self._taken, values, strict=True)))
        return None

    def _add(self, pattern: int) -> None:
        if pattern in self._taken:
            return
        variable = self._model.add_variable(lb=0.0)
        self._model.objective.set_linear_coefficient(variable, 1.0)
        for c in np.flatnonzero(self._patterns[pattern]).tolist():
            self._rows[c].set_coefficient(variable, float(self._patterns[pattern, c]))
        self._taken[pattern] = variable
