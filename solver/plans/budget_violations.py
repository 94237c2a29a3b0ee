"""The violating victims of a set of evictions (design, "Budgets"; KEP-4664).

The victims outside the set must fit every budget; a guarded victim may be in it only if a legal preemptor of
at least its guard's priority stands on its node.  Among all such sets the one is taken that breaks the fewest
budgets for the most important priority, then for the next, and so on.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Charge:
    """One victim: its budgets, the rank of the priority that pays (0: highest), may it violate."""

    pod: int
    budgets: tuple[int, ...]
    rank: int
    may_violate: bool

    def unguarded(self) -> Charge:
        """Give the same victim without its guard."""
        return replace(self, may_violate=True)


def violating_victims(charges: Sequence[Charge], allowed: Sequence[int]) -> frozenset[int] | None:
    """Choose the violating set; None where the guards admit no set at all.

    Exact: victims with equal budgets, rank and freedom are interchangeable and counted, the counts are
    searched depth first, cheapest victims first, cutting what is already worse than the best set found.
    """
    excess = Counter(b for c in charges for b in c.budgets)
    over = {b: n - allowed[b] for b, n in excess.items() if n > allowed[b]}
    if not over:
        return frozenset()
    kinds: dict[tuple[tuple[int, ...], int], list[int]] = {}
    for c in charges:
        drawn = tuple(b for b in c.budgets if b in over)
        if drawn and c.may_violate:
            kinds.setdefault((drawn, c.rank), []).append(c.pod)
    ordered = sorted(kinds, key=lambda kind: (-kind[1], -len(kind[0]), kind[0]))
    search = _Search(ordered, [len(kinds[k]) for k in ordered], over)
    search.descend(0, dict(over), [])
    if search.best is None:
        return None
    chosen = zip(ordered, search.best, strict=False)
    return frozenset(pod for kind, count in chosen for pod in kinds[kind][:count])


class _Search:
    """Depth-first search over how many victims of each kind violate."""

    def __init__(
        self, kinds: Sequence[tuple[tuple[int, ...], int]], sizes: Sequence[int], over: dict[int, int]
    ) -> None:
        self._kinds = kinds
        self._sizes = sizes
        self._ranks = 1 + max((rank for _, rank in kinds), default=0)
        self._left = [Counter[int]() for _ in range(len(kinds) + 1)]
        for k in range(len(kinds) - 1, -1, -1):
            self._left[k] = self._left[k + 1] + Counter(dict.fromkeys(kinds[k][0], sizes[k]))
        self.best: list[int] | None = None
        self._best_cost: tuple[int, ...] | None = None

    def descend(self, k: int, need: dict[int, int], counts: list[int]) -> None:
        if any(n > self._left[k][b] for b, n in need.items() if n > 0):
            return
        cost = self._cost(counts)
        if self._best_cost is not None and cost >= self._best_cost:
            return
        if all(n <= 0 for n in need.values()):
            self.best, self._best_cost = list(counts), cost
            return
        drawn, _ = self._kinds[k]
        most = min(self._sizes[k], max(need[b] for b in drawn))
        for count in range(max(most, 0), -1, -1):
            rest = {b: n - count if b in drawn else n for b, n in need.items()}
            self.descend(k + 1, rest, [*counts, count])

    def _cost(self, counts: Sequence[int]) -> tuple[int, ...]:
        by_rank = [0] * self._ranks
        for count, (_, rank) in zip(counts, self._kinds, strict=False):
            by_rank[rank] += count
        return tuple(by_rank)
