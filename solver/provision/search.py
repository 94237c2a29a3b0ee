"""The cheapest purchase: heuristics first, bounds by sums, then the round and the purchase as one model.

What is best so far is a purchase whose round has been solved and replayed (`Market.trial`). The heuristics'
purchases are tried like any other, so the answer is never behind them.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ...models import tiers
from ...models.errors import KubestowError, is_interrupt
from ...models.purchases import money
from ..plans.objective import TierValue
from .estimate import EXPANDERS, Estimator
from .large import draft_purchases
from .master import NODES, PRICE, Master
from .proposals import combined, exhaust, values
from .sample import sample
from .sums import Sums, kinds_of, without_dominated
from .trial import worth

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..plans.outcome import Outcome
    from .climb import Climbed
    from .estimate import Expander
    from .sample import Sample
    from .trial import Counts, Market, Trial

# Pairs of a class and a node to be bought up to which the round and the purchase are one model.
_LARGEST_MASTER: Final = 20_000

# Shares of the time that is left: for what an autoscaler orders, for one round, for the bound by sums, also
# before drafts; what is kept for all that comes after drafts.
_SHARE_OF_ORDER: Final = 0.1
_SHARE_OF_TRIAL: Final = 0.25
_SHARE_OF_SUMS: Final = 0.25
_SHARE_OF_FIRST_SUMS: Final = 0.1
_SHARE_OF_REST: Final = 0.2


@dataclass
class Found:
    """The best purchase so far.

    Attributes
    ----------
    bounds : dict
        Of tiers by name: `scheduled[priority=p]`, `price` in millionths, `nodes`. A tier that is missing has
        none.
    heuristics : dict
        What each expander orders.
    """

    best: Trial
    bounds: dict[str, int] = field(default_factory=dict)
    heuristics: dict[Expander, Trial] = field(default_factory=dict)
    interrupted: bool = False


def search(market: Market, budget: int | None, until: float, begin: Callable[[str], None]) -> Found:
    """Find the best purchase.

    Parameters
    ----------
    budget : int or None
        The most that it may cost, in millionths.
    until : float
        When to stop, on the monotonic clock.
    begin : callable
        Hears in words what is done next.

    Raises
    ------
    KubestowError
        Where what has to be bought in any case costs more, or cannot be had.
    """
    return _Search(market, budget, until, begin).run()


class _Search:
    def __init__(
        self, market: Market, budget: int | None, until: float, begin: Callable[[str], None]
    ) -> None:
        self._market = market
        self._budget = budget
        self._until = until
        self._begin = begin
        self._least = least_of(market, budget)
        self._bounds: dict[Counts, Climbed] = {}
        self._found = Found(self._tried(self._least))

    def run(self) -> Found:
        """Search until the best purchase is proven, or time is up."""
        found = self._found
        try:
            if not self._market.waiting or not self._market.catalogue.offers:
                found.bounds = self._values() if found.best.proven else {}
                return found
            self._begin("one node of each group")
            samples = sample(self._market)
            orders, most = self._orders(samples), self._most(samples)
            prices = [self._market.catalogue.price(counts) for counts in orders.values()]
            large = self._size(samples, self._at(most, min(prices, default=None))) > _LARGEST_MASTER
            first = large and self._budget is None
            if first:  # an order that costs more than what places all pods is tried soon
                self._summed(samples, most, self._market.most, _SHARE_OF_FIRST_SUMS)
                self._by_blueprints(samples, most)
            self._try_out(orders)
            master = self._small_enough(samples, most)
            if master is None and not first:
                self._by_blueprints(samples, most)
            self._sums(samples, most, exact=master is not None)
            if master is not None and found.bounds != self._values():
                self._exactly(master)
        except BaseException as error:
            if not is_interrupt(error):
                raise
            found.interrupted = True
        return found

    # -- purchases ------------------------------------------------------------

    def _left(self) -> float:
        return self._until - time.monotonic()

    def _tried(self, counts: Counts, known: Outcome | None = None, share: float = _SHARE_OF_TRIAL) -> Trial:
        return self._market.trial(counts, max(share * self._left(), 0.0), known)

    def _offer(self, counts: Counts, known: Outcome | None = None, share: float = _SHARE_OF_TRIAL) -> Trial:
        """Try a purchase out; it is the best one from then on where it is better."""
        trial = self._tried(counts, known, share)
        if trial.worth < self._found.best.worth:
            self._found.best = trial
        self._found.interrupted |= trial.plan.stats.interrupted
        return trial

    def _orders(self, samples: Sample) -> dict[Expander, Counts]:
        """Return what an autoscaler orders, as far as that is found out in time."""
        estimator = Estimator(self._market, samples, self._least, self._budget)
        orders: dict[Expander, Counts] = {}
        for expander in EXPANDERS:
            self._begin(f"what an autoscaler orders ({expander})")
            until = time.monotonic() + _SHARE_OF_ORDER * self._left()
            counts = estimator.order(expander, math.inf if estimator.small else until)
            if counts is not None:
                orders[expander] = counts
        return orders

    def _try_out(self, orders: Mapping[Expander, Counts]) -> None:
        """Try orders; by kube-scheduler alone where they cost more than what places all pods."""
        for expander, counts in orders.items():
            self._begin(f"the round after an order ({expander})")
            best = self._found.best
            behind = worth(self._market.most, self._market.catalogue.price(counts), sum(counts)) > best.worth
            self._found.heuristics[expander] = self._offer(counts, share=0 if behind else _SHARE_OF_TRIAL)

    def _most(self, samples: Sample) -> Counts:
        """Return how many nodes of each offer can be of use."""
        catalogue, pods = self._market.catalogue, len(self._market.waiting)
        limits = {item.name: item for item in catalogue.limits}
        most = []
        for offer in catalogue.offers:
            group = limits[offer.group].most
            most.append(min(pods, *(n for n in (offer.stock, group) if n is not None), pods))
        return tuple(map(max, samples.useful(tuple(most)), self._least))

    def _by_blueprints(self, samples: Sample, most: Counts) -> None:
        """Try purchases near the bound."""
        self._begin("purchases near the bound")

        def offer(counts: Counts, known: Outcome) -> bool:
            return self._offer(counts, known) is self._found.best and not self._found.interrupted

        until = time.monotonic() + (1 - _SHARE_OF_REST) * self._left()
        draft_purchases(samples, self._market, most, self._budget, lambda: self._found.best, offer, until)

    # -- proof ------------------------------------------------------------

    def _tiers(self) -> list[TierValue]:
        """Return what the best purchase is worth."""
        best = self._found.best
        levels = zip(self._market.levels, best.placed, strict=True)
        placed = [TierValue(tiers.scheduled(level), "max", n) for level, n in levels]
        price, nodes = best.price, sum(best.counts)
        return [*placed, TierValue(PRICE, "min", price), TierValue(NODES, "min", nodes)]

    def _values(self) -> dict[str, int]:
        return values(self._tiers())

    def _summed(self, samples: Sample, most: Counts, placed: Counts, share: float) -> Climbed:
        """Search the bounds by sums of what is placed, and of the price of that; once for each of these."""
        if placed not in self._bounds:
            self._begin("a bound by sums")
            kinds = without_dominated(kinds_of(samples, self._market, most), samples.sizes)
            sums = Sums(samples, self._market, kinds, self._budget)
            self._bounds[placed] = sums.bounds(placed, time.monotonic() + share * self._left())
        return self._bounds[placed]

    def _sums(self, samples: Sample, most: Counts, *, exact: bool) -> None:
        """Bound what is placed, and what it costs to place so much."""
        best, reached = self._found.best, self._values()
        climbed = self._summed(samples, most, best.placed, _SHARE_OF_SUMS if exact else 1.0)
        bounds = self._found.bounds = {}
        for level, most_of_level in zip(self._market.levels, self._market.most, strict=True):
            name = tiers.scheduled(level)
            bound = most_of_level if reached[name] == most_of_level else climbed.bounds.get(name)
            if bound is None:
                return
            bounds[name] = bound
            if bound > reached[name]:
                return
        for name in (PRICE, NODES):
            if name not in climbed.bounds:
                return
            bounds[name] = climbed.bounds[name]
            if bounds[name] != reached[name]:
                return

    def _at(self, most: Counts, price: int | None) -> Counts:
        """Leave out nodes that together cost more than a price."""
        if price is None:
            return most
        prices = [offer.price for offer in self._market.catalogue.offers]
        return tuple(
            min(n, max(price // each, least)) if each else n
            for n, each, least in zip(most, prices, self._least, strict=True)
        )

    def _size(self, samples: Sample, most: Counts) -> int:
        """Return how many pairs of a class and a node to be bought there are."""
        takes = (samples.takes(samples.nodes) > 0).sum(axis=0).tolist()
        return sum(n * classes for n, classes in zip(most, takes, strict=True))

    def _small_enough(self, samples: Sample, most: Counts) -> Master | None:
        """Return the model of round and purchase; None where it is too large."""
        best = self._found.best
        # where all are placed, what costs more is no better
        useful = self._at(most, best.price if best.placed == self._market.most else None)
        large = self._size(samples, useful) > _LARGEST_MASTER
        return None if large else Master(self._market, useful, self._budget)

    def _exactly(self, master: Master) -> None:
        """Search the model of round and purchase until its optimum is no better than the best purchase."""
        self._begin("round and purchase as one model")
        known = self._found.bounds

        def sharpened(bounds: dict[str, int]) -> dict[str, int]:
            nonlocal known
            known = self._sharper(known, combined(self._tiers(), bounds))
            return known

        def offer(counts: Counts) -> bool:
            return self._offer(counts).proven

        exhaust(master, self._found, self._tiers, offer, sharpened, self._until)

    def _sharper(self, *bounds: dict[str, int]) -> dict[str, int]:
        """Return the best of several bounds of each tier, up to the first without one."""
        found: dict[str, int] = {}
        for tier in self._tiers():
            known = [each[tier.name] for each in bounds if tier.name in each]
            if not known:
                break
            found[tier.name] = min(known) if tier.sense == "max" else max(known)
        return found


def least_of(market: Market, budget: int | None) -> Counts:
    """Return the cheapest purchase that groups ask for in any case."""
    catalogue = market.catalogue
    counts = [0] * len(catalogue.offers)
    for limits in catalogue.limits:
        missing = limits.least
        for k in sorted(catalogue.of_group(limits.name), key=lambda k: catalogue.offers[k].price):
            stock = catalogue.offers[k].stock
            counts[k] = missing if stock is None else min(missing, stock)
            missing -= counts[k]
        if missing:
            words = f"its min is {limits.least}, and {limits.least - missing} can be had"
            raise KubestowError(f"node group {limits.name}: {words}")
    found = tuple(counts)
    if budget is not None and catalogue.price(found) > budget:
        words = f"{money(catalogue.price(found))}, and at most {money(budget)} may be spent"
        raise KubestowError(f"the least numbers of the node groups (min) alone cost {words}")
    return found
