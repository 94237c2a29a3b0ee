"""A study's folder as its statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..models.study_report import FailedRun, StudyReport
from .folder import StudyFolder
from .results import Result, answers_of, results_of
from .statistics.bootstrap import Bootstrap
from .statistics.contests import contests
from .statistics.gaps import gaps
from .statistics.profiles import profiles
from .statistics.shares import shares
from .statistics.survival import survival

if TYPE_CHECKING:
    from pathlib import Path


def report_of(path: str | Path, bootstrap: Bootstrap | None = None) -> StudyReport:
    """Return what is said of the runs of a folder that are done and are part of its study.

    Raises
    ------
    InputError
        Where the folder holds no study, or a part of it cannot be read.
    """
    folder, how = StudyFolder(path), bootstrap or Bootstrap()
    kept = folder.rows()
    planned = folder.planned
    results = results_of(row for run in planned for row in kept.get(run, ()))
    answers = answers_of(results)
    return StudyReport(
        study=folder.name,
        versions=folder.versions,
        planned=len(planned),
        done=len(results),
        beside=len(kept.keys() - set(planned)),
        failed=tuple(_failed(result) for result in results if result.failed),
        confidence=how.confidence,
        resamples=how.resamples,
        seed=how.seed,
        shares=shares(answers),
        gaps=gaps(answers, how),
        contests=contests(results),
        survival=survival(results),
        profiles=profiles(results),
    )


def _failed(result: Result) -> FailedRun:
    row = result.first
    return FailedRun(
        run=row.run,
        instance=row.instance,
        scheduler=row.scheduler,
        variant=row.variant,
        error=row.error or "",
    )
