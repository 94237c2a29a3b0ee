"""The rows of a run: what is known of it before it is solved, and what it gives."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import __version__
from ..models.study import ERROR
from ..models.study_row import StudyRow

if TYPE_CHECKING:
    from .plan import Run


class Solved(NamedTuple):
    """What a run gives: its rows, and whether Ctrl-C cut it short, so that they are none."""

    rows: tuple[StudyRow, ...]
    interrupted: bool = False


def failed(run: Run, reason: str) -> Solved:
    """Return the one row of a run that failed."""
    return Solved((StudyRow(**about_run(run, run.instance.digest), status=ERROR, error=reason),))


@cache
def versions() -> dict[str, str]:
    """Return the versions of what makes a result: kubestow, its solver, Python."""
    from importlib.metadata import version
    from platform import python_version

    return {"kubestow": __version__, "ortools": version("ortools"), "python": python_version()}


def about_run(run: Run, digest: str) -> dict[str, Any]:
    """Return what is known of a run before it is solved; its numbers are 0."""
    variant = run.conditions.variant
    return {
        "run": run.id,
        "instance": run.instance.name,
        "family": run.instance.family,
        "input_hash": digest,
        "scheduler": run.scheduler,
        "variant": variant.name,
        "seed": run.seed,
        "kube_version": variant.kube_version.value,
        "time_limit": run.time_limit,
        "threads": run.threads,
        **versions(),
        **{"nodes": 0, "pending": 0, "running": 0, "admissible": False, "seconds": 0.0},
    }
