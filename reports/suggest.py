"""The answer of `kubestow suggest` as a person reads it: what to change, at which price, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from .layout import section
from .words import count, listed

if TYPE_CHECKING:
    from ..models.suggest import SuggestDocument, Suggestion, Suggestions

_STYLES = {"placed": "green", "suggestions": "yellow"}


def suggest_report(document: SuggestDocument) -> RenderableType:
    """Return the report: for each pod or group the steps, what becomes of it, and the commands."""
    if not document.answers:
        text = "no pod is left out" + ("" if document.status == "OPTIMAL" else " by the best plan found")
        return Text.assemble((f"{document.instance}: ", "bold"), text)
    parts: list[RenderableType] = []
    for number, answer in enumerate(document.answers):
        parts += [Text(""), Text("")] if number else []
        parts += _answer(document, answer)
    return Group(*parts)


def _answer(document: SuggestDocument, answer: Suggestions) -> list[RenderableType]:
    kind, _, key = answer.subject.partition(" ")
    name = key if kind == "Pod" else f"group {key}"
    alike = f" and {count(len(answer.alike), 'pod')} like it" if answer.alike else ""
    title = Text.assemble(
        (f"{document.instance}: {name}{alike}", "bold"),
        (f" {_verdict(answer)}", _STYLES.get(answer.answer, "red")),
        f" (priority {answer.priority})",
    )
    lines: list[RenderableType] = [title, *_table(answer)]
    for number, suggestion in enumerate(answer.suggestions, start=1):
        lines += _details(number, suggestion)
    if answer.answer != "placed":
        lines.append(Text(f"\n{_proof(document, answer)}", "dim"))
    return lines


def _verdict(answer: Suggestions) -> str:
    match answer.answer:
        case "placed":
            return "runs in a best round as it is"
        case "suggestions":
            return f"would {'run' if answer.subject.startswith('Pod ') else 'start'} after a change"
        case "nothing":
            return "waits, and nothing in the menu helps"
        case "open":
            return "waits; time was out before a change was found that helps"


def _table(answer: Suggestions) -> list[RenderableType]:
    rows = [
        (
            str(number) if not place else "",
            str(suggestion.cost) if not place else "",
            step.text,
            step.object,
        )
        for number, suggestion in enumerate(answer.suggestions, start=1)
        for place, step in enumerate(suggestion.steps)
    ]
    return section("What to change", ("", "cost", "step", "of"), rows, (0, 1), "steps")


def _details(number: int, suggestion: Suggestion) -> list[RenderableType]:
    nodes = sorted(set(suggestion.placed.values()))
    parts = [f"goes to {listed(nodes, 3)}"]
    if suggestion.evicted:
        parts.append(f"{listed(suggestion.evicted, 3)} would be evicted")
    if suggestion.left_out:
        parts.append(f"{listed(suggestion.left_out, 3)} would be left out")
    if not suggestion.cheapest:
        parts.append("there may be something cheaper: time was out")
    if not suggestion.proven:
        parts.append("that the plan is a best one is not proven")
    lines: list[RenderableType] = [Text(f"\n{number}: {'; '.join(parts)}", "bold")]
    lines += [Text(f"  {line}", no_wrap=True, overflow="ignore") for line in suggestion.kubectl]
    return lines


def _proof(document: SuggestDocument, answer: Suggestions) -> str:
    menu = f"The menu has {count(answer.menu, 'step')}."
    if answer.answer == "nothing":
        return f"It is proven that no set of steps helps. {menu}"
    if not answer.suggestions:
        return menu
    claim = "The first is the cheapest that helps"
    if not document.others_may_wait:
        claim += " and leaves no other pod worse off"
    if not answer.suggestions[0].cheapest:
        claim = "A cheaper one than the first may exist"
    end = "; there is no other of fewer or cheaper kinds" if answer.complete else ""
    return f"{claim}{end}. {menu}"
