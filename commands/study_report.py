"""The command for what a paper prints of a study: `kubestow study-report`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from .help import Command
from .options import FiniteRange
from .printing import Printing, printing

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..models.study_report import StudyReport

_TEXTS: Final = ("csv", "markdown", "latex", "html")


@click.command(
    cls=Command,
    name="study-report",
    epilog="""\b
Examples:
  kubestow study-report results
  kubestow study-report results -o markdown > results.md
  kubestow study-report results -o latex > results.tex
  kubestow study-report results --plot proofs.svg --figure survival
""",
)
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False))
@click.option(
    "--plot", metavar="FILE", type=click.Path(dir_okay=False), help="One figure: .svg, .png or .pdf."
)
@click.option(
    "--figure",
    type=click.Choice(["survival", "profiles", "gaps"]),
    default="survival",
    show_default=True,
    help="Which one.",
)
@click.option(
    "--confidence",
    type=FiniteRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    metavar="SHARE",
    help="Of the intervals.",
)
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=2000,
    show_default=True,
    metavar="N",
    help="Of the bootstrap.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Of the bootstrap.",
)
@printing("markdown", "latex", "html", "csv", "json", "yaml")
def study_report(folder: str, plot: str | None, figure: str, printing: Printing, **choices: Any) -> None:
    """Print the statistics of a study's folder.

    The share of instances where greedy is optimal, how far it is behind by tier and family with confidence
    intervals, variants against each other with a sign test, time to proof, and performance profiles. DIR is
    what `kubestow study --into DIR` wrote, or writes still. With --plot a figure is drawn as well.
    """
    from ..reports.study_statistics import statistics_report
    from ..studies.report import report_of
    from ..studies.statistics.bootstrap import Bootstrap

    report = report_of(folder, Bootstrap(**choices))
    if plot is not None:
        from ..reports.images import save
        from ..reports.study_figures import figure_of

        save(plot, lambda: figure_of(report, figure))
    if printing.output in _TEXTS:
        click.echo(_text(printing.output)(report), nl=False)
    else:
        printing.emit(report.model_dump(by_alias=True), partial(statistics_report, report))


def is_study(path: str) -> bool:
    """Whether a path is the folder of a study."""
    from ..studies.folder import MANIFEST

    return (Path(path) / MANIFEST).is_file()


def page_of_study(path: str) -> str:
    """Return the page of a study's folder, as `-o html` prints it."""
    from ..studies.report import report_of

    return _page(report_of(path))


def _text(output: str) -> Callable[[StudyReport], str]:
    from ..reports import study_statistics

    if output == "html":
        return _page
    texts = {
        "csv": study_statistics.statistics_csv,
        "markdown": study_statistics.statistics_markdown,
        "latex": study_statistics.statistics_latex,
    }
    return texts[output]


def _page(report: StudyReport) -> str:
    from ..models.errors import KubestowError
    from ..reports.html.reading import INSTALL
    from ..reports.study_figures import images_of

    try:
        from ..reports.html.page import statistics_page
    except ModuleNotFoundError as error:
        raise KubestowError(f"-o html needs {error.name}: {INSTALL}") from None
    return statistics_page(report, images_of(report))
