"""What a scheduler's vector of tiers is beside the best known one.

A bound holds given the values of the tiers above. Down to the first tier whose value is another one these are
the same now as then, so that each bound speaks of both vectors; below it bounds speak of different plans and
are not compared. Source: docs/regress.md, "What is compared".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from ...models.regress import JudgedRound, JudgedTier, Verdict
from ...models.suite import is_beyond
from ..compare import is_worse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...models.plan import Sense, Tier
    from ...models.suite import KnownTier


def judged(
    scheduler: Literal["greedy", "optimal"],
    known: Sequence[KnownTier],
    now: Sequence[Tier],
    version: str,
    limits: Sequence[Limit] = (),
) -> JudgedRound:
    """Judge a vector that `version` found.

    Parameters
    ----------
    limits : sequence of Limit
        Bounds on any plan of the round, of greedy's too: `limits_of`.
    """
    changed = first_difference(known, now)
    shared = comparable(now, changed.name if changed else None)
    wrong = (*_contradictions(known, shared, version), *_beyond(limits, scheduler, known, now, version))
    before = {tier.name: tier for tier in known}
    verdict: Verdict = "equal"
    if wrong:
        verdict = "contradiction"
    elif changed and changed.is_worse:
        verdict = "worse"
    elif before.keys() != {tier.name for tier in now}:
        verdict = "incomplete"
    elif changed:
        verdict = "better"
    elif any(is_tighter(tier.sense, tier.bound, before[tier.name].bound) for tier in now):
        verdict = "tighter"
    return JudgedRound(
        scheduler=scheduler,
        verdict=verdict,
        first_difference=changed.name if changed else None,
        contradictions=wrong,
        tiers=tuple(_tiers(known, now)),
    )


class Difference(NamedTuple):
    """The first tier in which two vectors differ.

    Attributes
    ----------
    name : str
    is_worse : bool
        Whether today's value is the worse one; where only one of the vectors has the tier nothing is.
    """

    name: str
    is_worse: bool


def first_difference(known: Sequence[KnownTier], now: Sequence[Tier]) -> Difference | None:
    """Return the first tier with another value than is known, in today's order.

    A tier that only one of them has differs, whatever its value: what stands below it is of other plans.
    Tiers that are no more come last.
    """
    before = {tier.name: tier for tier in known}
    for tier in now:
        then = before.pop(tier.name, None)
        if then is None:
            return Difference(tier.name, is_worse=False)
        if then.value != tier.value:
            return Difference(tier.name, is_worse=is_worse(tier, then.value))
    return next((Difference(name, is_worse=False) for name in before), None)


class Limit(NamedTuple):
    """A bound that holds of every plan with the same values of the tiers above it, and one such plan.

    Attributes
    ----------
    values : dict
        The value of each tier down to this one, by name; the last one is that of the tier itself.
    sense : str
    bound : int
    words : str
        Who proved it, as a clause.
    """

    values: dict[str, int]
    sense: Sense
    bound: int
    words: str


def limits_of(known: Sequence[KnownTier], now: Sequence[Tier], version: str) -> list[Limit]:
    """Return the bounds that the optimal scheduler's vectors have: the best known one, and today's."""
    stored = [(tier, f"the bound {tier.bound} that {tier.bound_by} proved") for tier in known]
    found = [(tier, f"the bound {tier.bound} that {version} proves") for tier in now]
    limits: list[Limit] = []
    for vector in (stored, found):
        values: dict[str, int] = {}
        for tier, words in vector:
            values = {**values, tier.name: tier.value}
            if tier.bound is not None:
                limits.append(Limit(values, tier.sense, tier.bound, words))
    return limits


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


def _beyond(
    limits: Sequence[Limit], scheduler: str, known: Sequence[KnownTier], now: Sequence[Tier], version: str
) -> Iterator[str]:
    """Yield where a vector, stored or new, is beyond a bound on any plan."""
    told = set()
    vectors = (
        ({tier.name: tier.value for tier in now}, f"is %d by {version}"),
        ({tier.name: tier.value for tier in known}, "was %d"),
    )
    for values, words in vectors:
        for limit in limits:
            *above, name = limit.values
            value = values.get(name)
            alike = all(values.get(tier) == limit.values[tier] for tier in above)
            if value is not None and alike and is_beyond(limit.sense, value, limit.bound):
                if (name, value, limit.bound) in told:
                    continue
                told.add((name, value, limit.bound))
                yield f"{scheduler}'s {name} {words % value}, beyond {limit.words} of any plan"


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
