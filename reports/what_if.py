"""What if: the round before and after changes, as one table of all scenarios and the details of each."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from ..models.plan import Plan
from ..models.what_if import Fate, Round, TierValue, WhatIf, WhatIfPod, WhatIfScenario, WhatIfTier
from .layout import section
from .plan import first_gap
from .section import Kind
from .view import EVERYTHING, View
from .words import count

_MEANING: Final[dict[Fate, tuple[str, str]]] = {
    "starts": ("start", "runs only after the change"),
    "comes": ("be new and run", "new, and runs"),
    "waits": ("wait", "runs only before the change"),
    "queues": ("be new and wait", "new, and waits"),
    "evicted": ("be evicted", "is evicted only after the change"),
    "spared": ("be spared", "is evicted only before the change"),
    "lost": ("be lost", "is lost with its node: no controller makes it again"),
    "removed": ("go without loss", "goes without loss"),
    "moves": ("be elsewhere", "is on another node"),
}
"""What becomes of a pod, as a verb and as a remark, the more important first."""

_MARK: Final = "<- first difference"
_ORDER: Final = {fate: number for number, fate in enumerate(_MEANING)}


def what_if_report(answer: WhatIf, view: View = EVERYTHING) -> RenderableType:
    """Return the report: all rounds as one table, then what each scenario changes, its tiers and its pods."""
    parts: list[RenderableType] = [Text(answer.instance, style="bold"), *view.remark]
    parts += _rounds(answer)
    for scenario in answer.scenarios:
        parts += _scenario(scenario, view)
    return Group(*parts)


def _rounds(answer: WhatIf) -> list[RenderableType]:
    rows = [_round("before", answer.before, "")]
    rows += [_round(each.name, each.after, each.first_difference or "none") for each in answer.scenarios]
    columns = ("", "scheduled", "evictions", "violations", "greedy", "first difference", "proof")
    return section("Rounds", columns, rows, (1, 2, 3), "rounds")


def _round(name: str, solved: Round, difference: str) -> tuple[str, ...]:
    optimal, greedy = solved.optimal, solved.greedy
    violations = sum(bool(eviction.violates) for eviction in optimal.evictions)
    return (
        name,
        _scheduled(optimal),
        str(len(optimal.evictions)),
        str(violations),
        f"{_scheduled(greedy)}, {len(greedy.evictions)} evicted",
        difference,
        "proven optimal" if optimal.status == "OPTIMAL" else first_gap(optimal),
    )


def _scheduled(plan: Plan) -> str:
    placed = len(plan.placed())
    return f"{placed} of {placed + len(plan.unschedulable)}"


def _scenario(scenario: WhatIfScenario, view: View) -> list[RenderableType]:
    title = f": {scenario.title}" if scenario.title else ""
    parts: list[RenderableType] = [Text(""), Text.assemble((scenario.name, "bold"), title)]
    parts += [Text(f"  {line}") for line in _effects(scenario, view)]
    parts += [Text(line, style="bold") for line in what_changes(scenario)]
    return [*parts, *_tiers(scenario), *_pods(scenario, view)]


def _effects(scenario: WhatIfScenario, view: View) -> list[str]:
    """Return what the changes do to the cluster before anything is scheduled."""
    made_again = [item.pod for item in scenario.made_again]
    rows = (
        ("new nodes", scenario.new_nodes),
        ("nodes that are gone", scenario.lost_nodes),
        ("pods that are lost", scenario.lost),
        ("pods that their controllers make again", view.shown(made_again)),
        ("new pods", view.shown(scenario.new_pods)),
        ("pods that go without loss", view.shown(scenario.removed)),
    )
    lines = [f"{words}: {view.listed(names)}" for words, names in rows if names]
    return [*lines, *(f"note: {note}" for note in scenario.notes)]


def what_changes(scenario: WhatIfScenario) -> list[str]:
    """Return the sentences that a reader should remember of a scenario: of the optimum, and of greedy."""
    optimal, greedy = _told(scenario.pods), _told(scenario.greedy_pods)
    if not optimal and not greedy:
        return ["Nothing changes for any pod."]
    return [
        f"In the optimum {optimal or 'nothing changes'}.",
        f"With greedy {greedy or 'nothing changes'}.",
    ]


def _told(pods: tuple[WhatIfPod, ...]) -> str:
    """Return `1 pod would wait, 2 be elsewhere`; empty for none."""
    numbers = Counter(pod.change for pod in pods)
    told = [(numbers[change], verb) for change, (verb, _) in _MEANING.items() if numbers[change]]
    if not told:
        return ""
    (number, verb), *others = told
    return ", ".join([f"{count(number, 'pod')} would {verb}", *(f"{n} {words}" for n, words in others)])


def _tiers(scenario: WhatIfScenario) -> list[RenderableType]:
    rows = [
        (
            Text(tier.name),
            *_values(tier.before),
            *_values(tier.after),
            Text(
                "<- first difference" if tier.name == scenario.first_difference else "", style="bold yellow"
            ),
        )
        for tier in scenario.tiers
        if _says_something(tier)
    ]
    columns = ("tier", "before", "bound", "greedy", "after", "bound", "greedy", "")
    return section("Tiers, most important first", columns, rows, range(1, 7), "tiers")


def _says_something(tier: WhatIfTier) -> bool:
    return any(value and (value.optimal or value.greedy) for value in (tier.before, tier.after))


def _values(value: TierValue | None) -> tuple[Text, Text, Text]:
    if value is None:
        return Text("-"), Text("-"), Text("-")
    bound = "" if value.bound is None else str(value.bound)
    return (
        Text(str(value.optimal)),
        Text(bound) if value.proven else Text(f"{bound} (open)", style="yellow"),
        Text(str(value.greedy)),
    )


def changed(scenario: WhatIfScenario) -> list[WhatIfPod]:
    """Return the pods with another fate in the optimum, those that only are elsewhere last."""
    return _sorted(scenario.pods)


def _sorted(pods: Iterable[WhatIfPod]) -> list[WhatIfPod]:
    return sorted(pods, key=lambda pod: (_ORDER[pod.change], pod.pod))


def _pods(scenario: WhatIfScenario, view: View) -> list[RenderableType]:
    """Return the pods with another fate in the optimum, and those that greedy treats in yet another way."""
    optimal = {*scenario.pods}
    greedy = _sorted(pod for pod in scenario.greedy_pods if pod not in optimal)
    return [
        *_table("Pods with another fate", changed(scenario), view),
        *_table("With greedy, where that differs", greedy, view),
    ]


def _table(title: str, fates: Iterable[WhatIfPod], view: View) -> list[RenderableType]:
    pods = [pod for pod in fates if view.shows(pod.pod)]
    rows: list[tuple[RenderableType, ...]] = [
        (
            pod.pod,
            *view.of_pod(pod.pod),
            _place(pod.before),
            *view.of_node(pod.before),
            _place(pod.after),
            *view.of_node(pod.after),
            _MEANING[pod.change][1],
        )
        for pod in pods
    ]
    columns = ("pod", *view.about_pod, "before", *view.about_node, "after", *view.about_node, "")
    blanks = ("",) * (len(columns) - 2)
    kinds = [Kind([pod.pod], (*blanks, _MEANING[pod.change][1])) for pod in pods]
    return section(title, columns, rows, view.numbers, "pods", kinds=kinds)


def _place(node: str | None) -> Text:
    return Text("-", style="red") if node is None else Text(node)
