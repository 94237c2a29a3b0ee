"""Column generation over node types, and the bound that each round of it proves.

At any duals π >= 0 of the classes the Lagrangian

    Σ_c size_c·π_c + Σ_t nodes_t·max over columns x of t of Σ_c (weight_c − π_c)·x_c

bounds Σ weight·pods of every plan. Duals are whole multiples of 1 / `SCALE` where it is evaluated, and all
sums are of whole numbers, so it holds exactly. Columns are made of the patterns that the relaxation has most
use for, and need not be the best ones as long as they help; in the end one round with the best columns of all
patterns proves the bound.

Source: Dantzig and Wolfe, Decomposition principle for linear programs.
"""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from .device_patterns import useful
from .master import Master
from .pricing import Column, Pricing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ortools.sat.python import cp_model

    from ..bounds.safe_bounds import Floats
    from ..model.sparse_rows import Ints
    from .device_patterns import DevicePattern
    from .master import MasterSolution
    from .params import ColumnParams
    from .round import TypeRound
    from .type_relaxation import Relaxed

# Duals are multiples of 1 / SCALE.
SCALE = 2**20

# A column whose reduced worth is within this of zero does not help the master.
TOLERANCE = 1e-6


class Columns:
    """Columns of one round, for one worth of pods and nodes.

    Attributes
    ----------
    left : ints, shape (classes,)
        How many pods of each class the columns may place.
    nodes : list of int
        How many nodes of each type they may fill.
    known : list of (int, Column)
        Each with its node type, in the order of the master.
    bound : int or None
        No plan of the whole round is worth more.
    """

    def __init__(
        self,
        round_: TypeRound,
        patterns: Sequence[list[DevicePattern]],
        relaxed: Relaxed,
        new_solver: Callable[[float], cp_model.CpSolver],
        workers: int,
        params: ColumnParams,
    ) -> None:
        self._round, self._params = round_, params
        self._weights, self._costs = relaxed.worth
        self._workers = workers
        most, each = params.priced_patterns, params.priced_each
        chosen = [
            useful(mine, regrets, most, each) for mine, regrets in zip(patterns, relaxed.regrets, strict=True)
        ]
        self._pricing = self._models(chosen, new_solver)
        whole = all(len(few) == len(mine) for few, mine in zip(chosen, patterns, strict=True))
        self._exact = self._pricing if whole else self._models(patterns, new_solver)
        self.left = round_.sizes.copy()
        self.nodes = [len(kind.nodes) for kind in round_.types]
        self.known: list[tuple[int, Column]] = []
        self.bound: int | None = None
        self._seen: set[tuple[int, bytes]] = set()
        self._center, self._relaxed = relaxed.duals, relaxed.bound
        self._spare = bool(self._costs.any())
        self._master = Master(self.left, self.nodes)
        self._held: list[int] = []
        self._stopped = False

    def _models(
        self, patterns: Sequence[list[DevicePattern]], new_solver: Callable[[float], cp_model.CpSolver]
    ) -> list[Pricing]:
        types = zip(self._round.types, patterns, strict=True)
        return [Pricing(self._round, kind, mine, new_solver) for kind, mine in types]

    def stop(self) -> None:
        """End the pricing soon, from another thread."""
        self._stopped = True
        for part in (*self._pricing, *self._exact):
            part.stop()

    @property
    def stopped(self) -> bool:
        """Whether it was to end."""
        return self._stopped

    def tighten(self, until: float, rounds: int, *, whole: bool = False) -> MasterSolution | None:
        """Price columns for some rounds at most, then solve the master as it is.

        Parameters
        ----------
        whole : bool
            Whether nothing is held yet: then rounds with all patterns bound the round.

        Returns
        -------
        MasterSolution or None
            None where the master fails.
        """
        radius: Floats = self._params.box * self._weights.astype(float)
        best, gap, proven = math.inf, self._params.pricing_gap, False
        with ThreadPoolExecutor(self._workers) as pool:
            for _ in range(rounds):
                if self._stopped or time.monotonic() >= until:
                    break
                self._master.box(self._center, radius)
                found = self._solve(until - time.monotonic())
                if found is None:
                    break
                told, columns = self._price(self._pricing, found.classes, pool, until, gap)
                helps = self._add(columns, found)
                if told is not None:
                    if whole and self._exact is self._pricing:
                        self._tell(told)
                    if told < best:
                        best, self._center, proven = told, found.classes, not gap
                if whole and found.boxed <= self._params.settled * sum(self.nodes):
                    self._master.unbox()
                    free = self._solve(until - time.monotonic())
                    if free is not None and free.value >= self._relaxed - TOLERANCE:
                        return free  # pricing on could not lower the bound below that of the relaxation
                if not helps and whole and gap:
                    gap = 0.0  # none so near to the best column helps: does that one?
                    continue
                gap = self._params.pricing_gap
                if not helps:
                    if found.boxed <= TOLERANCE:
                        break
                    radius = radius * self._params.box_growth
                    self._center = found.classes
            if whole and not (proven and self._exact is self._pricing):
                self._prove(pool, until)
        self._master.unbox()
        return self._solve(max(until - time.monotonic(), 1.0))

    def seed(self, relaxed: Relaxed, until: float) -> None:
        """Take what stands on the nodes in a relaxation apart into columns, node type by node type."""
        gains = self._gains(relaxed.duals)

        def take_apart(t: int) -> list[Column]:
            return list(self._apart(t, relaxed.pods[t], gains, until))

        with ThreadPoolExecutor(self._workers) as pool:
            for t, mine in enumerate(pool.map(take_apart, range(len(self.nodes)))):
                for column in mine:
                    self._learn(t, column)

    def _apart(self, t: int, rest: Floats, gains: Ints, until: float) -> Iterator[Column]:
        """Yield columns close to the mean of what is left, each as often as that has all of its pods."""
        nodes = self.nodes[t]
        while nodes and time.monotonic() < until and not self._stopped:
            mean = rest / nodes
            most = np.ceil(mean - TOLERANCE).astype(np.int64)
            even = self._params.evenness * SCALE * self._weights * mean / np.maximum(most, 1)
            _, found = self._pricing[t].best(
                gains + even.astype(np.int64), most, self._params.pricing_limit, self._params.pricing_gap
            )
            if not found or not found[-1].pods.any():
                return
            yield found[-1]
            pods = found[-1].pods
            number = min(nodes, max(1, int((rest[pods > 0] // pods[pods > 0]).min())))
            rest, nodes = np.maximum(rest - number * pods, 0.0), nodes - number

    def worth(self, t: int, column: Column) -> float:
        """What a column is worth on a node of a type."""
        return float(self._weights @ column.pods - self._costs[t])

    def loss(self, t: int, column: Column, found: MasterSolution) -> float:
        """How much less a column is worth, at some duals, than a node of its type."""
        return float(found.types[t]) - self.worth(t, column) + float(found.classes @ column.pods)

    def leave(self, left: Ints, nodes: Sequence[int]) -> None:
        """Leave so many pods of each class and nodes of each type to the columns; the others are held."""
        self.left, self.nodes = left, list(nodes)
        self._master, self._held = Master(left, nodes), []
        for q, (t, column) in enumerate(self.known):
            if nodes[t] and (column.pods <= left).all():
                self._take_in(q)

    def _gains(self, duals: Floats) -> Ints:
        """What a pod of each class is worth at some duals, times `SCALE`, rounded down."""
        gains: Ints = np.maximum(self._weights * SCALE - np.ceil(duals * SCALE).astype(np.int64), 0)
        return gains

    def _prove(self, pool: ThreadPoolExecutor, until: float) -> None:
        """Bound the round by the best columns of all patterns, at the best duals known."""
        told, columns = self._price(self._exact, self._center, pool, until, 0.0)
        for t, mine in enumerate(columns):
            for column in mine:
                self._learn(t, column)
        if told is not None:
            self._tell(told)

    def _tell(self, told: int) -> None:
        if self._spare:
            return  # it is about nodes as well
        bound = told // SCALE
        self.bound = bound if self.bound is None else min(bound, self.bound)

    def _price(
        self, models: Sequence[Pricing], duals: Floats, pool: ThreadPoolExecutor, until: float, gap: float
    ) -> tuple[int | None, list[list[Column]]]:
        """Find columns at some duals, and the bound that they prove, times `SCALE`; None out of time."""
        gains, prices = self._gains(duals), np.ceil(duals * SCALE).astype(np.int64)
        costs = np.floor(self._costs * SCALE).astype(np.int64)
        seconds = min(self._params.pricing_limit, max(until - time.monotonic(), 0.01))

        def price(t: int) -> tuple[int | None, list[Column]]:
            if self._stopped or not self.nodes[t]:
                return 0, []
            bound, found = models[t].best(gains, self.left, seconds, gap)
            return None if bound is None else max(bound - int(costs[t]), 0), found

        answers = list(pool.map(price, range(len(self.nodes))))
        told = [bound for bound, _ in answers]
        columns = [found for _, found in answers]
        if self._stopped or any(bound is None for bound in told):
            return None, columns
        apart = sum(p * n for p, n in zip(prices.tolist(), self.left.tolist(), strict=True))
        return apart + sum(b * n for b, n in zip(told, self.nodes, strict=True) if b), columns

    def _add(self, columns: list[list[Column]], found: MasterSolution) -> bool:
        """Give the master the columns that it does not have; return whether one of them helps."""
        helps = False
        for t, mine in enumerate(columns):
            for column in mine:
                if self._learn(t, column):
                    helps |= self.loss(t, column, found) < -TOLERANCE
        return helps

    def _learn(self, t: int, column: Column) -> bool:
        """Give the master a column; return whether it is new."""
        key = (t, column.pods.tobytes())
        if key in self._seen:
            return False
        self._seen.add(key)
        self.known.append((t, column))
        self._take_in(len(self.known) - 1)
        return True

    def _take_in(self, q: int) -> None:
        """Give the master the q-th column."""
        t, column = self.known[q]
        self._held.append(q)
        self._master.add(t, column.pods, self.worth(t, column))

    def _solve(self, seconds: float) -> MasterSolution | None:
        """Solve the master; the columns that it does not have are never taken."""
        found = self._master.solve(seconds)
        if found is None:
            return None
        often = np.zeros(len(self.known))
        often[self._held] = found.often
        return found._replace(often=often)
