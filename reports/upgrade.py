"""An upgrade of kube-scheduler: which pods start, wait, move, or are evicted, and which tier tells it."""

from collections import Counter
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from ..models.plan import ChangedPod, PodChange, Upgrade
from .layout import section
from .plan import summary
from .section import Kind
from .view import EVERYTHING, View
from .words import count

_MEANING: Final[dict[PodChange, tuple[str, str]]] = {
    "starts": ("start", "runs only after the upgrade"),
    "waits": ("wait", "runs only before the upgrade"),
    "moves": ("move", "goes to another node"),
    "evicted": ("be evicted", "is evicted only after the upgrade"),
    "spared": ("be spared", "is evicted only before the upgrade"),
}
"""What becomes of a pod, as a verb and as a remark."""


def upgrade_report(upgrade: Upgrade, view: View = EVERYTHING) -> RenderableType:
    """Return the report of an upgrade: both releases in a line, what changes, tiers, pods."""
    old, new = f"kube-scheduler {upgrade.kube_version}", f"kube-scheduler {upgrade.against}"
    parts: list[RenderableType] = [
        Text(upgrade.before.instance, style="bold"),
        Text(f"  {old}: {summary(upgrade.before)}"),
        Text(f"  {new}: {summary(upgrade.after)}"),
        *view.remark,
        Text(""),
        Text(what_changes(upgrade), style="bold"),
    ]
    return Group(*parts, *_tiers(upgrade), *_pods(upgrade, view))


def what_changes(upgrade: Upgrade) -> str:
    """Return the sentence that a reader should remember of this upgrade."""
    if not upgrade.pods:
        return "The upgrade changes nothing here: every pod is treated alike."
    numbers = Counter(pod.change for pod in upgrade.pods)
    told = [
        f"{count(numbers[change], 'pod')} would {verb}"
        for change, (verb, _) in _MEANING.items()
        if numbers[change]
    ]
    return f"After the upgrade {', '.join(told)}."


def _tiers(upgrade: Upgrade) -> list[RenderableType]:
    rows = [
        (
            Text(tier.name),
            Text(str(tier.before)),
            Text(str(tier.after)),
            Text("<- first difference" if tier.name == upgrade.first_difference else "", style="bold yellow"),
        )
        for tier in upgrade.tiers
        if tier.before or tier.after
    ]
    columns = ("tier", str(upgrade.kube_version), str(upgrade.against), "")
    return section("Tiers, most important first", columns, rows, (1, 2), "tiers")


def changed(upgrade: Upgrade) -> list[ChangedPod]:
    """Return the pods that differ; those that start, wait or are evicted come before those that only move."""
    return sorted(upgrade.pods, key=lambda pod: (pod.change == "moves", pod.pod))


def _pods(upgrade: Upgrade, view: View) -> list[RenderableType]:
    pods = [pod for pod in changed(upgrade) if view.shows(pod.pod)]
    rows: list[tuple[RenderableType, ...]] = [
        (pod.pod, *view.of_pod(pod.pod), *_places(pod), _MEANING[pod.change][1]) for pod in pods
    ]
    columns = ("pod", *view.about_pod, str(upgrade.kube_version), str(upgrade.against), "")
    blanks = ("",) * (len(columns) - 2)
    kinds = [Kind([pod.pod], (*blanks, _MEANING[pod.change][1])) for pod in pods]
    return section("Pods that differ", columns, rows, view.numbers, "pods", kinds=kinds)


def _places(pod: ChangedPod) -> tuple[Text, Text]:
    if pod.change in ("evicted", "spared"):
        return (
            Text("evicted", style="red") if pod.change == "spared" else Text("runs"),
            Text("evicted", style="red") if pod.change == "evicted" else Text("runs"),
        )
    before, after = (
        Text("pending", style="red") if node is None else Text(node) for node in (pod.before, pod.after)
    )
    return before, after
