"""`kubestow study STUDY.yaml --into DIR`: a study file is run into a folder."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from .group import INCOMPLETE, INTERRUPTED, leave
from .inputs import search_of
from .options import given, options
from .voice import is_quiet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..models.study_run import StudySession
    from .printing import Printing

_BESIDE: Final = ("instances", "into", "rows", "resume", "retry_errors", "workers", "engine", "dask")
_OUTPUT: Final = ("output", "every_row", "no_headers")

into_options = options(
    click.option(
        "--into",
        metavar="DIR",
        type=click.Path(file_okay=False),
        help="Run a study file into this folder, run by run; again to go on after any end (docs/studies.md).",
    ),
    click.option("--resume", is_flag=True, help="With --into: the study has to be begun already."),
    click.option("--retry-errors", is_flag=True, help="With --into: do runs that failed once more."),
    click.option(
        "--rows",
        type=click.Choice(["parquet", "csv"]),
        default="parquet",
        show_default=True,
        help="With --into: how rows are kept.",
    ),
)


def study_into(
    files: Sequence[str], printing: Printing, choices: dict[str, Any], interrupted: Callable[[], bool]
) -> None:
    """Run a study file into a folder, and leave with the exit code."""
    from ..models.study_run import StudySession
    from ..reports.study_folder import session_report
    from ..reports.study_progress import StudyProgress
    from ..solver.options import SolveOptions
    from ..studies.pace import Pace
    from ..studies.session import run_study

    if len(files) != 1:
        raise click.UsageError(f"--into takes one study file, not {len(files)}")
    if printing.output == "csv":
        raise click.UsageError("-o csv does not go with --into: --rows csv keeps rows as CSV")
    _refuse_what_the_file_says()
    search = replace(SolveOptions(), **_engine(choices))
    quiet = is_quiet()
    with nullcontext(Pace()) if quiet else StudyProgress(sys.stderr) as listener:
        done = run_study(
            files[0],
            choices["into"],
            search,
            listener,
            interrupted,
            form=choices["rows"],
            resume=choices["resume"],
            retry_errors=choices["retry_errors"],
        )
    session = StudySession(folder=choices["into"], **done._asdict())
    printing.emit(session.model_dump(by_alias=True), partial(session_report, session))
    _leave(session)


def refuse_stray_options() -> None:
    """Refuse options that go with --into where there is none."""
    for name in ("rows", "resume", "retry_errors"):
        if given(name):
            raise click.UsageError(f"--{name.replace('_', '-')} goes with --into only")


def _engine(choices: dict[str, Any]) -> dict[str, Any]:
    search = search_of(choices)
    return {"workers": search.workers, "engine": search.engine, "dask": search.dask}


def _refuse_what_the_file_says() -> None:
    for param in click.get_current_context().command.params:
        name = param.name or ""
        if name not in (*_BESIDE, *_OUTPUT) and param.expose_value and given(name):
            raise click.UsageError(f"{param.opts[0]} does not go with --into: the study file says it")


def _leave(session: StudySession) -> None:
    if session.interrupted:
        leave(INTERRUPTED, "interrupted; the same command goes on from here")
    if session.failed:
        leave(INCOMPLETE, f"{session.failed} of {session.total} runs failed")
