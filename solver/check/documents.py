"""Which check a document of an earlier command asks for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ...models.errors import KubestowError
from ...models.eviction_limits import EvictionLimits
from ...models.plan import Comparison, Limits, Plan
from .answers import Finding, check_answer
from .comparisons import check_comparison
from .plans import check_plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...models.snapshot import Snapshot


def instance_of(document: Mapping[str, Any]) -> str | None:
    """Return the input that a document names, itself or in the plan that it compares; None without one."""
    plan = document.get("optimal")
    inside = plan.get("instance") if isinstance(plan, dict) else None
    name = document.get("instance") or inside
    return name if isinstance(name, str) else None


def check_document(snapshot: Snapshot, document: Mapping[str, Any]) -> list[Finding]:
    """Check what a document of `solve`, `compare` or `explain --why` claims.

    Raises
    ------
    KubestowError
        Where it is none of these.
    """
    if "answer" in document:
        return check_answer(_limited_answer(snapshot, document), document)
    try:
        if "optimal" in document:
            comparison = Comparison.model_validate(document)
            return check_comparison(_limited(snapshot, comparison.optimal), comparison)
        plan = Plan.model_validate(document)
        return check_plan(_limited(snapshot, plan), plan)
    except ValidationError as error:
        fault = error.errors()[0]
        field = ".".join(map(str, fault["loc"]))
        raise KubestowError(
            f"no document of `kubestow solve`, `compare` or `explain --why` in JSON: {field}: {fault['msg']}"
        ) from None


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
