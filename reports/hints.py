"""Report of hints: which changes wake which waiting pods, and why."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ..framework.hints.verdicts import EventVerdict, Verdict
from ..models.meta import KubeObject
from ..models.recordings import HintCase
from .layout import section
from .words import count


def hints_report(judged: Sequence[tuple[HintCase, Verdict]]) -> RenderableType:
    """Return the report of `kubestow hints`: a row for each case."""
    woken = sum(verdict.queue for _, verdict in judged)
    rows = [
        (
            case.name,
            case.pod.key,
            case.plugin,
            _change(case),
            Text("wakes", style="green") if verdict.queue else Text("stays", style="dim"),
            _why(verdict),
        )
        for case, verdict in judged
    ]
    columns = ("case", "pod", "rejected by", "change", "the pod", "because")
    return Group(
        Text(f"{count(len(judged), 'case')}: {woken} wake, {len(judged) - woken} stay"),
        *section("Cases", columns, rows, rest="cases"),
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
