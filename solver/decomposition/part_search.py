"""The search of one part of a round, wherever it runs."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from ...framework.build import build_cluster
from ..deadline import OutOfTime
from ..plans.objective import valuate
from ..plans.replay import follow, inadmissible
from ..search.tier_search import Search
from ..warm import COLD, Warmth
from .unsearched import classes, unsearched

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...framework.index.cluster import Cluster
    from ...models.search_point import SearchPoint
    from ...models.snapshot import Snapshot
    from ..options import Progress, SolveOptions
    from ..plans.outcome import Outcome

#: Seconds for a part whose turn comes when time is up.
LEAST_SECONDS: Final = 0.01


@dataclass(frozen=True)
class Shared:
    """What all parts need; the cluster is not pickled, but built again in another process."""

    snapshot: Snapshot
    options: SolveOptions
    made: list[Cluster] = field(default_factory=list, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {"snapshot": self.snapshot, "options": self.options, "made": []}

    @property
    def cluster(self) -> Cluster:
        """The whole cluster."""
        if not self.made:
            self.made.append(build_cluster(self.snapshot))
        return self.made[0]


@dataclass(frozen=True)
class Piece:
    """A part to be searched: its pods, greedy's outcome in it, its seconds and its workers."""

    pods: tuple[int, ...]
    candidate: Outcome
    seconds: float
    workers: int
    warmth: Warmth = COLD


@dataclass(frozen=True)
class PartResult:
    """The result of a part: `bounds` hold given the tiers above, `trivial_bounds` for every plan.

    The seconds of `points` are the part's own.
    """

    best: Outcome
    values: Mapping[str, int]
    bounds: Mapping[str, int]
    trivial_bounds: Mapping[str, int]
    variables: int
    constraints: int
    interrupted: bool
    points: tuple[SearchPoint, ...] = ()


def search_part(shared: Shared, piece: Piece, report: Callable[[Progress], None]) -> PartResult:
    """Search one part; the function that engines run."""
    start = time.monotonic()
    options = replace(shared.options, time_limit=max(piece.seconds, LEAST_SECONDS), workers=piece.workers)
    cluster = shared.cluster.with_queue(piece.pods)
    candidate = in_part(cluster, piece.candidate)
    try:
        problem = classes(cluster, start, start + options.time_limit)
    except OutOfTime:
        return unsearched_part(cluster, candidate, options.prefer, interrupted=False)
    search = Search(problem, options, report, start)
    search.run([candidate], piece.warmth)
    return PartResult(
        best=search.best,
        values=search.valuation.by_name(),
        bounds=dict(search.bounds),
        trivial_bounds=search.trivial_bounds(),
        variables=search.size[0],
        constraints=search.size[1],
        interrupted=search.interrupted,
        points=search.points,
    )


def unsearched_part(cluster: Cluster, candidate: Outcome, prefer: str, *, interrupted: bool) -> PartResult:
    """Return the result of a part that there was no time to search."""
    known = unsearched(cluster, candidate, prefer)
    values = known.valuation.by_name()
    return PartResult(known.best, values, known.bounds, known.bounds, 0, 0, interrupted)


def in_part(cluster: Cluster, greedy: Outcome) -> Outcome:
    """Greedy's outcome in a part: it may be admissible there though it is not as a whole.

    Its steps are followed once more: a victim that no plan evicts is in no part, and its room is not free.
    """
    if greedy.admissible:
        return greedy
    run = follow(cluster, greedy.moves, greedy.allocations)
    fine = (
        not run.fault
        and valuate(cluster, greedy, end=run.end).guarded
        and not any(True for _ in inadmissible(cluster, greedy.moves))
    )
    return replace(greedy, admissible=fine)
