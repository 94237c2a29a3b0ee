"""The best of what was known and what was found: what is written beside a suite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...models.suite import KnownTier
from .judge import comparable, first_difference, is_tighter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...models.plan import Tier


def first_known(now: Sequence[Tier], version: str) -> tuple[KnownTier, ...]:
    """Return a vector of which nothing was known before."""
    return tuple(
        KnownTier(
            name=tier.name,
            sense=tier.sense,
            value=tier.value,
            by=version,
            bound=tier.bound,
            bound_by="" if tier.bound is None else version,
        )
        for tier in now
    )


def best_of(
    known: Sequence[KnownTier], now: Sequence[Tier], version: str, *, accept_worse: bool
) -> tuple[KnownTier, ...]:
    """Return the better vector, with the tighter of those bounds that speak of both.

    The two must not contradict each other. What is as it was keeps the version that it is by, so that a file
    of it changes only where something got better.

    Parameters
    ----------
    accept_worse : bool
        Whether today's values are taken even if they are worse.
    """
    changed = first_difference(known, now)
    differs = changed.name if changed else None
    shared = {tier.name: tier for tier in comparable(now, differs)}
    before = {tier.name: tier for tier in known}
    stays = changed is not None and changed.is_worse and not accept_worse
    found = []
    for tier in known if stays else first_known(now, version):
        other, then = shared.get(tier.name), before.get(tier.name)
        value_of, bound_of = tier, tier
        if other is not None and then is not None:
            value_of = then if then.value == tier.value else tier
            new_bound = is_tighter(tier.sense, other.bound, then.bound)
            bound_of = first_known([other], version)[0] if new_bound else then
        found.append(
            KnownTier(
                name=tier.name,
                sense=tier.sense,
                value=tier.value,
                by=value_of.by,
                bound=bound_of.bound,
                bound_by=bound_of.bound_by,
            )
        )
    return tuple(found)
