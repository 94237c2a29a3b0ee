"""A suite beside the best that is known of it, as a table of what differs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from .layout import section
from .words import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from ..models.regress import JudgedInstance, JudgedRound, JudgedTier, Regression, Timing

_ORDER = (
    *("contradiction", "worse", "missing", "failed", "changed", "dropped", "new", "incomplete"),
    *("better", "tighter", "equal"),
)
_WORDS = {
    "contradiction": "in contradiction",
    "missing": "missing",
    "incomplete": "known with other tiers",
    "dropped": "no longer in the suite",
    "tighter": "with a tighter bound",
    "equal": "as best known",
}


def regress_report(result: Regression, *, wide: bool = False) -> RenderableType:
    """Return the report: a sentence, a line for each tier that differs, and the seconds of two versions.

    A wide one has a line for every tier.
    """
    rows = [row for item in result.instances for row in _rows(item, wide)]
    columns = ("instance", "scheduler", "", "tier", "best known", "now", "bound known", "bound now")
    parts = [
        Text(conclusion(result), style="bold"),
        *section("Rounds" if wide else "What differs", columns, rows, range(4, 8), "tiers", len(rows)),
    ]
    for item in result.instances:
        parts += [
            Text(f"contradiction: {item.instance}, {round_.scheduler}: {words}")
            for round_ in item.rounds
            for words in round_.contradictions
        ]
    if result.timing is not None:
        parts += _timing(result.timing)
    return Group(*parts)


def verdict_of(item: JudgedInstance) -> str:
    """Return what an instance is beside what is known: the worst verdict of its schedulers, or its state."""
    if item.state != "compared":
        return item.state
    return min((round_.verdict for round_ in item.rounds), key=_ORDER.index)


def conclusion(result: Regression) -> str:
    """Return what a reader should remember of a suite."""
    verdicts = Counter(verdict_of(item) for item in result.instances)
    told = [f"{verdicts[word]} {_WORDS.get(word, word)}" for word in reversed(_ORDER) if verdicts[word]]
    return (
        f"{count(len(result.instances), 'instance')} of {result.suite}: {', '.join(told) or 'none'}"
        f"{'; interrupted' if result.interrupted else ''}"
    )


def failures(result: Regression) -> str:
    """Return how many instances do not pass a check, and why, in a line."""
    verdicts = Counter(verdict_of(item) for item in result.instances if not item.holds)
    told = [f"{verdicts[word]} {_WORDS.get(word, word)}" for word in _ORDER if verdicts[word]]
    timing = result.timing
    if timing is not None and timing.slower:
        told.append(f"slower than {timing.max_ratio:g} times: {', '.join(timing.slower)}")
    if timing is not None and any(item.error for item in timing.instances):
        told.append("not timed: " + ", ".join(item.instance or "" for item in timing.instances if item.error))
    return "; ".join(told)


def _rows(item: JudgedInstance, wide: bool) -> Iterator[tuple[str, ...]]:
    if item.state != "compared":
        yield (item.instance, "", item.state, item.reason or "", "", "", "", "")
    for round_ in item.rounds:
        for tier in round_.tiers:
            if wide or _differs(tier):
                yield (
                    item.instance,
                    round_.scheduler,
                    _verdict(round_, tier),
                    tier.name,
                    _number(tier.known),
                    _number(tier.value),
                    _number(tier.known_bound),
                    _number(tier.bound),
                )


def _verdict(round_: JudgedRound, tier: JudgedTier) -> str:
    """Return the verdict beside the tier that it is about."""
    about = round_.first_difference
    if round_.verdict == "incomplete":
        return "not known" if tier.known is None else "no more" if tier.value is None else ""
    return round_.verdict if about in (tier.name, None) and _differs(tier) else ""


def _differs(tier: JudgedTier) -> bool:
    return tier.known != tier.value or tier.known_bound != tier.bound


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


def _timing(timing: Timing) -> list[RenderableType]:
    columns = ("instance", timing.version, timing.other_version, "ratio", "")
    rows = []
    for item in timing.instances:
        name = item.instance or "all together"
        remark = item.error or ("slower" if name in timing.slower else "")
        cells = (item.seconds, item.other_seconds, item.ratio)
        rows.append((name, *("" if cell is None else f"{cell:.2f}" for cell in cells), remark))
    title = f"Processor seconds, medians of {timing.repeats} runs in turns"
    return section(title, columns, rows, range(1, 4), "instances", len(rows))
