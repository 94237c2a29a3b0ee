"""Purchases that one model proposes, each tried out and excluded: what searches of purchases share."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..plans.objective import TierValue
    from .climb import Climbed
    from .trial import Counts


class Proposer(Protocol):
    """A model whose optimum bounds every purchase that is not excluded."""

    def search(self, until: float) -> tuple[Climbed, Counts | None]:
        """Find the best purchase that is not excluded, with bounds of the tiers."""
        ...

    def exclude(self, counts: Counts) -> None:
        """Exclude a purchase whose worth is known."""
        ...


class Answer(Protocol):
    """What is best so far, with bounds of its tiers by name."""

    bounds: dict[str, int]
    interrupted: bool


def exhaust(
    master: Proposer,
    found: Answer,
    best: Callable[[], Sequence[TierValue]],
    offer: Callable[[Counts], bool],
    sharpened: Callable[[dict[str, int]], dict[str, int]],
    until: float,
) -> None:
    """Try out what a model proposes until its optimum is no better than the best answer.

    Parameters
    ----------
    best : callable
        Returns what the best answer is worth now.
    offer : callable
        Tries a purchase out; tells whether its worth is proven.
    sharpened : callable
        Makes bounds of all purchases of those of the model, which hold for all but excluded ones.
    until : float
        When to stop, on the monotonic clock.
    """
    while time.monotonic() < until and not found.interrupted:
        climbed, counts = master.search(until)
        found.interrupted |= climbed.interrupted
        if climbed.infeasible:  # the worth of all purchases is known
            found.bounds = values(best())
            return
        found.bounds = sharpened(climbed.bounds)
        if counts is None or found.bounds == values(best()):
            return
        known = offer(counts)
        found.bounds = sharpened(climbed.bounds)
        if found.bounds == values(best()) or not (climbed.optimal and known):
            return
        master.exclude(counts)


def values(best: Sequence[TierValue]) -> dict[str, int]:
    """Return what an answer is worth, by tier."""
    return {tier.name: tier.value for tier in best}


def combined(best: Sequence[TierValue], bounds: dict[str, int]) -> dict[str, int]:
    """Return bounds of all plans from those of all but some that are proven no better than the best."""
    found: dict[str, int] = {}
    for tier in best:
        if tier.name not in bounds:
            break
        better = max if tier.sense == "max" else min
        found[tier.name] = better(bounds[tier.name], tier.value)
        if found[tier.name] != tier.value:
            break
        if bounds[tier.name] != tier.value:  # none of the others comes near the best in this tier
            return values(best)
    return found
