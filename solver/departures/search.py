"""Who leaves each node: bounds of the tiers that count victims, and plans near them.

1. Prices of pods and budgets, by column generation, prove a bound (`solver.departures.columns`).
2. Columns are taken in whole numbers: most of them by a dive (`solver.departures.dive`), the last ones
by exchanges on a few nodes at a time (`solver.departures.exchange`).
3. A flow names the classes of the pods, and what is left over makes one more victim leave each
(`solver.departures.plan`, `solver.refill.finish`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..refill.blueprint import sides_of, suits
from ..refill.finish import Finish
from .columns import departures_of
from .dive import dive
from .exchange import Exchange
from .params import DEFAULT
from .plan import Layout

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ortools.sat.python import cp_model

    from ...encoders.problem import Problem
    from ..refill.blueprint import Sides
    from .columns import Departures
    from .params import DepartureParams


class Departed(NamedTuple):
    """Newcomers by (class, node), and victims who leave by class."""

    counts: Mapping[tuple[int, int], int]
    leaving: Mapping[int, int]


@dataclass
class Departing:
    """The search in one problem; `new_solver` makes a solver with a limit in seconds."""

    problem: Problem
    seed: int
    new_solver: Callable[[float], cp_model.CpSolver]
    params: DepartureParams = DEFAULT
    _known: tuple[tuple[tuple[str, int], ...], Departures | None] | None = field(default=None, init=False)

    def bound(self, name: str, held: Sequence[tuple[str, int]], attained: int, until: float) -> int | None:
        """Bound a tier given those held, up to the value attained; None where nothing is said of it."""
        departures = self._departures(held)
        if departures is None or name not in departures.kinds.tiers:
            return None
        return departures.bound(name, dict(held), until, attained)

    def plan(
        self,
        tier: tuple[str, int],
        held: Sequence[tuple[str, int]],
        standing: Mapping[tuple[int, int], int],
        until: float,
    ) -> Departed | None:
        """Look for a plan that is better in a tier than the best one; None where none was found.

        Parameters
        ----------
        tier : (str, int)
            The tier, and its bound.
        standing : mapping
            Newcomers of the best plan by (class, node).
        """
        departures, sides = self._departures(held), self._sides
        few = self.problem.cluster.n_nodes < self.params.least_nodes
        if departures is None or sides is None or few or not standing:
            return None
        by_sides = departures.with_demand(departures.demand_by_sides(sides, standing))
        if by_sides is None:
            return None
        (name, bound), params, now = tier, self.params, time.monotonic()
        priced, dived = (now + part * (until - now) for part in (params.price_share, params.dive_until))
        by_sides.bound(name, dict(held), priced, sum(v.size for v in self.problem.victims) + 1)
        by_sides.forget(params.most_excess)
        columns = dive(by_sides, name, dict(held), dived)
        if columns is None:
            return None
        exchange = Exchange(by_sides, columns, name, dict(held), self._few_nodes)
        exchange.run(self.seed, bound, until)
        layout = Layout(self.problem, by_sides, sides, standing)
        laid = layout.lay_out(exchange.columns)
        finish = Finish(self.problem, sides, laid.counts, laid.leaving)
        if not finish.place(laid.left):
            return None
        finish.restore()
        return Departed(+finish.counts, +finish.leaving)

    def _few_nodes(self) -> cp_model.CpSolver:
        """Make a solver with one worker that stops after the same work on every machine."""
        solver = self.new_solver(10 * self.params.exchange_work)
        solver.parameters.num_workers = 1
        solver.parameters.max_deterministic_time = self.params.exchange_work
        return solver

    def _departures(self, held: Sequence[tuple[str, int]]) -> Departures | None:
        """Return who may leave each node; that depends on the tiers of placed pods among those held."""
        placed = tuple((name, value) for name, value in held if name.startswith("scheduled"))
        if self._known is None or self._known[0] != placed:
            self._known = placed, departures_of(self.problem, dict(held), self.params)
        return self._known[1]

    @cached_property
    def _sides(self) -> Sides | None:
        """The division of the nodes; None where more than room, budgets and spreading ties pods together."""
        if not suits(self.problem):
            return None
        sides = sides_of(self.problem)
        reached = np.logical_or.reduce([cls.mask for cls in self.problem.classes])
        inside = np.logical_or.reduce([*sides.nodes, np.zeros(len(reached), dtype=bool)])
        return sides if bool((inside == reached).all()) else None
