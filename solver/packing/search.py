"""From the values that tiers are to have to numbers of pods by class and node, and victims who leave.

    1. Sums say how many pods of each class go to each side (`solver.packing.quotas`).
    2. The nodes of each side, all victims gone, are filled with them: in one go where that succeeds
       (`solver.packing.best_fit`), else closely (`solver.packing.packer`).
    3. Victims who have room again stay, the costliest first (`solver.refill.finish`).

Nothing here is a proof: what comes out is completed, put in order and valued like every other solution.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..refill.blueprint import sides_of
from ..refill.finish import Finish
from .best_fit import best_fit
from .node_count import NodeCount
from .packer import Packer
from .params import DEFAULT
from .quotas import quotas
from .side import side_of, suits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ortools.sat.python import cp_model

    from ...encoders.problem import Problem
    from ...framework.vocabulary.arrays import Ints
    from ..refill.blueprint import Sides
    from .params import PackingParams
    from .quotas import Quotas
    from .side import Side


class Packed(NamedTuple):
    """Newcomers by (class, node), and victims who leave by class."""

    counts: Mapping[tuple[int, int], int]
    leaving: Mapping[int, int]


@dataclass(frozen=True)
class Packing:
    """Packing in one problem; `new_solver` makes a solver with a limit in seconds."""

    problem: Problem
    seed: int
    new_solver: Callable[[float], cp_model.CpSolver]
    params: PackingParams = DEFAULT
    _tries: Counter[tuple[object, ...]] = field(default_factory=Counter, init=False)
    _quotas: dict[tuple[object, ...], tuple[Quotas, float]] = field(default_factory=dict, init=False)

    @cached_property
    def sides(self) -> Sides:
        """The division of the nodes."""
        return sides_of(self.problem)

    @cached_property
    def worthwhile(self) -> bool:
        """Whether only room decides, and nodes are of few types once all victims have left."""
        if not suits(self.problem) or not self.sides.nodes:
            return False
        chosen = np.logical_or.reduce(self.sides.nodes)
        kinds = np.vstack((self.problem.most_free, self.problem.most_slots, self.sides.caps))[:, chosen]
        return len(np.unique(kinds, axis=1).T) <= self.params.most_types * len(self.sides.nodes)

    @cached_property
    def node_count(self) -> NodeCount:
        """Tiers of placed pods, counted in nodes."""
        return NodeCount(self.problem, self.seed, self.new_solver, self.params)

    @cached_property
    def countable(self) -> bool:
        """Whether only room decides, and nodes that pods may use are alike once all victims have left."""
        if not suits(self.problem) or not self.sides.nodes or self.node_count.nodes is None:
            return False
        return bool(np.logical_or.reduce(self.sides.nodes)[self.node_count.nodes].all())

    def plan(
        self, held: Sequence[tuple[str, int]], names: Sequence[str], effort: int, until: float
    ) -> Packed | None:
        """Look for a plan with tiers no worse than the values held, and as good as can be in some others.

        None where none was found: in time, or in so many fillings.

        Parameters
        ----------
        names : sequence of str
            Those others, in their order.
        effort : int
            Fillings for each node of a side, at most; more as long as they take less time than the quotas.

        Another call, be it with the same arguments, is another course of the search.
        """
        problem, sides = self.problem, self.sides
        asked = (*held, *names, effort)
        earlier = self._tries[asked]
        self._tries[asked] += 1
        known = self._quotas_of(held, names, until)
        if known is None:
            return None
        plan, seconds = known
        counts: Counter[tuple[int, int]] = Counter()
        for s, (nodes, demand) in enumerate(zip(sides.nodes, plan.coming, strict=True)):
            side = side_of(problem, nodes, plan, demand)
            found = None if earlier else best_fit(side)
            if found is None:
                found = self._packed(side, (self.seed, s, earlier), effort, until, seconds)
            if found is None:
                return None
            for n, standing in zip(np.flatnonzero(nodes).tolist(), found, strict=True):
                counts.update({(c, n): int(standing[c]) for c in np.flatnonzero(standing).tolist()})
        return self.restored(counts)

    def _quotas_of(
        self, held: Sequence[tuple[str, int]], names: Sequence[str], until: float
    ) -> tuple[Quotas, float] | None:
        """Return the quotas, the same in another course of the search, and the seconds they took."""
        asked = (*held, *names)
        if asked not in self._quotas:
            start = time.monotonic()
            found = quotas(self.problem, self.sides, held, names, self.new_solver, self.params, until)
            if found is None:
                return None
            self._quotas[asked] = found, time.monotonic() - start
        return self._quotas[asked]

    def _packed(
        self, side: Side, seed: Sequence[int], effort: int, until: float, worth: float
    ) -> Ints | None:
        """Pack a side; more fillings follow while all took fewer seconds than it is worth."""
        start = time.monotonic()
        while True:
            found = Packer(side, (*seed, effort), self.new_solver, self.params).run(until, effort)
            now = time.monotonic()
            if found is not None or now - start >= worth or now >= until:
                return found
            effort *= self.params.more_fillings

    def tried(self, held: Sequence[tuple[str, int]], names: Sequence[str], effort: int) -> bool:
        """Whether a plan was looked for with these arguments."""
        return self._tries[(*held, *names, effort)] > 0

    def restored(self, counts: Mapping[tuple[int, int], int]) -> Packed:
        """Return who comes, by (class, node), and who leaves once those victims stay who have room."""
        problem, sides = self.problem, self.sides
        emptied = np.logical_or.reduce(sides.nodes)
        gone = {v.index: v.size for v in problem.victims if emptied[v.node]}
        finish = Finish(problem, sides, counts, gone)
        finish.restore()
        return Packed(+finish.counts, +finish.leaving)
