"""Report of a plan: what happens to which pods, and what could not be done and why."""

from collections import defaultdict
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

from ..models.plan import Fallback, Limits, Plan, Tier
from .layout import section
from .section import Kind
from .view import EVERYTHING, View
from .words import count, listed, reason

INADMISSIBLE: Final = (
    "not admissible: an eviction was wasted, a pod was evicted that this round had bound, or a group that is "
    "evicted whole lost only some of its pods"
)


def plan_report(plan: Plan, view: View = EVERYTHING) -> RenderableType:
    """Return the report of one plan: headline, tiers, placements, evictions, fallbacks, pods left out."""
    return Group(
        *headline(plan),
        *view.remark,
        *_tiers(plan),
        *(_placed_pods(plan, view) if view.wide else _placements(plan, view)),
        *_evictions(plan, view),
        *_groups(plan, view),
        *_allocations(plan, view),
        *_fallbacks(plan, view),
        *left_out(plan, view),
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
    return f"best plan found in {seconds}; " + first_gap(plan)


def first_gap(plan: Plan) -> str:
    """Return how far the first tier that is not proven may be from its best value."""
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
    if plan.limits is not None:
        lines.append(Text(f"limits: {limited(plan.limits)}"))
    if not plan.stats.admissible:
        lines.append(Text(INADMISSIBLE, style="yellow"))
    return lines


def limited(limits: Limits) -> str:
    """Return the limits on evictions in one line."""
    parts = []
    if limits.max_evictions is not None:
        parts.append(_at_most(limits.max_evictions, "eviction"))
    if limits.max_violations is not None:
        parts.append(_at_most(limits.max_violations, "budget violation"))
    if limits.never_evict:
        parts.append(f"never evicted: {', '.join(limits.never_evict)}")
    return "; ".join(parts)


def _at_most(most: int, what: str) -> str:
    return f"at most {count(most, what)}" if most else f"no {what}s"


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


def _placements(plan: Plan, view: View) -> list[RenderableType]:
    """Return a row for each node."""
    nominated = {nomination.pod for nomination in plan.nominations}
    on_node: dict[str, list[str]] = defaultdict(list)
    for pod, node in plan.placed().items():
        if view.shows(pod):
            on_node[node].append(f"{pod}*" if pod in nominated else pod)
    rows = [(node, str(len(pods)), view.listed(pods)) for node, pods in sorted(on_node.items())]
    title = "Placements" + (" (* nominated: after an eviction)" if nominated else "")
    return section(title, ("node", "pods", ""), rows, (1,), "nodes")


def _placed_pods(plan: Plan, view: View) -> list[RenderableType]:
    """Return a row for each pod."""
    victims = {nomination.pod: nomination.victims for nomination in plan.nominations}
    rows = [
        (pod, *view.of_pod(pod), node, *view.of_node(node), ", ".join(victims.get(pod, ())))
        for pod, node in sorted(plan.placed().items(), key=lambda item: (item[1], item[0]))
        if view.shows(pod)
    ]
    columns = ("pod", *view.about_pod, "node", *view.about_node, "victims")
    return section("Placements", columns, rows, view.numbers, "pods")


def _evictions(plan: Plan, view: View) -> list[RenderableType]:
    rows: list[tuple[RenderableType, ...]] = []
    kinds: list[Kind] = []
    for eviction in plan.evictions:
        preemptor, violates = eviction.preemptor or "", listed(eviction.violates)
        if not (view.shows(eviction.pod) or (preemptor and view.shows(preemptor))):
            continue
        about, zone = view.of_pod(eviction.pod), view.of_node(eviction.node)
        beneficiary = preemptor or "nobody (wasted)"
        red = Text(violates, style="red")
        row: tuple[RenderableType, ...] = (eviction.pod, *about, eviction.node, *zone, beneficiary, red)
        rows.append(row)
        for_whom = "" if preemptor else beneficiary
        blanks = ("",) * (len(row) - 3)
        kinds.append(Kind([eviction.pod], (*blanks, for_whom, violates)))
    columns = ("pod", *view.about_pod, "node", *view.about_node, "makes room for", "violates")
    return section("Evictions", columns, rows, view.numbers, "evictions", kinds=kinds)


def _groups(plan: Plan, view: View) -> list[RenderableType]:
    rows = [
        (p.pod_group, p.key, p.domain, str(p.scheduled))
        for p in plan.placements
        if view.shows_namespace(p.pod_group)
    ]
    rows += [
        (f"{p.composite_pod_group} (composite)", p.key, p.domain, str(p.scheduled))
        for p in plan.composite_placements
        if view.shows_namespace(p.composite_pod_group)
    ]
    return section("Pod groups", ("group", "key", "domain", "new members"), rows, (3,), "groups")


def _allocations(plan: Plan, view: View) -> list[RenderableType]:
    rows = [
        (a["claim"], a.get("node") or "", view.listed(map(_device, a["devices"])))
        for a in plan.allocations
        if view.shows_namespace(a["claim"])
    ]
    return section("Devices", ("claim", "node", "devices"), rows, rest="claims")


def _device(result: dict[str, Any]) -> str:
    return f"{result['request']}={result['pool']}/{result['device']}"


def _applied(fallback: Fallback) -> str:
    if not fallback.applied:
        return "not needed"
    if fallback.skew is None:
        return "the node does not have the key"
    return f"skew {fallback.skew}, maxSkew {fallback.max_skew}"


def _fallbacks(plan: Plan, view: View) -> list[RenderableType]:
    rows, kinds = [], []
    for fallback in plan.fallbacks:
        if not view.shows(fallback.pod):
            continue
        cells = (fallback.topology_key, listed(fallback.criteria), _applied(fallback))
        rows.append((fallback.pod, *cells))
        kinds.append(Kind([fallback.pod], cells))
    columns = ("pod", "topology key", "criteria", "applied")
    return section("Fallbacks", columns, rows, rest="fallbacks", kinds=kinds)


def left_out(plan: Plan, view: View = EVERYTHING) -> list[RenderableType]:
    """Return the pods that wait and why; those that wait for the same reason share a row."""
    waiting = [pod for pod in plan.unschedulable if view.shows(pod.pod)]
    columns = ("blocked by", "kube-scheduler's message")
    if view.wide:
        single = [(p.pod, *view.of_pod(p.pod), ", ".join(p.blocked_by), p.message) for p in waiting]
        return section("Left out", ("pod", *view.about_pod, *columns), single, view.numbers, "pods")
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for pod in waiting:
        groups[pod.message, pod.blocked_by].append(pod.pod)
    rows = [
        (view.listed(pods), listed(blocked_by), message) for (message, blocked_by), pods in groups.items()
    ]
    kinds = [
        Kind(pods, (listed(blocked_by), reason(message))) for (message, blocked_by), pods in groups.items()
    ]
    return section("Left out", ("pods", *columns), rows, rest="reasons", kinds=kinds)
