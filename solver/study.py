"""Many instances, each solved by both schedulers: several at a time, here or on a Dask cluster."""

from __future__ import annotations

import traceback
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..models.errors import KubestowError, is_interrupt
from ..models.snapshot import Snapshot
from ..models.study import StudiedInstance, StudiedTier, Study
from .api import load_solver, solve_both
from .compare import compared
from .decomposition.base import Lost
from .decomposition.engine import engine_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from .options import SolveOptions


def study(
    snapshots: Sequence[Snapshot | StudiedInstance],
    options: SolveOptions,
    watch: Callable[[StudiedInstance], None] = lambda row: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Study:
    """Solve instances and tabulate the results.

    Whatever happens to one of them (it is refused, its process is killed), the rows of the others are there.

    Parameters
    ----------
    snapshots : sequence of Snapshot or StudiedInstance
        The latter stands for itself: an instance that could not be read.
    options : SolveOptions
        `workers` instances are solved at a time, each with one thread; a single instance gets all of them.
        `time_limit` is for each instance.
    watch : callable
        Called with each instance when it is done.
    stopped : callable
        Whether no further instance is to be begun.
    """
    done = {k: item for k, item in enumerate(snapshots) if isinstance(item, StudiedInstance)}
    for row in done.values():
        watch(row)
    waiting = {k: item for k, item in enumerate(snapshots) if isinstance(item, Snapshot)}
    numbers = list(waiting)
    interrupted = False
    load_solver()
    try:
        with engine_for(options, max(1, len(waiting)), apart=True) as engine:
            threads = max(1, options.workers // max(1, min(engine.slots, len(waiting))))
            each = replace(options, workers=threads, engine="local", dask=None)
            pieces = _waiting(waiting.values(), done, stopped)
            for place, result in engine.run(_solve, each, pieces, _ignore):
                number = numbers[place]
                row = _lost(waiting[number], result) if isinstance(result, Lost) else result
                done[number] = row
                watch(row)
    except KeyboardInterrupt:
        interrupted = True
    rows = tuple(done[number] for number in sorted(done))
    interrupted |= stopped() or len(rows) < len(snapshots) or any(row.interrupted for row in rows)
    return Study(instances=rows, interrupted=interrupted)


def _waiting(
    snapshots: Iterable[Snapshot], done: Mapping[int, StudiedInstance], stopped: Callable[[], bool]
) -> Iterator[Snapshot]:
    """Hand out instances until one is interrupted."""
    for snapshot in snapshots:
        if stopped() or any(row.interrupted for row in done.values()):
            return
        yield snapshot


def _ignore(number: int, news: Any) -> None:
    """Ignore progress within an instance."""


def _lost(snapshot: Snapshot, lost: Lost) -> StudiedInstance:
    return StudiedInstance.failed(snapshot.name, str(lost.error))


def _solve(options: SolveOptions, snapshot: Snapshot, report: Callable[[Any], None]) -> StudiedInstance:
    """Solve one instance; the function that engines run."""
    load_solver()  # on a worker of Dask's it would take of the first instance's time
    try:
        optimal, greedy = solve_both(snapshot, options)
    except KubestowError as error:
        return StudiedInstance.failed(snapshot.name, str(error))
    except Exception as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from None
        traceback.print_exc()
        return StudiedInstance.failed(snapshot.name, f"a bug in kubestow: {type(error).__name__}: {error}")
    comparison = compared(optimal, greedy)
    tiers = tuple(
        StudiedTier(
            name=tier.name,
            sense=tier.sense,
            optimal=tier.optimal,
            bound=tier.optimal if tier.bound is None else tier.bound,
            gap=0 if tier.bound is None else abs(tier.bound - tier.optimal),
            proven=tier.proven,
            greedy=tier.greedy,
        )
        for tier in comparison.tiers
    )
    return StudiedInstance(
        instance=snapshot.name,
        nodes=len(snapshot.nodes),
        pending=len(optimal.placed()) + len(optimal.unschedulable),
        running=sum(1 for pod in snapshot.pods if pod.spec.node_name and not pod.is_terminal),
        status=optimal.status,
        admissible=optimal.stats.admissible,
        interrupted=optimal.stats.interrupted,
        seconds=optimal.stats.wall_seconds,
        greedy_seconds=greedy.stats.wall_seconds,
        first_difference=comparison.first_difference,
        tiers=tiers,
    )
