"""The door: a study file is run into a folder, or what is left of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..solver.api import load_solver
from .execute import Executed, execute
from .folder import writing
from .plan import plan_of
from .reading import read_study
from .rows import versions
from .solving import solve_run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ..solver.options import SolveOptions
    from .execute import Listener
    from .parts import Format


def run_study(
    path: str | Path,
    into: str | Path,
    options: SolveOptions,
    listener: Listener,
    stopped: Callable[[], bool] = lambda: False,
    *,
    form: Format = "parquet",
    resume: bool = False,
    retry_errors: bool = False,
) -> Executed:
    """Run what a study file says and its folder does not have yet.

    Parameters
    ----------
    path, into : str or Path
        The study file and the folder.
    options : SolveOptions
        As for `execute`.
    form : str
        How rows are kept: `parquet` or `csv`.
    resume : bool
        Whether the folder has to hold a study already.

    Raises
    ------
    KubestowError
        For a study that cannot be begun: nothing has been run then.
    """
    file, study = read_study(path)
    runs = plan_of(study, file)
    with writing(into, study, runs, form, versions(), resume=resume) as folder:
        load_solver()
        return execute(folder, runs, options, listener, solve_run, stopped, retry_errors=retry_errors)
