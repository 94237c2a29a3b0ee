"""Runs of a study that are written down as they begin and solve nothing."""

from dataclasses import dataclass
from pathlib import Path

from kubestow.models.study_row import StudyRow
from kubestow.studies.rows import Solved, about_run


@dataclass(frozen=True)
class Noting:
    """Work for an engine: adds a run's id to a log, so that whatever the kill, what was begun is known."""

    log: Path

    def __call__(self, shared, run, report):
        """Write the id down, and return a row that says nothing."""
        with self.log.open("a") as file:
            file.write(f"{run.id}\n")
        return Solved((StudyRow(**about_run(run, ""), status="OPTIMAL"),))
