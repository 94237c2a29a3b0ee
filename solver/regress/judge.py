"""What a scheduler's vector of tiers is beside the best known one.

A bound holds given the values of the tiers above. Down to the first tier whose value is another one these are
the same now as then, so that each bound speaks of both vectors; below it bounds speak of different plans and
are not compared. Source: docs/regress.md, "What is compared".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ...models.plan import Tier
from ...models.regress import JudgedRound, JudgedTier, Verdict
from ...models.suite import is_beyond
from ..compare import first_changed, is_worse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...models.plan import Sense
    from ...models.suite import KnownTier


def judged(
    scheduler: Literal["greedy", "optimal"], known: Sequence[KnownTier], now: Sequence[Tier], version: str
) -> JudgedRound:
    """Judge a vector that `version` found; a tier that one of them lacks counts as 0."""
    changed = first_difference(known, now)
    shared = comparable(now, changed[0].name if changed else None)
    wrong = tuple(_contradictions(known, shared, version))
    before = {tier.name: tier for tier in known}
    verdict: Verdict = "equal"
    if wrong:
        verdict = "contradiction"
    elif changed:
        verdict = "worse" if is_worse(*changed) else "better"
    elif any(is_tighter(tier.sense, tier.bound, _bound(before.get(tier.name))) for tier in now):
        verdict = "tighter"
    return JudgedRound(
        scheduler=scheduler,
        verdict=verdict,
        first_difference=changed[0].name if changed else None,
        contradictions=wrong,
        tiers=tuple(_tiers(known, now)),
    )


def first_difference(known: Sequence[KnownTier], now: Sequence[Tier]) -> tuple[Tier, int] | None:
    """Return the first tier with another value than is known, as `compare.first_changed` does.

    Tiers that are no more come last; they count as 0 now.
    """
    names = {tier.name for tier in now}
    gone = (
        Tier(name=tier.name, sense=tier.sense, value=0, bound=None, proven=False)
        for tier in known
        if tier.name not in names
    )
    return first_changed({tier.name: tier.value for tier in known}, (*now, *gone))


def comparable(now: Sequence[Tier], differs: str | None) -> list[Tier]:
    """Return the tiers down to the first that differs: those of which each bound speaks of both vectors."""
    found = []
    for tier in now:
        found.append(tier)
        if tier.name == differs:
            break
    return found


def is_tighter(sense: Sense, bound: int | None, other: int | None) -> bool:
    """Whether a bound says more than another one; any bound says more than none."""
    if bound is None or other is None:
        return bound is not None
    return is_beyond(sense, other, bound)


def _contradictions(known: Sequence[KnownTier], shared: Sequence[Tier], version: str) -> Iterator[str]:
    before = {tier.name: tier for tier in known}
    for now in shared:
        then = before.get(now.name)
        if then is None:
            continue
        if then.bound is not None and is_beyond(now.sense, now.value, then.bound):
            yield (
                f"{now.name} is {now.value} by {version}, "
                f"beyond the bound {then.bound} that {then.bound_by} proved"
            )
        if now.bound is not None and is_beyond(now.sense, then.value, now.bound):
            yield (
                f"{now.name} was {then.value} by {then.by}, "
                f"beyond the bound {now.bound} that {version} proves"
            )


def _bound(tier: KnownTier | None) -> int | None:
    return None if tier is None else tier.bound


def _tiers(known: Sequence[KnownTier], now: Sequence[Tier]) -> Iterator[JudgedTier]:
    """Yield today's tiers in their order, then those that are no more."""
    before = {tier.name: tier for tier in known}
    for tier in now:
        then = before.pop(tier.name, None)
        yield JudgedTier(
            name=tier.name,
            sense=tier.sense,
            known=None if then is None else then.value,
            known_bound=_bound(then),
            value=tier.value,
            bound=tier.bound,
        )
    for then in before.values():
        yield JudgedTier(
            name=then.name,
            sense=then.sense,
            known=then.value,
            known_bound=then.bound,
            value=None,
            bound=None,
        )
