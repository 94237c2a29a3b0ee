"""Figures of a study's statistics: time to proof, performance profiles, how far greedy is behind.

Curves are the numbers of the document; nothing is smoothed, fitted or left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..models.errors import KubestowError
from .images import drawn, empty

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.figure import Figure

    from ..models.study_report import StudyReport

FIGURES: Final = ("survival", "profiles", "gaps")


def figure_of(report: StudyReport, name: str) -> Figure:
    """Draw one figure.

    Raises
    ------
    KubestowError
        Where the study has nothing that it could show.
    """
    draw, shown, lacks = _all(report)[name]
    if not shown:
        raise KubestowError(f"--figure {name}: {lacks}")
    return draw(report)


def images_of(report: StudyReport) -> dict[str, bytes]:
    """Return the figures that a study has as SVG, by title; none without matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return {}
    titles = {"survival": "Time to proof", "profiles": "Performance profiles"}
    there = {title: _all(report)[name] for name, title in titles.items()}
    return {title: drawn(draw(report), ".svg") for title, (draw, shown, _) in there.items() if shown}


def _all(report: StudyReport) -> Mapping[str, tuple[Callable[[StudyReport], Figure], bool, str]]:
    behind = any(gap.largest for gap in report.gaps)
    return {
        "survival": (survival, bool(report.survival), "the optimal scheduler has no run that is done"),
        "profiles": (profiles, bool(report.profiles), "needs two variants of the optimal scheduler"),
        "gaps": (gaps, behind, "greedy is behind in no tier"),
    }


def survival(report: StudyReport) -> Figure:
    """Draw the share of runs without a proof over seconds, a step line for each variant."""
    figure = empty(width=5.0, height=3.2)
    axes = figure.add_subplot()
    for curve in report.survival:
        seconds = [0.0, *(step.seconds for step in curve.steps)]
        shares = [1.0, *(step.unproven for step in curve.steps)]
        axes.step(seconds, shares, where="post", label=f"{curve.variant} (n = {curve.n})")
    axes.set_xlabel("seconds")
    axes.set_ylabel("runs without a proof")
    axes.set_xlim(left=0)
    axes.set_ylim(0, 1.02)
    axes.legend(frameon=False)
    return figure


def profiles(report: StudyReport) -> Figure:
    """Draw the share of problems proven over the performance ratio, a step line for each variant."""
    figure = empty(width=5.0, height=3.2)
    axes = figure.add_subplot()
    longest = max((point.ratio for profile in report.profiles for point in profile.points), default=1.0)
    for profile in report.profiles:
        last = profile.points[-1].share if profile.points else 0.0
        # The curve begins below at ratio 1, and stays where it ends.
        ratios = [1.0, *(point.ratio for point in profile.points), longest * 1.05]
        shares = [0.0, *(point.share for point in profile.points), last]
        axes.step(ratios, shares, where="post", label=f"{profile.variant} (n = {profile.n})")
    axes.set_xscale("log", base=2)
    axes.set_xlabel("time / fastest time")
    axes.set_ylabel("problems proven")
    axes.set_ylim(0, 1.02)
    axes.legend(frameon=False)
    return figure


def gaps(report: StudyReport) -> Figure:
    """Draw the mean gap of each tier in which greedy is ever behind, with its interval."""
    behind = [gap for gap in report.gaps if gap.largest]
    figure = empty(width=6.5, height=1.0 + 0.35 * len(behind))
    axes = figure.add_subplot()
    means = [gap.mean for gap in behind]
    # A percentile interval of a few resamples may lie beside the mean.
    left = [max(0.0, gap.mean - gap.low) for gap in behind]
    right = [max(0.0, gap.high - gap.mean) for gap in behind]
    axes.errorbar(means, range(len(behind)), xerr=[left, right], fmt="o", color="#b8561c", capsize=3)
    labels = [f"{gap.family}, {gap.variant}\n{gap.tier} (n = {gap.n})" for gap in behind]
    axes.set_yticks(range(len(behind)), labels, fontsize=7)
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel(f"mean gap, {100 * report.confidence:g} % interval")
    return figure
