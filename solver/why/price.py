"""What it costs others that a placeable pod is placed: the best plan beside the best one that places it.

The first tier in which the two differ is the cost. It is proven where both plans are proven as far as that
tier; where time was out before, the bound of the second plan may still show that there is some cost.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...models.tiers import ASKED
from ..api import solve_both, solve_round
from .evidence import evidence_of, placement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...models.plan import Plan, Tier
    from ...models.snapshot import Snapshot
    from ..options import ProgressCallback
    from .clock import Clock
    from .placeable import Answer

_FIRST = 0.55
"""The best plan's share of the time; the other has what is left."""


def price(
    snapshot: Snapshot, answer: Answer, clock: Clock, progress: ProgressCallback | None
) -> dict[str, Any]:
    """Return what becomes of a placeable pod in the best plan, or what it costs that it is placed.

    Parameters
    ----------
    snapshot : Snapshot
        The round, with the pods as `asked`.
    answer : Answer
        A plan that places one of them: the answer where no time is left.
    clock : Clock
        The time of the whole question.

    Returns
    -------
    dict
        A JSON value (docs/why.md): `answer` is `placed`, `atACost` or `placeable`.
    """
    keys = frozenset(snapshot.asked)
    placeable = {"answer": "placeable", **placement(answer)}
    if clock.left <= 0:
        return placeable
    best, greedy = solve_both(replace(snapshot, asked=()), clock.options(_FIRST), progress)
    if keys & best.placed().keys():
        return {"answer": "placed", **_placed(best, greedy, keys)}
    if best.stats.interrupted or clock.left <= 0:
        return placeable
    forced = solve_round(snapshot, clock.options(), progress, known=answer.outcome).plan
    if not forced.stats.admissible:
        return placeable  # greedy's outcome, which is no plan, was better than every plan that was found
    tiers = list(zip(best.tiers, (tier for tier in forced.tiers if tier.name != ASKED), strict=True))
    k = next((k for k, (one, other) in enumerate(tiers) if one.value != other.value), None)
    if k is not None and _better(tiers[k][1], tiers[k][0]):
        return {"answer": "placed", **_placed(forced, greedy, keys)}  # time was out before the best was found
    return {"answer": "atACost", **_cost(best, forced, tiers, k, keys)}


def _better(one: Tier, other: Tier) -> bool:
    return one.value > other.value if one.sense == "max" else one.value < other.value


def _placed(best: Plan, greedy: Plan, keys: frozenset[str]) -> dict[str, Any]:
    messages = {item.pod: item.message for item in greedy.unschedulable}
    victims = {item.pod: list(item.victims) for item in best.nominations}
    placed = {pod: node for pod, node in best.placed().items() if pod in keys}
    return {
        "status": best.status if all(tier.name != ASKED for tier in best.tiers) else "FEASIBLE",
        "placed": placed,
        "victims": sorted({v for pod in placed for v in victims.get(pod, ())}),
        "greedy": {pod: greedy.placed().get(pod) for pod in placed},
        "greedyMessages": {pod: messages[pod] for pod in placed if pod in messages},
        "evidence": evidence_of(best),
    }


def _cost(
    best: Plan, forced: Plan, tiers: Sequence[tuple[Tier, Tier]], k: int | None, keys: frozenset[str]
) -> dict[str, Any]:
    """Compare the best plan with the best one that places the pods; tier k is the first that differs."""
    ours, placed = best.placed(), forced.placed()
    return {
        "status": best.status if best.status == forced.status else "FEASIBLE",
        "tier": None if k is None else difference(tiers, k),
        "placed": {pod: node for pod, node in placed.items() if pod in keys},
        "leftOut": sorted(ours.keys() - placed.keys()),
        "evicted": sorted({e.pod for e in forced.evictions} - {e.pod for e in best.evictions}),
        "spared": sorted({e.pod for e in best.evictions} - {e.pod for e in forced.evictions}),
        "evidence": evidence_of(forced),
        **({"bestEvidence": evidence_of(best)} if best.stats.admissible else {}),
    }


def difference(tiers: Sequence[tuple[Tier, Tier]], k: int) -> dict[str, Any]:
    """Write the tier that differs first, and what is certain about the difference.

    A bound holds given the values of the tiers above. Where these are proven, every plan that places the pods
    loses in one of them or keeps to the bound of the second plan.
    """
    before, after = tiers[k]
    above = all(one.proven and other.proven for one, other in tiers[:k])
    limit = after.bound if above else None
    short = limit is not None and (limit < before.value if before.sense == "max" else limit > before.value)
    return {
        "name": before.name,
        "sense": before.sense,
        "best": before.value,
        "bestBound": before.bound if above else None,
        "with": after.value,
        "withBound": limit,
        "proven": above and before.proven and after.proven,
        "certain": short,
    }
