"""Bounds of tiers, and solutions, from relaxations and enumerated patterns (`solver.patterns.attainment`)."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..bounds.lp_relaxation import relaxed
from ..model.interrupts import run_interruptibly
from ..patterns.attainment import Attainment
from ..patterns.column_generation import ColumnGeneration, Patterns
from ..patterns.node_types import node_types_of
from ..patterns.recombination import Recombination
from .params import DEFAULT

if TYPE_CHECKING:
    from ..model.round_model import RoundModel
    from ..model.solution import Solution
    from ..model.sparse_rows import Rows
    from ..options import SolveOptions
    from ..patterns.node_types import NodeTypes
    from .params import SearchParams


class Bounding:
    """Relaxations of one model, which may be given rows in the meantime."""

    def __init__(self, model: RoundModel, options: SolveOptions, params: SearchParams = DEFAULT) -> None:
        self._model, self._options = model, options
        self._params = params
        self._patterns = Patterns()
        self._split: tuple[Rows, NodeTypes] | None = None
        self._recombined: tuple[Rows, Recombination] | None = None
        self._undecided: set[tuple[str, int]] = set()
        self.interrupted = False

    def relax(self, name: str, seconds: float) -> int | None:
        """Bound a tier by the linear relaxation; None where there was no time for it."""
        from ortools.util.python.solve_interrupter import SolveInterrupter

        interrupter = SolveInterrupter()
        rows, cost = self._model.rows, self._model.cost(name)
        bound, interrupted = run_interruptibly(
            lambda: relaxed(rows, cost, seconds, interrupter), interrupter.interrupt
        )
        self.interrupted |= interrupted
        return None if bound is None else self._tier_bound(name, bound)

    def by_columns(self, name: str, until: float) -> tuple[int | None, Solution | None]:
        """Bound a tier by column generation, and look for a better solution than the model's `values`.

        Both are None where the nodes are of too many types, and without `values`, since patterns start from
        those of a solution.
        """
        model = self._model
        start = model.values
        if start is None:
            return None, None
        rows = model.rows
        blocks = self._blocks(rows)
        if len(blocks.types) > self._params.patterns.max_priced_types:
            return None, None
        cost = model.cost(name)
        self._patterns.learn(blocks, start)
        columns = ColumnGeneration(
            rows, blocks, self._patterns, cost, model.new_solver, self._params.patterns
        )
        begin = time.monotonic()
        pricing = begin + self._params.pricing_share * (until - begin)
        known = int(cost @ start)
        _, interrupted = run_interruptibly(
            lambda: columns.tighten(pricing, self._options.workers, known), columns.stop
        )
        self.interrupted |= interrupted
        bound = None if columns.bound is None else self._tier_bound(name, columns.bound)
        if interrupted or columns.bound is None or columns.bound >= known:
            return bound, None
        solver = model.new_solver(until - time.monotonic())
        found, interrupted = run_interruptibly(lambda: columns.best(start, solver), solver.stop_search)
        self.interrupted |= interrupted
        return bound, None if found is None else model.solution(found)

    def by_enumeration(self, name: str, value: int, bound: int, until: float) -> tuple[int, Solution | None]:
        """Lower a tier's bound as long as no solution attains it, or find one that does.

        Parameters
        ----------
        value : int
            What the best plan attains.
        """
        rows, goal = self._model.rows, self._model.goals[name]
        if bound == value or (name, bound) in self._undecided:
            return bound, None
        sign = -1 if goal.sense == "max" else 1
        cost, blocks = self._model.cost(name), self._blocks(rows)
        attainment = Attainment(rows, blocks, cost, self._model.new_solver, self._params.patterns)
        while bound != value and not self.interrupted:
            target = sign * (bound - goal.terms.constant)
            (decided, found), interrupted = run_interruptibly(
                partial(attainment.decide, target, until), attainment.stop
            )
            self.interrupted |= interrupted
            if found is not None:
                return bound, self._model.solution(found)
            if not decided:
                self._undecided.add((name, bound))
                break
            bound += sign
        return bound, None

    def recombination(self) -> Recombination | None:
        """Return the recombination of the model's solutions; None where it or its node types are too many."""
        rows, params = self._model.rows, self._params.patterns
        if self._model.variables > params.max_recombined_variables:
            return None
        blocks = self._blocks(rows)
        if len(blocks.types) > params.max_priced_types:
            return None
        if self._recombined is None or self._recombined[0] is not rows:
            made = Recombination(rows, blocks, self._patterns, self._model.new_solver, params)
            self._recombined = rows, made
        return self._recombined[1]

    def _blocks(self, rows: Rows) -> NodeTypes:
        if self._split is None or self._split[0] is not rows:
            node_of = self._model.variable_index.node_of(np.arange(len(rows.low)))
            costs = [self._model.cost(name) for name in self._model.goals]
            self._split = rows, node_types_of(rows, node_of, costs)
        return self._split[1]

    def _tier_bound(self, name: str, bound: int) -> int:
        """Turn a bound of a cost into one of the tier."""
        goal = self._model.goals[name]
        if goal.sense == "max":
            return min(goal.terms.constant - bound, goal.high)
        return max(goal.terms.constant + bound, goal.low)
