"""Many instances, each solved by both schedulers: several at a time, here or on a Dask cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..models.study import StudiedInstance, StudiedTier, Study
from .api import solve_both
from .compare import compared
from .decomposition.engine import engine_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..models.snapshot import Snapshot
    from .options import SolveOptions


def study(
    snapshots: Sequence[Snapshot],
    options: SolveOptions,
    watch: Callable[[StudiedInstance], None] = lambda row: None,
) -> Study:
    """Solve instances and tabulate the results.

    Parameters
    ----------
    options : SolveOptions
        `workers` instances are solved at a time, each with one thread; a single instance gets all of them.
        `time_limit` is for each instance.
    watch : callable
        Called with each instance when it is done.
    """
    done: dict[int, StudiedInstance] = {}
    interrupted = False
    try:
        with engine_for(options, len(snapshots)) as engine:
            threads = max(1, options.workers // min(engine.slots, len(snapshots)))
            each = replace(options, workers=threads, engine="local", dask=None)
            for number, row in engine.run(_solve, each, _waiting(snapshots, done), _ignore):
                done[number] = row
                watch(row)
    except KeyboardInterrupt:
        interrupted = True
    rows = tuple(done[number] for number in sorted(done))
    interrupted |= len(rows) < len(snapshots) or any(row.interrupted for row in rows)
    return Study(instances=rows, interrupted=interrupted)


def _waiting(snapshots: Sequence[Snapshot], done: Mapping[int, StudiedInstance]) -> Iterator[Snapshot]:
    """Hand out instances until one is interrupted."""
    for snapshot in snapshots:
        if any(row.interrupted for row in done.values()):
            return
        yield snapshot


def _ignore(number: int, news: Any) -> None:
    """Ignore progress within an instance."""


def _solve(options: SolveOptions, snapshot: Snapshot, report: Callable[[Any], None]) -> StudiedInstance:
    """Solve one instance; the function that engines run."""
    optimal, greedy = solve_both(snapshot, options)
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
