"""The cheapest consolidation: the heuristic first, then purchases that one model proposes, each tried out.

What a purchase is worth is found by the search for moves on the cluster with its nodes, in an order in which
every step passes. So the best so far is never behind doing nothing, nor behind the heuristic.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from ...models import tiers
from ...models.errors import is_interrupt
from ..plans.objective import TierValue
from ..provision.master import NODES
from ..provision.proposals import combined, exhaust
from ..provision.search import least_of
from ..rebalance.search import MoveSearch
from ..rebalance.starts import one_at_a_time, tightest
from .master import Master
from .one_by_one import OneByOne
from .round import BoughtRound
from .sums import least_price

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...framework.state.moves import Move
    from ...models.progress import Watch
    from ..plans.objective import ObjectiveVector
    from ..plans.outcome import Outcome
    from ..provision.trial import Counts
    from .round import Ask

# Pairs of a class and a node, and nodes to be bought, up to which purchase and moves are one model.
_LARGEST_MASTER: Final = 20_000
_MOST_NEW: Final = 200

# Shares of the time that is left: for the heuristic, for one purchase and its simple rules, for sums.
_SHARE_OF_HEURISTIC: Final = 0.2
_SHARE_OF_TRIAL: Final = 0.4
_SHARE_OF_RULES: Final = 0.2
_SHARE_OF_SUMS: Final = 0.2


@dataclass
class Tried:
    """A purchase with its best moves; `proven` tells that no others are better on that cluster."""

    at: BoughtRound
    best: Outcome
    value: ObjectiveVector
    bounds: dict[str, int]
    proven: bool
    interrupted: bool

    @property
    def tiers(self) -> tuple[TierValue, ...]:
        """What it is worth: the tiers of the moves, then how many nodes are bought."""
        return (*self.value.tiers, TierValue(NODES, "min", sum(self.at.counts)))

    @property
    def costs(self) -> tuple[int, ...]:
        """The same to compare by; less is better."""
        return tuple(tier.cost for tier in self.tiers)


@dataclass
class Found:
    """The best so far.

    Attributes
    ----------
    bounds : dict
        Of tiers by name, given the values of those above; a tier that is missing has none.
    heuristic : Tried
        What one node at a time comes to.
    """

    best: Tried
    heuristic: Tried
    bounds: dict[str, int] = field(default_factory=dict)
    interrupted: bool = False


class Search:
    """The search of one question.

    Parameters
    ----------
    until : float
        When to stop, on the monotonic clock.
    begin : callable
        Hears in words what is done next.
    """

    def __init__(self, ask: Ask, until: float, begin: Callable[[str], None], watch: Watch) -> None:
        self._ask, self._until, self._begin, self._watch = ask, until, begin, watch
        self._tried: dict[Counts, Tried] = {}
        self._floor: int | None = None

    def run(self) -> Found:
        """Search until the best is proven, or time is up."""
        least = least_of(self._ask.market, None)
        self._begin("one node at a time")
        rule = OneByOne(self._ask, least, self._watch, time.monotonic() + _SHARE_OF_HEURISTIC * self._left())
        rule.run()
        moves = rule.at.numbered(rule.moves)
        heuristic = self._plain(rule.at, moves)
        nothing = self._plain(BoughtRound(self._ask, least, self._watch), ())
        found = Found(min(nothing, heuristic, key=lambda tried: tried.costs), heuristic)
        try:
            self._offer(found, nothing.at)
            self._offer(found, rule.at, moves)
            self._exactly(found)
        except BaseException as error:
            if not is_interrupt(error):
                raise
            found.interrupted = True
        return found

    def _left(self) -> float:
        return self._until - time.monotonic()

    def _plain(self, at: BoughtRound, moves: Sequence[Move]) -> Tried:
        """Return a plan as it is."""
        search = self._search_of(at, 0.0)
        outcome = at.outcome(moves)
        return Tried(at, outcome, search.state.offer(outcome), {}, proven=False, interrupted=False)

    def _search_of(self, at: BoughtRound, seconds: float) -> MoveSearch:
        options = replace(self._ask.market.options, time_limit=max(seconds, 1e-6), prefer="none")
        return MoveSearch(at.problem, options, None, self._watch)

    def _offer(self, found: Found, at: BoughtRound, known: Sequence[Move] = ()) -> Tried:
        """Search the best moves after a purchase, from a plan that is known; each purchase once."""
        if at.counts not in self._tried:
            self._begin(f"moves with {sum(at.counts)} new nodes")
            seconds = max(_SHARE_OF_TRIAL * self._left(), 0.0)
            search = self._search_of(at, seconds)
            until = time.monotonic() + _SHARE_OF_RULES * seconds
            greedy = at.greedy()
            starts = [known, greedy, one_at_a_time(at.problem, tightest, until, greedy)]
            search.run(at.outcome(moves) for moves in starts)
            incumbent = search.state.incumbent
            value = incumbent.valuation
            bounds = {t.name: incumbent.bound(t.name) for t in value.tiers}
            self._tried[at.counts] = Tried(
                at,
                incumbent.best,
                value,
                {name: bound for name, bound in bounds.items() if bound is not None},
                all(bounds[tier.name] == tier.value for tier in value.tiers),
                search.state.interrupted,
            )
        tried = self._tried[at.counts]
        found.interrupted |= tried.interrupted
        if tried.costs < found.best.costs or at.counts == found.best.at.counts:
            found.best = min(tried, found.best, key=lambda each: each.costs)
        return tried

    # -- proof ------------------------------------------------------------

    def _most(self, found: Found) -> Counts:
        """Return how many nodes of each offer can be of use: each has a pod, and all cost no more."""
        market = self._ask.market
        movers = len(found.best.at.round.mobility.successors)
        full = self._full(found)
        price = next(tier.value for tier in found.best.value.tiers if tier.name == tiers.PRICE)
        limits = {item.name: item.most for item in market.catalogue.limits}
        most = []
        for offer, least in zip(market.catalogue.offers, least_of(market, None), strict=True):
            caps = [len(market.waiting) + movers]
            caps += [n for n in (offer.stock, limits[offer.group]) if n is not None]
            if full and offer.price:
                caps.append(max(price // offer.price, least))
            most.append(min(caps))
        return tuple(most)

    def _exactly(self, found: Found) -> None:
        """Search the model of purchase and moves until its optimum is no better than the best."""
        most = self._most(found)
        self._floor = self._by_sums(found, most)
        found.bounds = self._sharpened(found, {})
        classes = len(found.best.at.problem.classes)
        nodes = sum(most) + found.best.at.round.cluster.n_nodes
        if sum(most) > _MOST_NEW or classes * nodes > _LARGEST_MASTER or found.interrupted:
            return
        master = Master(self._ask, most, self._watch)
        for known, tried in self._tried.items():
            if tried.proven and all(n <= k for n, k in zip(known, most, strict=True)):
                master.exclude(known)
        self._begin("purchase and moves as one model")
        exhaust(
            master,
            found,
            lambda: found.best.tiers,
            lambda counts: self._offer(found, BoughtRound(self._ask, counts, self._watch)).proven,
            lambda bounds: self._sharpened(found, bounds),
            self._until,
        )

    def _by_sums(self, found: Found, most: Counts) -> int | None:
        """Return a bound of the price where all pods that wait are placed."""
        if not self._full(found) or self._left() <= 0:
            return None
        self._begin("a bound by sums")
        return least_price(self._ask, most, _SHARE_OF_SUMS * self._left(), self._watch)

    def _full(self, found: Found) -> bool:
        """Whether all pods that wait are placed."""
        most = self._ask.market.most
        return [tier.value for tier in found.best.value.tiers[: len(most)]] == list(most)

    def _sharpened(self, found: Found, bounds: dict[str, int]) -> dict[str, int]:
        """Return bounds of all plans from those of a model, and by sums."""
        known = combined(found.best.tiers, bounds)
        if self._floor is None:
            return known
        market = self._ask.market
        placed = {tiers.scheduled(level): n for level, n in zip(market.levels, market.most, strict=True)}
        return {**placed, **known, tiers.PRICE: max(self._floor, known.get(tiers.PRICE, self._floor))}
