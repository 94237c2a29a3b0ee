"""The statistics of a study as tables of text, which every format renders."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .study_progress import duration
from .words import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..models.study_report import GreedyShare, StudyReport


class Table(NamedTuple):
    """A titled table.

    Attributes
    ----------
    title, note : str
        The note says what a reader has to know of the numbers; it may be empty.
    columns : sequence of str
    rows : sequence of sequences of str
    words : int
        How many of the first columns are words; the others are numbers.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int
    note: str = ""


def conclusion(report: StudyReport) -> str:
    """Return what a reader should remember of a study."""
    words = f"{report.study}: {report.done} of {count(report.planned, 'run')} done"
    if report.failed:
        words += f", {len(report.failed)} failed"
    if report.beside:
        words += f"; {report.beside} more in the folder are not part of the study as it is now"
    return words


def tables(report: StudyReport) -> list[Table]:
    """Return all tables that have rows, in the order in which they are read."""
    found = [
        _shares(report),
        _gaps(report),
        _contests(report),
        _survival(report),
        _profiles(report),
        _failed(report),
    ]
    return [table for table in found if table.rows]


def _shares(report: StudyReport) -> Table:
    rows = [
        (
            share.variant,
            share.family or "all",
            str(share.n),
            str(share.optimal),
            str(share.behind),
            str(share.unknown),
            str(share.inadmissible),
            _between(share),
        )
        for share in report.shares
    ]
    return Table(
        "Where greedy is optimal",
        ("variant", "family", "n", "optimal", "behind", "unknown", "no plan", "share optimal"),
        rows,
        2,
        "unknown: equal to a plan that is not proven; no plan: outcomes of greedy's that are not in n",
    )


def _between(share: GreedyShare) -> str:
    if share.lowest is None or share.highest is None:
        return ""
    low, high = f"{100 * share.lowest:.1f} %", f"{100 * share.highest:.1f} %"
    return low if share.unknown == 0 else f"{low} to {high}"


def _gaps(report: StudyReport) -> Table:
    behind = [gap for gap in report.gaps if gap.largest]
    rows = [
        (
            gap.variant,
            gap.family,
            gap.tier,
            str(gap.n),
            f"{gap.mean:.2f}",
            f"{gap.low:.2f} to {gap.high:.2f}",
            str(gap.largest),
            str(gap.unproven),
        )
        for gap in behind
    ]
    level = f"{100 * report.confidence:g} % interval"
    how = f"bootstrap of {report.resamples} resamples over instances, seed {report.seed}"
    left_out = count(len(report.gaps) - len(behind), "tier")
    return Table(
        "How far greedy is behind",
        ("variant", "family", "tier", "n", "mean gap", level, "largest", "not proven"),
        rows,
        3,
        f"n: instances that agree in all tiers above; {how}; {left_out} without a gap left out",
    )


def _contests(report: StudyReport) -> Table:
    rows = [
        (
            contest.first,
            contest.second,
            contest.scheduler,
            str(contest.n),
            str(contest.wins),
            str(contest.ties),
            str(contest.losses),
            str(contest.incomparable),
            "" if contest.p is None else _p(contest.p),
        )
        for contest in report.contests
    ]
    return Table(
        "Variants against each other",
        ("variant", "against", "scheduler", "n", "wins", "ties", "losses", "other tiers", "p"),
        rows,
        3,
        "p: two-sided sign test over instances that are decided, not corrected for several comparisons",
    )


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"


def _survival(report: StudyReport) -> Table:
    rows = [
        (
            curve.variant,
            str(curve.n),
            str(curve.proven),
            "" if curve.median is None else _seconds(curve.median),
            _seconds(curve.steps[-1].seconds) if curve.steps else "",
            f"{100 * curve.steps[-1].unproven:.1f} %" if curve.steps else "100.0 %",
        )
        for curve in report.survival
    ]
    return Table(
        "Time to proof",
        ("variant", "n", "proven", "median", "last proof", "without proof then"),
        rows,
        1,
        "Kaplan-Meier; a run without a proof is censored when it ends",
    )


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds < 60 else duration(seconds)


def _profiles(report: StudyReport) -> Table:
    factors = (1, 2, 10)
    rows = []
    for profile in report.profiles:
        reached = [[point.share for point in profile.points if point.ratio <= factor] for factor in factors]
        shares = [f"{100 * max(shares, default=0.0):.1f} %" for shares in reached]
        rows.append((profile.variant, str(profile.n), str(profile.proven), *shares))
    return Table(
        "Performance profiles",
        ("variant", "n", "proven", "fastest", *(f"within {factor} times" for factor in factors[1:])),
        rows,
        1,
        "Dolan-Moré, seconds to proof; n: instances and seeds that every variant has run",
    )


def _failed(report: StudyReport) -> Table:
    rows = [(run.instance, run.scheduler, run.variant, run.error) for run in report.failed]
    return Table("Runs that failed", ("instance", "scheduler", "variant", "reason"), rows, 4)
