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
from .blueprint import Blueprint
from .cells import divide
from .estimate import EXPANDERS, Estimator
from .master import NODES, PRICE, Master
from .node_choice import PARTS
from .packing import Packer
from .sample import sample
from .sums import Sums, kinds_of, without_dominated

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..plans.outcome import Outcome
    from .estimate import Expander
    from .sample import Sample
    from .trial import Counts, Market, Trial

# Pairs of a class and a node to be bought up to which the round and the purchase are one model.
_LARGEST_MASTER: Final = 20_000

# Thousandths of the room that stay free at first where purchases are made by sums.
_FIRST_SPARE: Final = 4

# Shares of the time that is left: for what an autoscaler orders, for a draft, for packing it, for one round,
# and for the bound by sums.
_SHARE_OF_ORDER: Final = 0.1
_SHARE_OF_DRAFT: Final = 0.15
_SHARE_OF_PACKING: Final = 0.25
_SHARE_OF_TRIAL: Final = 0.25
_SHARE_OF_SUMS: Final = 0.25


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
            self._heuristics(samples)
            most = self._most(samples)
            master = self._small_enough(samples, most)
            if master is None:
                self._by_blueprints(samples, most)
            self._sums(samples, most, exact=master is not None)
            if master is not None and not self._proven():
                self._exactly(master)
        except BaseException as error:
            if not is_interrupt(error):
                raise
            found.interrupted = True
        return found

    # -- purchases ------------------------------------------------------------

    def _left(self) -> float:
        return self._until - time.monotonic()

    def _tried(self, counts: Counts, known: Outcome | None = None) -> Trial:
        return self._market.trial(counts, max(_SHARE_OF_TRIAL * self._left(), 0.0), known)

    def _offer(self, counts: Counts, known: Outcome | None = None) -> Trial:
        """Try a purchase out; it is the best one from then on where it is better."""
        trial = self._tried(counts, known)
        if trial.worth < self._found.best.worth:
            self._found.best = trial
        self._found.interrupted |= trial.plan.stats.interrupted
        return trial

    def _heuristics(self, samples: Sample) -> None:
        estimator = Estimator(self._market, samples, self._least, self._budget)
        for expander in EXPANDERS:
            self._begin(f"what an autoscaler orders ({expander})")
            until = time.monotonic() + _SHARE_OF_ORDER * self._left()
            counts = estimator.order(expander, math.inf if estimator.small else until)
            if counts is not None:
                self._found.heuristics[expander] = self._offer(counts)

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
        """Try purchases with ever less room left over, as long as one is better than the last."""
        self._begin("purchases near the bound")
        target = self._market.most if self._budget is None else self._found.best.placed
        division = divide(samples, self._market, most)
        blueprint = Blueprint(division, self._market, most, self._budget)
        packer = Packer(self._market, division, most, self._budget)
        fails, works, spare = 0, PARTS, _FIRST_SPARE
        end = time.monotonic() + (1 - _SHARE_OF_SUMS) * self._left()
        while fails + 1 < works and time.monotonic() < end and not self._found.interrupted:
            step = _SHARE_OF_DRAFT * self._left()
            draft = blueprint.propose(target, spare, time.monotonic() + step)
            best = self._found.best
            worse = draft is not None and self._market.catalogue.price(draft.counts) >= best.price
            if draft is None or (worse and best.placed >= target):
                works = spare
            else:
                found = packer.pack(draft, time.monotonic() + _SHARE_OF_PACKING * self._left())
                enough = len(found.outcome.placed) >= sum(target)
                if enough and self._offer(found.counts, found.outcome) is self._found.best:
                    works = spare
                else:
                    fails = spare
            spare = (fails + works) // 2 if works < PARTS else min(2 * spare, PARTS - 1)

    # -- proof ------------------------------------------------------------

    def _values(self) -> dict[str, int]:
        best = self._found.best
        placed = {
            tiers.scheduled(level): n for level, n in zip(self._market.levels, best.placed, strict=True)
        }
        return {**placed, PRICE: best.price, NODES: sum(best.counts)}

    def _proven(self) -> bool:
        return self._found.bounds == self._values()

    def _sums(self, samples: Sample, most: Counts, *, exact: bool) -> None:
        """Bound by sums what is placed, and what it costs to place so much."""
        self._begin("a bound by sums")
        kinds = without_dominated(kinds_of(samples, self._market, most), samples.sizes)
        best, values = self._found.best, self._values()
        sums = Sums(samples, self._market, kinds, self._budget)
        share = _SHARE_OF_SUMS if exact else 1.0
        climbed = sums.bounds(best.placed, time.monotonic() + share * self._left())
        bounds = self._found.bounds = {}
        for level, most_of_level in zip(self._market.levels, self._market.most, strict=True):
            name = tiers.scheduled(level)
            bound = most_of_level if values[name] == most_of_level else climbed.bounds.get(name)
            if bound is None:
                return
            bounds[name] = bound
            if bound > values[name]:
                return
        for name in (PRICE, NODES):
            if name not in climbed.bounds:
                return
            bounds[name] = climbed.bounds[name]
            if bounds[name] != values[name]:
                return

    def _small_enough(self, samples: Sample, most: Counts) -> Master | None:
        """Return the model of round and purchase; None where it is too large."""
        best = self._found.best
        if best.placed == self._market.most:  # what costs more is no better
            prices = [offer.price for offer in self._market.catalogue.offers]
            most = tuple(
                min(n, max(best.price // price, least)) if price else n
                for n, price, least in zip(most, prices, self._least, strict=True)
            )
        takes = (samples.takes(samples.nodes) > 0).sum(axis=0).tolist()
        size = sum(n * classes for n, classes in zip(most, takes, strict=True))
        return None if size > _LARGEST_MASTER else Master(self._market, most, self._budget)

    def _exactly(self, master: Master) -> None:
        """Search the model of round and purchase until its optimum is no better than the best purchase."""
        while self._left() > 0 and not self._found.interrupted:
            self._begin("round and purchase as one model")
            climbed, proposal = master.search(self._until)
            self._found.interrupted |= climbed.interrupted
            if climbed.infeasible:  # all purchases are known
                self._found.bounds = self._values()
                return
            self._combine(climbed.bounds)
            if proposal is None or self._proven():
                return
            trial = self._offer(proposal.counts)
            self._combine(climbed.bounds)
            if self._proven() or not (climbed.optimal and trial.proven):
                return
            master.exclude(proposal.counts)

    def _combine(self, bounds: dict[str, int]) -> None:
        """Take over bounds that hold for all purchases but those whose worth is known."""
        found: dict[str, int] = {}
        values = self._values()
        for name, value in values.items():
            if name not in bounds:
                break
            better = max if name.startswith("scheduled") else min
            found[name] = better(bounds[name], value)
            if found[name] != value:
                break
            if bounds[name] != value:  # no other purchase comes near the best in this tier
                found = values
                break
        old, self._found.bounds = self._found.bounds, {}
        for name in values:
            known = [each[name] for each in (old, found) if name in each]
            if not known:
                break
            self._found.bounds[name] = min(known) if name.startswith("scheduled") else max(known)


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
