"""Report of hints: which changes wake which waiting pods, and why."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ..framework.hints.verdicts import EventVerdict, Verdict
from ..models.meta import KubeObject
from ..models.recordings import HintCase
from .layout import section
from .section import Kind
from .view import EVERYTHING, View
from .words import count


def hints_report(judged: Sequence[tuple[HintCase, Verdict]], view: View = EVERYTHING) -> RenderableType:
    """Return the report of `kubestow hints`: a row for each case."""
    woken = sum(verdict.queue for _, verdict in judged)
    shown = [(case, verdict) for case, verdict in judged if view.shows(case.pod.key)]
    rows: list[tuple[RenderableType, ...]] = [
        (
            case.name,
            case.pod.key,
            *view.of_pod(case.pod.key),
            case.plugin,
            _change(case),
            Text("wakes", style="green") if verdict.queue else Text("stays", style="dim"),
            _why(verdict),
        )
        for case, verdict in shown
    ]
    columns = ("case", "pod", *view.about_pod, "rejected by", "change", "the pod", "because")
    blanks = ("",) * len(("pod", *view.about_pod))
    kinds = [
        Kind([case.name], (*blanks, case.plugin, "", "wakes" if verdict.queue else "stays", _why(verdict)))
        for case, verdict in shown
    ]
    return Group(
        Text(f"{count(len(judged), 'case')}: {woken} wake, {len(judged) - woken} stay"),
        *view.remark,
        *section("Cases", columns, rows, rest="cases", kinds=kinds, noun="case"),
    )


def _change(case: HintCase) -> str:
    item = case.new if case.new is not None else case.old
    if item is None:
        return "an object of a kind that nobody watches"
    verb = "comes" if case.old is None else "goes" if case.new is None else "changes"
    return f"{_named(item)} {verb}"


def _named(item: KubeObject) -> str:
    return f"{item.kind} {item.key}"


def _why(verdict: Verdict) -> str:
    """Tell the event that decided, or what each event was to the pod."""
    if not verdict.events:
        return "no event for the scheduler"
    deciding = [item for item in verdict.events if item.answer.queue] or list(verdict.events)
    told = dict.fromkeys(_told(item) for item in deciding)
    return "; ".join(told)


def _told(item: EventVerdict) -> str:
    return f"{item.event}: {item.answer.why}"
