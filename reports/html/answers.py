"""What plans say by themselves: their tiers with bounds, who is evicted, who waits and why."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from ..comparison import why_it_matters
from ..plan import INADMISSIBLE, summary, verdict
from ..upgrade import what_changes
from ..words import reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ...models.plan import CompositePlacement, Placement, Plan, Tier, Upgrade
    from .reading import Rounds


def headlines(rounds: Rounds) -> list[dict[str, Any]]:
    """Return what each plan does and what is proven about it, in words."""
    return [
        {
            "name": name,
            "summary": summary(plan),
            "verdict": verdict(plan),
            "steps": len(plan.steps),
            "verified": plan.stats.verified,
            "warning": "" if plan.stats.admissible else INADMISSIBLE,
            "interrupted": plan.stats.interrupted,
        }
        for name, plan in rounds.plans.items()
    ]


def conclusion(rounds: Rounds) -> str:
    """Return the sentence that a reader should remember; empty where there is one plan only."""
    if rounds.upgrade is not None:
        return what_changes(rounds.upgrade)
    return "" if rounds.comparison is None else why_it_matters(rounds.comparison)


def tier_rows(rounds: Rounds) -> list[dict[str, Any]]:
    """Return tiers, most important first: every plan's value, and bound and gap of the plan that has bounds.

    `zero` marks tiers that are 0 everywhere and cannot be less.
    """
    if rounds.upgrade is not None:
        return _changed_tiers(rounds.upgrade)
    plans = rounds.plans
    first = rounds.comparison.first_difference if rounds.comparison else None
    rows = []
    for tiers in zip(*(plan.tiers for plan in plans.values()), strict=True):
        best = tiers[0]
        rows.append(
            {
                "name": best.name,
                "sense": best.sense,
                "values": {name: tier.value for name, tier in zip(plans, tiers, strict=True)},
                "bound": best.bound,
                "gap": None if best.bound is None else abs(best.bound - best.value),
                "proven": best.proven,
                "first": best.name == first,
                "zero": all(_trivial(tier) for tier in tiers),
            }
        )
    return rows


def _changed_tiers(upgrade: Upgrade) -> list[dict[str, Any]]:
    """Return the tiers of two releases, as `tier_rows`; nothing is proven of greedy's plans."""
    return [
        {
            "name": tier.name,
            "sense": tier.sense,
            "values": {upgrade.kube_version: tier.before, upgrade.against: tier.after},
            "bound": None,
            "gap": None,
            "proven": False,
            "first": tier.name == upgrade.first_difference,
            "zero": tier.sense == "min" and not (tier.before or tier.after),
        }
        for tier in upgrade.tiers
    ]


def _trivial(tier: Tier) -> bool:
    return tier.value == 0 and tier.sense == "min" and tier.bound in (0, None)


def evictions(plans: Mapping[str, Plan]) -> list[dict[str, Any]]:
    """Return who is evicted in which plan, for whom, and which budgets that violates."""
    rows: dict[str, dict[str, Any]] = {}
    for name, plan in plans.items():
        for item in plan.evictions:
            row = rows.setdefault(item.pod, {"pod": item.pod, "node": item.node, "by": {}})
            row["by"][name] = {"preemptor": item.preemptor, "violates": list(item.violates)}
    return list(rows.values())


def left_out(plans: Mapping[str, Plan], whys: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
    """Return the pods that wait after each plan, those with one reason together, the largest group first.

    `message` is kube-scheduler's for the first pod of the group; `reason` is the message without its counts
    of nodes, which all of them share. `why` has what is proven (`whys`, by pod) about any of them.
    """
    proven = whys or {}
    rows = []
    for name, plan in plans.items():
        alike: dict[tuple[tuple[str, ...], str], list[tuple[str, str]]] = defaultdict(list)
        for item in plan.unschedulable:
            alike[item.blocked_by, reason(item.message)].append((item.pod, item.message))
        rows += [
            {
                "plan": name,
                "blockedBy": list(blocked_by),
                "reason": words,
                "message": found[0][1],
                "pods": [pod for pod, _ in found],
                "why": {pod: proven[pod] for pod, _ in found if pod in proven},
            }
            for (blocked_by, words), found in sorted(alike.items(), key=lambda item: -len(item[1]))
        ]
    return rows


def _placements(plan: Plan) -> Iterator[tuple[str, Placement | CompositePlacement]]:
    for single in plan.placements:
        yield single.pod_group, single
    for tree in plan.composite_placements:
        yield f"{tree.composite_pod_group} (composite)", tree


def other_decisions(plans: Mapping[str, Plan]) -> dict[str, list[dict[str, Any]]]:
    """Return where pod groups went, which claims got which devices, and which constraints fell back."""
    return {
        "placements": [
            {"plan": name, "group": group, "key": p.key, "domain": p.domain, "scheduled": p.scheduled}
            for name, plan in plans.items()
            for group, p in _placements(plan)
        ],
        "claims": [
            {
                "plan": name,
                "claim": item["claim"],
                "node": item.get("node"),
                "devices": [f"{d['request']} = {d['pool']}/{d['device']}" for d in item["devices"]],
            }
            for name, plan in plans.items()
            for item in plan.allocations
        ],
        "fallbacks": [
            {"plan": name, **item.model_dump(by_alias=True)}
            for name, plan in plans.items()
            for item in plan.fallbacks
        ],
    }


def search_progress(plans: Mapping[str, Plan]) -> list[dict[str, Any]]:
    """Return what each search knew when, tier by tier: moments, and the value and the bound from each on."""
    rows = []
    for name, plan in plans.items():
        for tier in plan.tiers:
            points = [point for point in plan.stats.progress if point.tier == tier.name]
            if points:
                rows.append(
                    {
                        "plan": name,
                        "tier": tier.name,
                        "seconds": [point.seconds for point in points],
                        "values": [point.value for point in points],
                        "bounds": [point.bound for point in points],
                    }
                )
    return rows
