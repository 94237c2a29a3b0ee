"""The violating victims of a set of evictions (docs/model.md, "A plan"; KEP-4664).

The victims outside the set must fit every budget; a guarded victim may be in it only if a legal preemptor of
at least its guard's priority stands on its node. A victim in it costs one violation at its level; a guarded
one counts at the level of its guard, as a violation and as an eviction (`framework.rules.belonging`). Of all
sets, the one with the lexicographically least change of the vector of tiers is chosen.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import reduce
from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

# Changes to the tiers, from the first on.
Price = tuple[int, ...]

# Victims that no rule tells apart: the exceeded budgets that they draw on, and what one costs.
VictimKind = tuple[tuple[int, ...], Price]


@dataclass(frozen=True)
class Charge:
    """One victim: its budgets, the change of the tiers if it violates, and whether it may violate.

    The first change in `price` that is not 0 is an increase: a set is better without a victim than with it.
    """

    pod: int
    budgets: tuple[int, ...]
    price: Price
    may_violate: bool

    def unguarded(self) -> Charge:
        """Return the same victim without its guard."""
        return replace(self, may_violate=True)


def violating_victims(
    charges: Sequence[Charge], allowed: Sequence[int], most: int | None = None
) -> frozenset[int] | None:
    """Choose the violating set; None where the guards, or the limit on violations, admit no set at all.

    Exact: budgets that no victim ties to each other are looked at apart; victims of one kind are counted, and
    the counts searched depth first, the cheapest kind first, cutting what gets no better than the best set.

    Parameters
    ----------
    charges : sequence of Charge
        In the order of their evictions. Of equally good sets, the one that the eviction API would refuse in
        this order is chosen if it is among them; otherwise the last victims of each kind.
    allowed : sequence of int
        How many more disruptions each budget takes.
    most : int, optional
        How many victims may violate (`models.eviction_limits`).
    """
    drawn = Counter(b for c in charges for b in c.budgets)
    over = {b: n - allowed[b] for b, n in drawn.items() if n > allowed[b]}
    if not over:
        return frozenset()
    kinds: dict[VictimKind, list[int]] = {}
    prices: dict[int, Price] = {}
    for c in charges:
        budgets = tuple(b for b in c.budgets if b in over)
        if budgets and c.may_violate:
            kinds.setdefault((budgets, c.price), []).append(c.pod)
            prices[c.pod] = c.price
    chosen = _choose(_apart(over, kinds), kinds)
    if chosen is not None and most is not None and len(chosen) > most:
        # fewer in all may cost more at a higher level: what the limit ties is looked at together
        chosen = _choose([over], kinds, most)
    if chosen is None:
        return None
    refused = [c.pod for c, refusing in in_turn(charges, allowed) if refusing]
    if prices.keys() >= set(refused) and (most is None or len(refused) <= most):
        costs, least = (reduce(_plus, map(prices.__getitem__, pods)) for pods in (refused, chosen))
        if costs == least:
            return frozenset(refused)
    return frozenset(chosen)


def _choose(
    needs: Iterable[dict[int, int]], kinds: Mapping[VictimKind, list[int]], most: int | None = None
) -> list[int] | None:
    """Choose for each set of exceeded budgets who violates; None where that cannot be."""
    chosen: list[int] = []
    for need in needs:
        mine = sorted((k for k in kinds if k[0][0] in need), key=lambda k: (k[1], -len(k[0]), k[0]))
        search = _Search(mine, [len(kinds[k]) for k in mine], most)
        search.descend(need)
        if search.best is None:
            return None
        for kind, count in zip(mine, search.best, strict=False):
            chosen += kinds[kind][len(kinds[kind]) - count :]
    return chosen


def in_turn(
    charges: Iterable[Charge], allowed: Sequence[int], violating: frozenset[int] = frozenset()
) -> Iterator[tuple[Charge, tuple[int, ...]]]:
    """Ask the eviction API for one victim after the other: yield each with the budgets that refuse it.

    A victim that is refused, or violates anyway, draws on no budget.
    """
    left = list(allowed)
    for charge in charges:
        refusing = tuple(b for b in charge.budgets if left[b] <= 0)
        yield charge, refusing
        if not refusing and charge.pod not in violating:
            for b in charge.budgets:
                left[b] -= 1


def _apart(over: Mapping[int, int], kinds: Iterable[VictimKind]) -> list[dict[int, int]]:
    """Divide the exceeded budgets into those that no victim ties to each other."""
    together = {b: {b} for b in over}
    for budgets, _ in kinds:
        joined = set().union(*(together[b] for b in budgets))
        together.update(dict.fromkeys(joined, joined))
    distinct = {id(group): group for group in together.values()}
    return [{b: over[b] for b in sorted(group)} for group in distinct.values()]


class _Search:
    """Depth-first search over how many victims of each kind violate, the cheapest kind first.

    No more than `most` violate in all.
    """

    def __init__(self, kinds: Sequence[VictimKind], sizes: Sequence[int], most: int | None = None) -> None:
        self._kinds = kinds
        self._most = most
        self._sizes = sizes
        self._left = [Counter[int]() for _ in range(len(kinds) + 1)]
        for k in range(len(kinds) - 1, -1, -1):
            self._left[k] = self._left[k + 1] + Counter(dict.fromkeys(kinds[k][0], sizes[k]))
        self.best: tuple[int, ...] | None = None
        self._best_price: Price = ()

    def descend(self, need: Mapping[int, int], counts: tuple[int, ...] = (), price: Price = ()) -> None:
        """Choose how many of the next and of all later kinds violate, given the earlier ones."""
        k = len(counts)
        lacking = max(need.values())
        if any(n > self._left[k][b] for b, n in need.items() if n > 0):
            return
        if self._most is not None and sum(counts) + max(0, lacking) > self._most:
            return
        if lacking <= 0:
            if self.best is None or price < self._best_price:
                self.best, self._best_price = counts, price
            return
        drawn, each = self._kinds[k]
        # at least this many more are needed, and no later kind is cheaper
        if self.best is not None and _plus(price, each, lacking) >= self._best_price:
            return
        for count in range(max(0, min(self._sizes[k], max(need[b] for b in drawn))), -1, -1):
            rest = {b: n - count if b in drawn else n for b, n in need.items()}
            self.descend(rest, (*counts, count), _plus(price, each, count))


def _plus(price: Price, each: Price, count: int = 1) -> Price:
    """Add the price of a number of victims; an empty price is zero."""
    return tuple(p + count * e for p, e in zip_longest(price, each, fillvalue=0))
