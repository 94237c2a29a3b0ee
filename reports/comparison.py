"""Optimal beside greedy: which tier tells them apart, which pods differ, and why it matters."""

from rich.console import Group, RenderableType
from rich.text import Text

from ..models import tiers as names
from ..models.plan import ComparedPod, ComparedTier, Comparison
from .layout import section
from .plan import limited, summary, verdict
from .section import Kind
from .view import EVERYTHING, View
from .words import count, listed


def comparison_report(comparison: Comparison, view: View = EVERYTHING) -> RenderableType:
    """Return the report of a comparison: both in a line, why it matters, tiers, pods that differ."""
    optimal, greedy, spared = comparison.optimal, comparison.greedy, comparison.without_evictions
    parts: list[RenderableType] = [
        Text(optimal.instance, style="bold"),
        Text(f"  optimal: {summary(optimal)} ({verdict(optimal)})"),
        Text(f"  greedy:  {summary(greedy)}"),
        *([Text(f"  without evictions: {summary(spared.plan)} ({verdict(spared.plan)})")] if spared else []),
        *([Text(f"  limits of both: {limited(optimal.limits)}")] if optimal.limits is not None else []),
        *view.remark,
        Text(""),
        Text(why_it_matters(comparison), style="bold" if comparison.first_difference else "bold green"),
    ]
    if not greedy.stats.admissible:
        parts.append(
            Text(
                "Greedy's outcome is not admissible: it wasted an eviction, evicted a pod it had bound, or "
                "evicted part of a group that is evicted whole.",
                style="yellow",
            )
        )
    return Group(*parts, *_tiers(comparison), *_pods(comparison, view), *_without_evictions(comparison, view))


def why_it_matters(comparison: Comparison) -> str:
    """Return the sentence that a reader should remember of this comparison."""
    tier = next((t for t in comparison.tiers if t.name == comparison.first_difference), None)
    if tier is None:
        if not comparison.greedy.stats.admissible and comparison.optimal.status == "OPTIMAL":
            return "No plan beats greedy's outcome in any tier."
        if comparison.optimal.status == "OPTIMAL":
            return "Greedy is optimal here: no plan is better in any tier."
        return "Equal in every tier so far; what is not proven may still be improved."
    match = names.OF_LEVEL.fullmatch(tier.name)
    if match is None:
        return _other(tier)
    kind, priority, victim = match.groups()
    if kind == "scheduled":
        stranded = [p.pod for p in comparison.pods if p.greedy is None and p.optimal is not None]
        pods = f": {listed(stranded)}" if len(stranded) == tier.optimal - tier.greedy else ""
        lost = count(tier.optimal - tier.greedy, "pod")
        return f"Greedy strands {lost} of priority {priority} that can run{pods}."
    if kind == "violations":
        evictions = count(tier.greedy, "eviction")
        return f"Greedy violates budgets with {evictions} for priority {priority}; {_enough(tier)}."
    return f"Greedy evicts {count(tier.greedy, 'pod')} of priority {victim}; {_enough(tier)}."


def _enough(tier: ComparedTier) -> str:
    if tier.optimal == 0:
        return "none is needed"
    return f"{tier.optimal} is enough" if tier.optimal == 1 else f"{tier.optimal} are enough"


def _other(tier: ComparedTier) -> str:
    what = {
        names.FALLBACK: "Greedy breaks constraints that fell back by a skew of",
        names.FIRST_AVAILABLE: "Greedy's device choices are further from first choice:",
        names.DESIRED_COUNT: "Greedy leaves less room for pods that groups still expect:",
    }.get(tier.name, f"Both place the same pods; the preference '{tier.name}' tells them apart:")
    return f"{what} {tier.greedy} against {tier.optimal}."


def _tiers(comparison: Comparison) -> list[RenderableType]:
    rows = [
        _tier_row(tier, tier.name == comparison.first_difference)
        for tier in comparison.tiers
        if not (tier.sense == "min" and tier.optimal == tier.greedy == 0)
    ]
    columns = ("tier", "optimal", "bound", "greedy", "")
    return section("Tiers, most important first", columns, rows, (1, 2, 3), "tiers")


def _tier_row(tier: ComparedTier, first: bool) -> tuple[RenderableType, ...]:
    style = "bold" if first else ""
    bound = "" if tier.bound is None else str(tier.bound)
    return (
        Text(tier.name, style=style),
        Text(str(tier.optimal), style=style),
        Text(bound if tier.proven else f"{bound} (open)", style="" if tier.proven else "yellow"),
        Text(str(tier.greedy), style=style),
        Text("<- first difference" if first else "", style="bold yellow"),
    )


def differing(comparison: Comparison) -> list[ComparedPod]:
    """Return the pods that differ; those that only one of the two places come first."""
    return sorted(comparison.pods, key=lambda p: (p.greedy is not None and p.optimal is not None, p.pod))


def _pods(comparison: Comparison, view: View) -> list[RenderableType]:
    pods = [pod for pod in differing(comparison) if view.shows(pod.pod)]
    rows: list[tuple[RenderableType, ...]] = [
        (
            pod.pod,
            *view.of_pod(pod.pod),
            _place(pod.greedy),
            *view.of_node(pod.greedy),
            _place(pod.optimal),
            *view.of_node(pod.optimal),
            _meaning(pod),
        )
        for pod in pods
    ]
    zone = view.about_node
    columns = ("pod", *view.about_pod, "greedy", *zone, "optimal", *zone, "")
    kinds = [Kind([pod.pod], (*("",) * (len(columns) - 2), _meaning(pod))) for pod in pods]
    return section("Pods that differ", columns, rows, view.numbers, "pods", kinds=kinds)


def _without_evictions(comparison: Comparison, view: View) -> list[RenderableType]:
    """Return where the pods that evictions place would be without any."""
    found = comparison.without_evictions
    pods = [pod for pod in found.pods if view.shows(pod.pod)] if found is not None else []
    rows = [(pod.pod, pod.optimal, _place(pod.without_evictions)) for pod in pods]
    columns = ("pod", "optimal", "without evictions")
    return section("Pods that evictions place", columns, rows, (), "pods")


def _place(node: str | None) -> Text:
    return Text("pending", style="red") if node is None else Text(node)


def _meaning(pod: ComparedPod) -> str:
    if pod.greedy is None:
        return "runs only in the optimum"
    return "runs only with greedy" if pod.optimal is None else "moved"
