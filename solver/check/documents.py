"""Which check a document of an earlier command asks for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from ...models.drain import Drain
from ...models.errors import KubestowError
from ...models.eviction_limits import EvictionLimits
from ...models.plan import Comparison, Limits, Plan
from ...models.rebalance import Rebalance
from .answers import Finding, check_answer
from .comparisons import check_comparison
from .moves import check_drain, check_rebalance
from .plans import check_plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...models.snapshot import Snapshot


_READ: Final = "`kubestow solve`, `compare`, `explain --why`, `drain` or `rebalance`"

_UNREAD: Final = {
    "suggest": {"answers", "othersMayWait"},
    "fit": {"podsPerCopy", "tried"},
    "provision": {"purchase", "heuristics"},
    "consolidate": {"priceNow", "priced"},
    "what-if": {"before", "scenarios"},
    "explain": {"causes", "message", "queue"},
}
"""Commands of which no document is checked, and fields that only theirs have."""


def instance_of(document: Mapping[str, Any]) -> str | None:
    """Return the input that a document names, itself or in the plan that it compares; None without one."""
    plan = document.get("optimal")
    inside = plan.get("instance") if isinstance(plan, dict) else None
    name = document.get("instance") or inside
    return name if isinstance(name, str) else None


def check_document(snapshot: Snapshot, document: Mapping[str, Any]) -> list[Finding]:
    """Check what a document of `solve`, `compare`, `explain --why`, `drain` or `rebalance` claims.

    Raises
    ------
    KubestowError
        Where it is none of these.
    """
    if "answer" in document:
        return check_answer(_limited_answer(snapshot, document), document)
    for command, fields in _UNREAD.items():
        if fields <= document.keys():
            raise KubestowError(
                f"a document of `kubestow {command}`, of which nothing is checked: "
                f"`kubestow check` reads those of {_READ}"
            )
    try:
        if {"verdict", "inNameOrder"} <= document.keys():
            return check_drain(snapshot, Drain.model_validate(document))
        if {"goal", "unmovable"} <= document.keys():
            return check_rebalance(snapshot, Rebalance.model_validate(document))
        if "optimal" in document:
            comparison = Comparison.model_validate(document)
            return check_comparison(_limited(snapshot, comparison.optimal), comparison)
        plan = Plan.model_validate(document)
        return check_plan(_limited(snapshot, plan), plan)
    except ValidationError as error:
        fault = error.errors()[0]
        field = ".".join(map(str, fault["loc"]))
        raise KubestowError(f"no document of {_READ}: {field}: {fault['msg']}") from None


def _limited_answer(snapshot: Snapshot, document: Mapping[str, Any]) -> Snapshot:
    """Return the round that an answer is about."""
    if "limits" not in document:
        return snapshot
    try:
        limits = Limits.model_validate(document["limits"])
        return replace(snapshot, limits=EvictionLimits.of_words(limits))
    except ValueError as error:
        raise KubestowError(f"no document of `kubestow explain --why -o json`: limits: {error}") from None


def _limited(snapshot: Snapshot, plan: Plan) -> Snapshot:
    """Return the round that a plan is of: limits on evictions are not of the input."""
    return replace(snapshot, limits=EvictionLimits.of(plan))
