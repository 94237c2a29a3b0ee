"""Report of a plan: what happens to which pods, and what could not be done and why."""

from collections import defaultdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from ..models.plan import Fallback, Plan, Tier, Unschedulable
from .layout import section
from .words import count, listed


def plan_report(plan: Plan) -> RenderableType:
    """Return the report of one plan: headline, tiers, placements, evictions, fallbacks, pods left out."""
    return Group(
        *headline(plan),
        *_tiers(plan),
        *_placements(plan),
        *_evictions(plan),
        *_groups(plan),
        *_allocations(plan),
        *_fallbacks(plan),
        *left_out(plan),
    )


def summary(plan: Plan) -> str:
    """Return the counts of a plan in one line, which headline and comparison share."""
    violations = sum(bool(eviction.violates) for eviction in plan.evictions)
    placed = len(plan.placed())
    parts = [
        f"{placed} of {count(placed + len(plan.unschedulable), 'pod')} scheduled",
        count(len(plan.evictions), "eviction"),
        count(violations, "budget violation"),
    ]
    applied = sum(fallback.applied for fallback in plan.fallbacks)
    if applied:
        parts.append(count(applied, "fallback") + " applied")
    return ", ".join(parts)


def verdict(plan: Plan) -> str:
    """Return what is proven about the plan, in one line."""
    seconds = f"{plan.stats.wall_seconds:.1f} s"
    if plan.scheduler == "greedy":
        return f"greedy, {seconds}"
    if plan.status == "OPTIMAL":
        return f"proven optimal, {seconds}"
    return f"best plan found in {seconds}; " + _first_gap(plan)


def _first_gap(plan: Plan) -> str:
    for tier in plan.tiers:
        if not tier.proven:
            return f"{tier.name} is {tier.value}, {_bound(tier)}"
    return "every tier is proven"


def _bound(tier: Tier) -> str:
    if tier.bound is None:
        return "with no bound yet"
    side = "at most" if tier.sense == "max" else "at least"
    return f"{side} {tier.bound} (gap {abs(tier.bound - tier.value)})"


def headline(plan: Plan) -> list[RenderableType]:
    """Return what happens and what is proven, in two lines, and a warning where the plan is no plan."""
    style = "bold green" if plan.status == "OPTIMAL" else "bold"
    replayed = f", replayed in {count(len(plan.steps), 'step')}" if plan.stats.verified else ""
    lines: list[RenderableType] = [
        Text.assemble((plan.instance, "bold"), ": ", (summary(plan), style)),
        Text(verdict(plan) + replayed),
    ]
    if not plan.stats.admissible:
        lines.append(
            Text(
                "not admissible: an eviction was wasted, a pod was evicted that this round had bound, or "
                "a group that is evicted whole lost only some of its pods",
                style="yellow",
            )
        )
    return lines


def _trivial(tier: Tier) -> bool:
    return tier.value == 0 and tier.sense == "min" and tier.bound in (0, None)


def _tiers(plan: Plan) -> list[RenderableType]:
    rows = [
        (
            tier.name,
            str(tier.value),
            "" if tier.bound is None else str(tier.bound),
            Text("proven", style="green") if tier.proven else "",
        )
        for tier in plan.tiers
        if not _trivial(tier)
    ]
    return section("Tiers, most important first", ("tier", "value", "bound", ""), rows, (1, 2), "tiers")


def _placements(plan: Plan) -> list[RenderableType]:
    nominated = {nomination.pod for nomination in plan.nominations}
    on_node: dict[str, list[str]] = defaultdict(list)
    for pod, node in plan.placed().items():
        on_node[node].append(f"{pod}*" if pod in nominated else pod)
    rows = [(node, str(len(pods)), listed(pods)) for node, pods in sorted(on_node.items())]
    title = "Placements" + (" (* nominated: after an eviction)" if nominated else "")
    return section(title, ("node", "pods", ""), rows, (1,), "nodes")


def _evictions(plan: Plan) -> list[RenderableType]:
    rows = [
        (
            eviction.pod,
            eviction.node,
            eviction.preemptor or "nobody (wasted)",
            Text(listed(eviction.violates), style="red"),
        )
        for eviction in plan.evictions
    ]
    return section("Evictions", ("pod", "node", "makes room for", "violates"), rows, rest="evictions")


def _groups(plan: Plan) -> list[RenderableType]:
    rows = [(p.pod_group, p.key, p.domain, str(p.scheduled)) for p in plan.placements]
    return section("Pod groups", ("group", "key", "domain", "new members"), rows, (3,), "groups")


def _allocations(plan: Plan) -> list[RenderableType]:
    rows = [(a["claim"], a.get("node") or "", listed(map(_device, a["devices"]))) for a in plan.allocations]
    return section("Devices", ("claim", "node", "devices"), rows, rest="claims")


def _device(result: dict[str, Any]) -> str:
    return f"{result['request']}={result['pool']}/{result['device']}"


def _applied(fallback: Fallback) -> str:
    if not fallback.applied:
        return "not needed"
    if fallback.skew is None:
        return "the node does not have the key"
    return f"skew {fallback.skew}, maxSkew {fallback.max_skew}"


def _fallbacks(plan: Plan) -> list[RenderableType]:
    rows = [
        (
            fallback.pod,
            fallback.topology_key,
            listed(fallback.criteria),
            _applied(fallback),
        )
        for fallback in plan.fallbacks
    ]
    return section("Fallbacks", ("pod", "topology key", "criteria", "applied"), rows, rest="fallbacks")


def left_out(plan: Plan) -> list[RenderableType]:
    """Return the pods that wait and why; those that wait for the same reason share a row."""
    groups: dict[tuple[str, tuple[str, ...]], list[Unschedulable]] = defaultdict(list)
    for pod in plan.unschedulable:
        groups[pod.message, pod.blocked_by].append(pod)
    rows = [
        (listed(pod.pod for pod in pods), listed(blocked_by), message)
        for (message, blocked_by), pods in groups.items()
    ]
    return section("Left out", ("pods", "blocked by", "kube-scheduler's message"), rows, rest="reasons")
