"""The state of a search for moves: as that of any round, with tiers and orders of its own."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...framework.measures.preferences import most_points
from ...models import tiers
from ..deadline import until
from ..plans.objective import end_state
from ..plans.outcome import Outcome
from ..search.incumbent import Incumbent
from ..search.state import Decoded, SearchState, decisions
from .decoding import decode
from .packing import Packing
from .sums import MoveSums
from .value import value_of, waiting_levels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...framework.state.state import State
    from ..model.solution import Solution
    from ..plans.objective import ObjectiveVector


@dataclass
class MoveState(SearchState):
    """The state of the search of one problem with moves."""

    def __post_init__(self) -> None:
        self.deadline = self.start + self.options.time_limit
        self.watch = until(self.deadline, self.watch)
        self.decisions = decisions(self.problem)
        nothing = Outcome()
        self.incumbent = Incumbent(self.problem.cluster, nothing, self._value(nothing, self.problem.state))

    @cached_property
    def sums(self) -> MoveSums:
        """Sums over the nodes."""
        return MoveSums(self.problem)

    @cached_property
    def packing(self) -> Packing:
        """Patterns of whole pods."""
        return Packing(self.problem, self.sums)

    @property
    def best_end(self) -> State:
        """The state in which the best plan ends."""
        return end_state(self.problem.cluster, self.incumbent.best)

    def trivial_bound(self, name: str) -> int:
        """Return the end of a tier's range: what holds of every plan."""
        if self._model is None and (self.interrupted or self.seconds_left <= 0):
            return self._bound_without_model(name)
        goal = self.model.goals.get(name)
        if goal is None:  # nobody may move or come
            return self.value(name)
        return goal.high if goal.sense == "max" else goal.low

    def _bound_without_model(self, name: str) -> int:
        """Return a bound that costs nothing: all pods that wait, all nodes that nobody keeps, no cost."""
        cluster, mobility = self.problem.cluster, self.problem.mobility
        assert mobility is not None
        if name == tiers.FREE_NODES:
            return int((~mobility.kept).sum())
        levels = waiting_levels(cluster, mobility).items()
        most = {tiers.scheduled(level): number for level, number in levels}
        return most.get(name, most_points(cluster) if name == tiers.SCORES else 0)

    def offer(self, outcome: Outcome, end: State | None = None) -> ObjectiveVector:
        """Value a plan whose steps pass, and keep it if it is the best so far."""
        end = end_state(self.problem.cluster, outcome) if end is None else end
        value = self._value(outcome, end)
        self.incumbent.offer(outcome, value)
        return value

    def decode(self, solution: Solution, names: Sequence[str]) -> Decoded:
        """Turn a solution into a plan, and offer it; one without an order is excluded."""
        found = decode(self.problem, solution, min(self.deadline, time.monotonic() + self._order_seconds))
        value = self.offer(found.outcome, found.end)
        if not found.whole:
            if found.conflict is None:
                return Decoded.FELL_SHORT
            self.model.add_nogood(*found.conflict, solution)
            return Decoded.EXCLUDED
        costs = {t.name: t.cost for t in value.tiers}
        asked = [n for n in names if n in solution.goals]
        promised = [self.incumbent.cost(n, solution.goals[n]) for n in asked]
        attained = value.guarded and [costs[n] for n in asked] <= promised
        return Decoded.ATTAINED if attained else Decoded.FELL_SHORT

    @property
    def _order_seconds(self) -> float:
        return max(1.0, 0.1 * self.options.time_limit)

    def _value(self, outcome: Outcome, end: State) -> ObjectiveVector:
        mobility = self.problem.mobility
        assert mobility is not None
        return value_of(self.problem.cluster, mobility, outcome, end, self.options.prefer)
