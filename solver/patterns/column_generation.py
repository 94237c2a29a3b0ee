"""Column generation: patterns of what may stand on a node, and how often each is taken.

Where nodes are alike, a model is its linking rows plus a choice of one pattern for each node (Dantzig and
Wolfe). A master LP chooses how often; its duals price the pattern that would help most, found by CP-SAT on
the rows of one node. Each round of pricing also proves a bound,

    Σ_r side_r·π_r + Σ_shared min(d·low, d·high) + Σ_types members·min over patterns x of (c − Aᵀπ)·x

which counts what fits a node in whole pods and so is tighter than that of `solver.bounds.lp_relaxation`.
Costs of patterns are rounded down to multiples of 1 / `SCALE`, all else to the safe side: the bound holds
exactly.

In the end CP-SAT takes the best whole numbers of the patterns known.

Source: Dantzig and Wolfe, Decomposition principle for linear programs; smoothing as in Wentges, Weighted
Dantzig-Wolfe decomposition for linear mixed-integer programming.
"""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..bounds.lp_relaxation import linear
from ..bounds.safe_bounds import least, reduced_costs, sum_below, usable
from .integer_master import Effects, IntegerMaster
from .params import DEFAULT
from .pricing import Pricing
from .restricted_master import Prices, RestrictedMaster

if TYPE_CHECKING:
    from collections.abc import Callable

    from ortools.sat.python import cp_model

    from ..bounds.safe_bounds import Floats
    from ..model.sparse_rows import Ints, Rows
    from .node_types import NodeType, NodeTypes
    from .params import PatternParams

    NewSolver = Callable[[float], cp_model.CpSolver]

# Costs of patterns are multiples of 1 / SCALE.
SCALE = 2**20

# A pattern whose reduced cost is within this of zero does not help the master.
TOLERANCE = 1e-6


@dataclass
class Patterns:
    """Patterns known so far, by type of block: each an assignment of the block's variables."""

    known: dict[bytes, dict[bytes, Ints]] = field(default_factory=dict)

    def of(self, kind: NodeType) -> list[Ints]:
        """Patterns of a type."""
        return list(self.known.get(kind.key, {}).values())

    def add(self, kind: NodeType, pattern: Ints) -> bool:
        """Keep a pattern; return whether it is new."""
        return self.known.setdefault(kind.key, {}).setdefault(pattern.tobytes(), pattern) is pattern

    def learn(self, blocks: NodeTypes, values: Ints, before: Ints | None = None) -> int:
        """Keep the patterns of a solution of the whole model; return how many are new.

        Parameters
        ----------
        before : ints, optional
            A solution whose patterns are known.
        """
        new = 0
        for kind in blocks.types:
            members = np.stack(kind.members)
            patterns = values[members]
            if before is not None:
                patterns = patterns[(patterns != before[members]).any(axis=1)]
            new += sum(self.add(kind, pattern.copy()) for pattern in patterns)
        return new


class ColumnGeneration:
    """Bounds and solutions from the patterns of one model, for one cost.

    Attributes
    ----------
    bound : int or None
        No solution of the model costs less, as far as pricing has shown.
    """

    def __init__(
        self,
        rows: Rows,
        blocks: NodeTypes,
        patterns: Patterns,
        cost: Ints,
        new_solver: NewSolver,
        params: PatternParams = DEFAULT,
    ) -> None:
        self._params = params
        self.bound: int | None = None
        self._blocks, self._patterns, self._cost = blocks, patterns, cost
        self._links = linear(rows.subset(blocks.linking))
        self._effects = Effects(self._links, cost)
        self._pricing = [Pricing(rows, kind, new_solver) for kind in blocks.types]
        self._stable: tuple[float, Floats] | None = None
        self._stopped = False

    def stop(self) -> None:
        """End the pricing soon, from another thread."""
        self._stopped = True
        for part in self._pricing:
            part.stop()

    def tighten(self, until: float, workers: int, target: int) -> None:
        """Price patterns until the bound cannot rise, reaches the target, or time is out."""
        master = RestrictedMaster(self._links, self._blocks, self._cost)
        for k, kind in enumerate(self._blocks.types):
            for cost, effect in self._effects.of(kind, self._patterns.of(kind)):
                master.add(k, cost, effect)
        params = self._params
        smooth, gap, slow = params.smoothing, 0.0, False
        with ThreadPoolExecutor(workers) as pool:
            while time.monotonic() < until and not self._stopped:
                prices = master.solve(until - time.monotonic())
                if prices is None:
                    return
                if self._stable is None:
                    smooth = 0.0
                center = prices.rows if self._stable is None else self._stable[1]
                begin = time.monotonic()
                found = self._price(smooth * center + (1 - smooth) * prices.rows, pool, workers, until, gap)
                slow |= time.monotonic() - begin > params.slow_pricing * math.ceil(
                    len(self._pricing) / workers
                )
                gained = self._add(master, prices, found)
                if self.bound is not None and self.bound >= min(target, math.ceil(prices.value - TOLERANCE)):
                    return
                if not gained and smooth == 0.0 and gap == 0.0:
                    return
                gap = params.pricing_gap if slow and (gained or smooth > 0.0) else 0.0
                smooth = params.smoothing if gained else 0.0

    def best(self, values: Ints, solver: cp_model.CpSolver) -> Ints | None:
        """Take the best whole numbers of the patterns known; return a solution of the whole model.

        Parameters
        ----------
        values : ints, shape (variables,)
            A solution to start from.
        """
        patterns = [self._patterns.of(kind) for kind in self._blocks.types]
        return IntegerMaster(self._links, self._blocks, patterns, self._cost).best(values, solver)

    def _add(self, master: RestrictedMaster, prices: Prices, found: list[list[Ints]]) -> bool:
        """Add the new patterns to the master; return whether one of them helps."""
        helps = False
        for k, (kind, patterns) in enumerate(zip(self._blocks.types, found, strict=True)):
            new = [pattern for pattern in patterns if self._patterns.add(kind, pattern)]
            for cost, effect in self._effects.of(kind, new):
                master.add(k, cost, effect)
                helps |= cost - float(effect @ prices.rows) - prices.types[k] < -TOLERANCE
        return helps

    def _price(
        self, duals: Floats, pool: ThreadPoolExecutor, workers: int, until: float, gap: float
    ) -> list[list[Ints]]:
        """Find patterns that help at some duals, and the bound that this proves."""
        y, sides = usable(self._links, duals)
        low, high = reduced_costs(self._effects.columns, self._cost, y)
        costs = np.floor(low * SCALE).astype(np.int64)

        threads = max(1, workers // len(self._pricing))

        def price(part: Pricing) -> tuple[int | None, list[Ints]]:
            return part.best(costs[part.kind.first], until - time.monotonic(), threads, gap)

        answers = list(pool.map(price, self._pricing))
        told = [bound for bound, _ in answers if bound is not None]
        if len(told) == len(answers):
            whole = sum(b * len(k.members) for b, k in zip(told, self._blocks.types, strict=True))
            shared = self._blocks.shared
            apart = least(self._links.low[shared], self._links.high[shared], (low[shared], high[shared]))
            total = sum_below(np.concatenate((y * sides, apart, [whole / SCALE])))
            if self._stable is None or total > self._stable[0]:
                self._stable = (total, duals)
            self.bound = max(math.ceil(total), math.ceil(total) if self.bound is None else self.bound)
        return [patterns for _, patterns in answers]
