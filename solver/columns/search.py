"""The search by node types: bounds of the tiers of placed pods, and a plan near them.

    1. The round as node types (`solver.columns.reading`), with the patterns of their devices
       (`device_patterns`).
    2. Its relaxation bounds every tier, and is where the columns begin (`type_relaxation`).
    3. Column generation bounds the tiers once more (`generation`), and dives make plans (`dive`). Where all
       pods fit in fractions, columns that leave much room are tried first.

Priorities are one sum, weighted so that their order is kept; where weights would be too large, there is no
plan.
"""

from __future__ import annotations

import time
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from ortools.util.python.solve_interrupter import SolveInterrupter

from .device_patterns import patterns_of
from .dive import Dives, worth
from .generation import Columns
from .reading import type_round
from .type_relaxation import TypeRelaxation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ortools.sat.python import cp_model

    from ...encoders.problem import Problem
    from ..model.sparse_rows import Ints
    from .dive import Filled
    from .params import ColumnParams
    from .round import TypeRound
    from .shared_devices import Evictable
    from .type_relaxation import Relaxed


class ColumnSearch:
    """The search in one round.

    Attributes
    ----------
    round : TypeRound
    levels : tuple of int
        Priorities of pods, the highest first.
    """

    def __init__(self, round_: TypeRound, relaxation: TypeRelaxation, params: ColumnParams) -> None:
        self.round, self._relaxation, self._params = round_, relaxation, params
        self.levels = tuple(sorted({cls.priority for cls in round_.classes}, reverse=True))
        self._interrupter = SolveInterrupter()
        self._columns: Columns | None = None
        self._relaxed: Relaxed | None = None
        self._stopped = False

    @classmethod
    def of(cls, problem: Problem, params: ColumnParams, evictable: Evictable) -> ColumnSearch | None:
        """Prepare the search; None where the round is of another sort, or too large."""
        round_ = type_round(problem, params.most_types, evictable)
        if round_ is None:
            return None
        patterns = patterns_of(round_, params.most_patterns)
        if patterns is None:
            return None
        return cls(round_, TypeRelaxation(round_, patterns), params)

    def stop(self) -> None:
        """End it soon, from another thread."""
        self._stopped = True
        self._interrupter.interrupt()
        if self._columns is not None:
            self._columns.stop()

    def bounds(self, values: Mapping[int, int], until: float) -> dict[int, int]:
        """Bound how many pods of each priority are placed.

        Parameters
        ----------
        values : mapping
            Priority -> how many are placed in a plan: each bound holds of plans with no fewer of those above.
        """
        found: dict[int, int] = {}
        held: dict[int, int] = {}
        for level in self.levels:
            weights = self._of(level).astype(np.int64)
            relaxed = self._relaxation.solve(
                weights, held, max(until - time.monotonic(), 0.01), self._interrupter
            )
            if relaxed is None:
                break
            found[level] = relaxed.bound
            if len(self.levels) == 1:
                self._relaxed = relaxed
            held[level] = values[level]
        return found

    def plan(
        self,
        known: Mapping[int, int],
        new_solver: Callable[[float], cp_model.CpSolver],
        workers: int,
        seed: int,
        until: float,
    ) -> list[Filled]:
        """Fill the nodes until all bounds known are reached or time is out; maybe no node.

        Parameters
        ----------
        known : mapping
            Priority -> a bound of how many are placed.
        """
        weights = self.weights
        if weights is None or self._stopped:
            return []
        every = int(weights @ self.round.sizes)
        target = min(every, sum(self._weight(weights, level) * known[level] for level in self.levels))
        best: list[Filled] = []
        for relaxed, end in self._relaxations(weights, every, until):
            columns = Columns(
                self.round, self._relaxation.patterns, relaxed, new_solver, workers, self._params
            )
            self._columns = columns
            columns.seed(relaxed, end)
            root = time.monotonic() + self._params.root_share * (end - time.monotonic())
            start = columns.tighten(root, self._params.root_rounds, whole=True)
            if start is None:
                continue
            dives = Dives(columns, weights, seed, self._params)
            dives.first(start, end)
            dives.improve(target if columns.bound is None else min(target, columns.bound), end)
            best = max(best, dives.filled, key=partial(worth, weights))
            if dives.worth >= target or self._stopped:
                break
        return best

    def _relaxations(self, weights: Ints, every: int, until: float) -> Iterator[tuple[Relaxed, float]]:
        """Yield what columns may start from, each with the end of its time.

        Where all pods fit in fractions, that they shall leave much room comes first.
        """
        if self._relaxed is None:
            seconds = max(until - time.monotonic(), 0.01)
            self._relaxed = self._relaxation.solve(weights, {}, seconds, self._interrupter)
        if self._relaxed is None:
            return
        if self._relaxed.bound >= every:
            seconds = max(until - time.monotonic(), 0.01)
            spare = self._relaxation.spare(weights, seconds, self._interrupter)
            if spare is not None:
                now = time.monotonic()
                yield spare, now + self._params.spare_share * (until - now)
        yield self._relaxed, until

    def priced_bounds(self, values: Mapping[int, int]) -> dict[int, int]:
        """Bound how many pods of each priority are placed, as `bounds` does, by the pricing of `plan`."""
        weights = self.weights
        if weights is None or self._columns is None or self._columns.bound is None:
            return {}
        found: dict[int, int] = {}
        left = self._columns.bound
        for level in self.levels:
            weight = self._weight(weights, level)
            found[level] = left // weight
            left -= weight * values[level]
        return found

    def _of(self, level: int) -> np.ndarray:
        return np.array([cls.priority == level for cls in self.round.classes])

    def _weight(self, weights: Ints, level: int) -> int:
        return int(weights[self._of(level)][0])

    @cached_property
    def weights(self) -> Ints | None:
        """What a pod of each class is worth, more than all of lower priorities; None if that is too much."""
        weights = np.zeros(len(self.round.classes), dtype=np.int64)
        weight = 1
        for level in reversed(self.levels):
            mine = self._of(level)
            if weight > self._params.most_weight:
                return None
            weights[mine] = weight
            weight *= 1 + int(self.round.sizes[mine].sum())
        return weights
