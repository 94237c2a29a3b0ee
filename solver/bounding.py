"""Bounds of tiers, and plans, that relaxations of the model give (`solver.relaxation`, `solver.columns`)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from .blocks import blocks_of
from .columns import Columns, Patterns
from .interrupting import run_interruptibly
from .relaxation import Relaxation

if TYPE_CHECKING:
    from .blocks import Blocks
    from .model import RoundModel
    from .options import SolveOptions
    from .rows import Rows
    from .solution import Solution

# Types of nodes up to which patterns are priced: each is a search of its own, every time.
MOST_TYPES = 64


class Bounding:
    """Relaxations of one model, which may be given rows in the meantime."""

    def __init__(self, model: RoundModel, options: SolveOptions) -> None:
        self._model, self._options = model, options
        self._patterns = Patterns()
        self.interrupted = False

    def relax(self, name: str, seconds: float) -> int | None:
        """Bound a tier by the linear relaxation; None where there was no time for it."""
        from ortools.util.python.solve_interrupter import SolveInterrupter

        relaxation = Relaxation(self._model.rows)
        interrupter = SolveInterrupter()
        cost = self._model.cost(name)
        found, interrupted = run_interruptibly(
            lambda: relaxation.solve(cost, seconds, interrupter), interrupter.interrupt
        )
        self.interrupted |= interrupted
        return None if found.bound is None else self._told(name, found.bound)

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
        if len(blocks.types) > MOST_TYPES:
            return None, None
        cost = model.cost(name)
        self._patterns.learn(blocks, start)
        columns = Columns(rows, blocks, self._patterns, cost, model.new_solver)
        begin = time.monotonic()
        pricing = begin + 0.6 * (until - begin)
        known = int(cost @ start)
        _, interrupted = run_interruptibly(
            lambda: columns.tighten(pricing, self._options.workers, known), columns.stop
        )
        self.interrupted |= interrupted
        bound = None if columns.bound is None else self._told(name, columns.bound)
        if interrupted or (columns.bound or known) >= known:
            return bound, None
        solver = model.new_solver(until - time.monotonic())
        found, interrupted = run_interruptibly(lambda: columns.best(start, solver), solver.stop_search)
        self.interrupted |= interrupted
        return bound, None if found is None else model.solution(found)

    def _blocks(self, rows: Rows) -> Blocks:
        context, victims = self._model.context, self._model.problem.victims
        owner = {variable.index: node for (_, node), variable in context.counts.items()}
        owner.update((variable.index, victims[v].node) for v, variable in context.evictions.items())
        return blocks_of(rows, owner, [self._model.cost(name) for name in self._model.goals])

    def _told(self, name: str, bound: int) -> int:
        """Turn a bound of a cost into one of the tier."""
        goal = self._model.goals[name]
        if goal.sense == "max":
            return min(goal.terms.constant - bound, goal.high)
        return max(goal.terms.constant + bound, goal.low)
