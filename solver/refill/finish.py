"""The pods that blocks leave over, and the victims that need not leave after all.

A pod left over takes the node and, if it must, the extra victim of least cost in the tiers, or several of one
node where no single one gives room enough; then every victim for whom there is room again stays, the
costliest first.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...encoders.problem import Problem
    from ...framework.vocabulary.arrays import Bools, Ints
    from .blueprint import Sides

# Nodes, those with most room first, on which several victims are sought for one pod.
MOST_NODES = 200


class Finish:
    """Counts and evictions of a whole round, and what is free at them.

    Attributes
    ----------
    counts : Counter
        (class, node) -> pods that come.
    leaving : Counter
        Victim class -> pods that leave.
    """

    def __init__(
        self,
        problem: Problem,
        sides: Sides,
        counts: Mapping[tuple[int, int], int],
        leaving: Mapping[int, int],
    ) -> None:
        self._problem, self._sides = problem, sides
        self.counts, self.leaving = Counter(counts), Counter(leaving)
        slots = np.ones(len(problem.classes), dtype=np.int64)
        requests = np.array([c.request for c in problem.classes], dtype=np.int64)
        self._asked = np.column_stack((requests, slots))
        self._node = np.array([v.node for v in problem.victims], dtype=np.int64)
        self._priority = np.array([v.priority for v in problem.victims], dtype=np.int64)
        self._size = np.array([v.size for v in problem.victims], dtype=np.int64)
        usage = np.array([v.usage for v in problem.victims], dtype=np.int64)
        self._given = np.column_stack((usage, np.ones(len(usage), dtype=np.int64)))
        self._gone = np.zeros(len(usage), dtype=np.int64)
        self._free = np.vstack((problem.free_now, problem.slots_now)).astype(np.int64).T.copy()
        self._paid: Counter[int] = Counter()
        self._caps = sides.caps.copy()
        for (c, n), count in self.counts.items():
            self._free[n] -= count * self._asked[c]
            self._caps[c, n] -= count
        for v, count in self.leaving.items():
            self._leave(v, count)
        self._ranks = {q: k for k, q in enumerate(sorted({v.priority for v in problem.victims}), 1)}
        by_charges: dict[tuple[tuple[int, ...], int, int | None, bool], list[int]] = {}
        for victim in problem.victims:
            key = (victim.charges, victim.priority, victim.guard, victim.free)
            by_charges.setdefault(key, []).append(victim.index)
        self._by_charges = {key: np.array(victims, dtype=np.int64) for key, victims in by_charges.items()}

    def _leave(self, v: int, count: int) -> None:
        victim = self._problem.victims[v]
        self._gone[v] += count
        self._free[victim.node] += count * self._given[v]
        for b in victim.charges:
            self._paid[b] += count

    def place(self, left: Iterable[tuple[int, int]]) -> bool:
        """Place pods, given as (class, side), the large ones first; return whether all found a place."""
        return all([self._place(*pod) for pod in sorted(left, key=lambda pod: -int(self._asked[pod[0], 0]))])

    def _place(self, c: int, side: int) -> bool:
        problem, asked = self._problem, self._asked[c]
        allowed: Bools = self._caps[c] > 0
        if c in self._sides.tied:
            allowed &= self._sides.nodes[side]
        fits = allowed & (self._free >= asked).all(axis=1)
        if fits.any():
            where = np.flatnonzero(fits)
            n = int(where[np.argmin(self._free[where, 0])])
        else:
            one = self._cheapest(c, allowed)
            victims = self._several(c, allowed) if one is None else [one]
            if not victims:
                return False
            for v in victims:
                self._leave(v, 1)
                self.leaving[v] += 1
            n = problem.victims[victims[0]].node
        self.counts[c, n] += 1
        self._caps[c, n] -= 1
        self._free[n] -= asked
        return True

    def _cheapest(self, c: int, allowed: Bools) -> int | None:
        """Find the victim of least cost whose room, with what is free beside it, is enough for a pod."""
        cls = self._problem.classes[c]
        able = allowed[self._node] & (self._gone < self._size) & (self._priority < cls.priority)
        able &= (self._free[self._node] + self._given >= self._asked[c]).all(axis=1)
        if not cls.preempts or not able.any():
            return None
        cost = self._costs()
        cost[~able] = np.iinfo(np.int64).max
        best = np.flatnonzero(cost == cost.min())
        spare = self._free[self._node[best], 0] + self._given[best, 0]
        return int(best[np.argmin(spare)])

    def _several(self, c: int, allowed: Bools) -> list[int]:
        """Find victims of one node whose room is enough for a pod, the costliest as cheap as can be."""
        cls, cost = self._problem.classes[c], self._costs()
        if not cls.preempts:
            return []
        nodes = np.flatnonzero(allowed)
        found: tuple[list[int], list[int]] | None = None
        for n in nodes[np.argsort(-self._free[nodes, 0], kind="stable")][:MOST_NODES].tolist():
            free, taken = self._free[n].copy(), list[int]()
            able = [v for v in self._problem.victims_on.get(n, ()) if v.priority < cls.priority]
            for v in sorted(able, key=lambda v: (int(cost[v.index]), -int(self._given[v.index, 0]))):
                for _ in range(int(self._size[v.index] - self._gone[v.index])):
                    if (free >= self._asked[c]).all():
                        break
                    free += self._given[v.index]
                    taken.append(v.index)
            key = sorted((int(cost[v]) for v in taken), reverse=True)
            if (free >= self._asked[c]).all() and (found is None or key < found[0]):
                found = key, taken
        return [] if found is None else found[1]

    def _costs(self) -> Ints:
        """Rank what one more eviction of each victim class costs, by the tiers that it counts in."""
        problem = self._problem
        found = np.zeros(len(self._node), dtype=np.int64)
        for (charges, priority, guard, free), victims in self._by_charges.items():
            if not free:
                violates = any(self._paid[b] >= problem.budgets[b].allowed for b in charges)
                found[victims] = self._cost(priority, guard, violates=violates)
        return found

    def _cost(self, priority: int, guard: int | None, *, violates: bool) -> int:
        problem = self._problem
        level = problem.belongs_to(priority, guard if violates else None)
        if level is None:
            return int(np.iinfo(np.int32).max)
        place = len(problem.levels) - problem.levels.index(level)
        return (2 * place + violates) * (1 + len(self._ranks)) + self._ranks[priority]

    def restore(self) -> None:
        """Let every victim stay for whom there is room, the costliest first."""
        leaving = [v for v, count in self.leaving.items() if count]
        paid = self._paid
        self._paid = Counter({b: n - 1 for b, n in paid.items()})
        cost = self._costs()
        self._paid = paid
        for v in sorted(leaving, key=lambda v: (-int(cost[v]), v)):
            n = int(self._node[v])
            while self.leaving[v] and (self._free[n] >= self._given[v]).all():
                self._leave(v, -1)
                self.leaving[v] -= 1
