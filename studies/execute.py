"""The runs of a plan that are not done yet: several at a time, each durable before it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from ..models.study import ERROR
from ..solver.decomposition.base import Lost
from ..solver.decomposition.engine import engine_for
from .rows import failed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..solver.decomposition.base import Work
    from ..solver.options import SolveOptions
    from .folder import StudyWriter
    from .plan import Run
    from .rows import Solved


class Listener(Protocol):
    """What hears how far a study is."""

    def begin(self, total: int, before: int) -> None:
        """Hear how many runs there are, and how many were done before."""

    def started(self, run: Run) -> None:
        """Hear that a worker has begun a run."""

    def finished(self, run: Run, solved: Solved) -> None:
        """Hear that a run is done and kept."""


class Executed(NamedTuple):
    """What became of a plan.

    Attributes
    ----------
    total, before, now : int
        Runs of the plan; those that were done when this began; those that were done since.
    failed : int
        Of all that are done, those that ended with an error.
    interrupted : bool
        Whether runs are left because of Ctrl-C.
    """

    total: int
    before: int
    now: int
    failed: int
    interrupted: bool


def execute(
    folder: StudyWriter,
    runs: Sequence[Run],
    options: SolveOptions,
    listener: Listener,
    work: Work,
    stopped: Callable[[], bool] = lambda: False,
    *,
    retry_errors: bool = False,
) -> Executed:
    """Do the runs of a plan that its folder does not have.

    Parameters
    ----------
    options : SolveOptions
        `workers`, `engine` and `dask` alone: how many runs go on at a time, and where.
    work : callable
        Does a run: `solving.solve_run`.
    stopped : callable
        Whether no further run is to be begun.
    retry_errors : bool
        Whether runs that failed are done again.
    """
    done = folder.done(errors=not retry_errors)
    waiting = [run for run in runs if run.id not in done]
    before, now, interrupted = len(runs) - len(waiting), 0, False
    listener.begin(len(runs), before)

    def pieces() -> Iterator[Run]:
        for run in waiting:
            if stopped() or interrupted:
                return
            yield run

    def hear(number: int, news: object) -> None:
        listener.started(waiting[number])

    try:
        with engine_for(options, max(1, len(waiting)), apart=True) as engine:
            for number, result in engine.run(work, None, pieces(), hear):
                run = waiting[number]
                solved: Solved = failed(run, str(result.error)) if isinstance(result, Lost) else result
                if solved.interrupted:
                    interrupted = True
                    continue
                folder.add(solved.rows)
                now += 1
                listener.finished(run, solved)
    except KeyboardInterrupt:
        interrupted = True
    planned = {run.id for run in runs}
    kept = folder.rows()
    wrong = sum(rows[0].status == ERROR for run, rows in kept.items() if run in planned)
    return Executed(len(runs), before, now, wrong, interrupted or before + now < len(runs))
