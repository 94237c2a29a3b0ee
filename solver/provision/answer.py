"""The door: which nodes to buy for the pods that wait, as a document."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ...models import tiers
from ...models.progress import unwatched
from ...models.provision import BoughtNodes, Heuristic, Provision, Purchase, PurchaseTier
from ...models.purchases import MILLION
from ..options import SolveOptions
from .master import PRICE
from .search import search
from .trial import Market

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ...models.plan import Plan
    from ...models.progress import Watch
    from ...models.purchases import Catalogue
    from ...models.snapshot import Snapshot
    from ..options import ProgressCallback
    from .search import Found
    from .trial import Change, Counts, Trial


def provision(
    snapshot: Snapshot,
    catalogue: Catalogue,
    change: Change,
    max_price: int | None = None,
    options: SolveOptions | None = None,
    progress: ProgressCallback | None = None,
    *,
    begin: Callable[[str], None] = lambda words: None,
    watch: Watch = unwatched,
    waited: float = 0.0,
) -> Provision:
    """Find the cheapest nodes on which all pods that wait are placed, else the most of them by priority.

    Parameters
    ----------
    change : callable
        Makes changes of a cluster (`instances.what_if.apply.changed_by`).
    max_price : int, optional
        The most that may be spent, in millionths.
    options : SolveOptions, optional
        `time_limit` is for everything. Nothing is evicted, whatever the limits say.
    begin : callable
        Hears in words what is done next.
    waited : float
        Seconds that it took to read the input.

    Returns
    -------
    Provision
        With the plan of the best purchase, replayed.

    Raises
    ------
    KubestowError
        Where a round needs what is not supported, or the groups' least numbers cannot be bought.
    """
    start = time.monotonic()
    options = options or SolveOptions()
    market = Market(snapshot, catalogue, options, change, progress, watch)
    found = search(market, max_price, start + options.time_limit, begin)
    best = found.best
    heuristics = tuple(
        Heuristic(expander=name, purchase=_purchase(market, trial, trial.greedy, trial.placed_by_greedy))
        for name, trial in found.heuristics.items()
        if trial.greedy is not None and trial.placed_by_greedy is not None
    )
    told = tuple(_tiers(market, found))
    as_good = [
        trial.price
        for trial in found.heuristics.values()
        if trial.placed_by_greedy is not None and trial.placed_by_greedy >= best.placed
    ]
    placed = best.plan.placed()
    return Provision(
        instance=snapshot.name,
        max_price=None if max_price is None else max_price / MILLION,
        status="OPTIMAL" if all(tier.proven for tier in told) else "FEASIBLE",
        purchase=_purchase(market, best, best.plan, best.placed),
        tiers=told,
        heuristics=heuristics,
        saved=(min(as_good) - best.price) / MILLION if as_good else None,
        waiting=tuple(sorted(pod for pod in market.waiting if pod not in placed)),
        daemons=market.bought(best.counts).daemons,
        changes=catalogue.change_set(best.counts).document() if any(best.counts) else None,
        plan=best.plan,
        interrupted=found.interrupted,
        seconds=round(waited + time.monotonic() - start, 3),
    )


def _purchase(market: Market, trial: Trial, plan: Plan, placed: Counts) -> Purchase:
    on: dict[str, list[str]] = {}
    for pod, node in plan.placed().items():
        if pod in market.waiting:
            on.setdefault(node, []).append(pod)
    offers = market.catalogue.offers
    names = market.bought(trial.counts).nodes
    return Purchase(
        bought=tuple(
            BoughtNodes(
                group=offer.group,
                zone=offer.zone,
                count=n,
                price=offer.price / MILLION,
                cost=n * offer.price / MILLION,
                nodes={name: tuple(sorted(on.get(name, ()))) for name in there},
            )
            for offer, n, there in zip(offers, trial.counts, names, strict=True)
            if n
        ),
        price=trial.price / MILLION,
        nodes=sum(trial.counts),
        scheduled=sum(placed),
    )


def _tiers(market: Market, found: Found) -> Iterator[PurchaseTier]:
    best = found.best
    values = [
        *((tiers.scheduled(level), n) for level, n in zip(market.levels, best.placed, strict=True)),
        (PRICE, best.price),
        ("nodes", sum(best.counts)),
    ]
    for name, value in values:
        bound, unit = found.bounds.get(name), MILLION if name == PRICE else 1
        yield PurchaseTier(
            name=name,
            sense="max" if name.startswith("scheduled") else "min",
            value=value / unit if name == PRICE else value,
            bound=None if bound is None else bound / unit if name == PRICE else bound,
            proven=bound == value,
        )
