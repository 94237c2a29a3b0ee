"""Purchases of large rounds: drafts by sums, packed and tried out, with ever less room left over."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from .blueprint import Blueprint
from .cells import divide
from .node_choice import PARTS
from .packing import Packer

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..plans.outcome import Outcome
    from .sample import Sample
    from .trial import Counts, Market, Trial

# Thousandths of the room that stay free at first.
_FIRST_SPARE: Final = 4

# The most of the time that is left for a draft, and for packing it: their work is limited by itself.
_SHARE_OF_DRAFT: Final = 0.5
_SHARE_OF_PACKING: Final = 0.7


def draft_purchases(
    samples: Sample,
    market: Market,
    most: Counts,
    budget: int | None,
    best: Callable[[], Trial],
    offer: Callable[[Counts, Outcome], bool],
    until: float,
) -> None:
    """Try purchases with ever less room left over, as long as one is better than the last.

    Parameters
    ----------
    most : tuple of int
        How many nodes of each offer are of use.
    budget : int or None
        The most that may be spent, in millionths.
    best : callable
        Returns the best purchase so far.
    offer : callable
        Tries a purchase out from a plan of it; tells whether to go on with less room, None to stop.
    """
    target = market.most if budget is None else best().placed
    division = divide(samples, market, most)
    blueprint = Blueprint(division, market, most, budget)
    packer = Packer(market, division, most, budget)
    fails, works, spare = 0, PARTS, _FIRST_SPARE

    def within(share: float) -> float:
        now = time.monotonic()
        return now + share * (until - now)

    while fails + 1 < works and time.monotonic() < until:
        draft = blueprint.propose(target, spare, within(_SHARE_OF_DRAFT))
        now = best()
        worse = draft is not None and market.catalogue.price(draft.counts) >= now.price
        if draft is None or (worse and now.placed >= target):
            works = spare
        else:
            found = packer.pack(draft, within(_SHARE_OF_PACKING))
            enough = len(found.outcome.placed) >= sum(target)
            if enough and offer(found.counts, found.outcome):
                works = spare
            else:
                fails = spare
        spare = (fails + works) // 2 if works < PARTS else min(2 * spare, PARTS - 1)
