"""The solver's interface: from a snapshot to a verified plan.

The time limit is for all that is done here: the index, greedy's run, the search, and putting the plan in
words and replaying it. Greedy's run is never cut short, since no plan could be called no worse than greedy's
without it; nor are words and replay, for which time is kept back. Source: docs/model.md, "How the time is
spent".

Ctrl-C ends a search with its best plan. Before greedy is done there is none, and it is raised; afterwards
there is always one, and it is put in words and replayed first. A second Ctrl-C does not wait for that.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from ..framework.build import build_cluster
from ..framework.rules.supported import require_supported
from ..models.errors import Unreplayed, is_interrupt
from ..models.memory import collection_paused
from ..models.plan import Plan, Stats
from ..models.progress import unwatched
from .model.interrupts import run_to_the_end
from .options import ProgressCallback, SolveOptions
from .ordering.honouring import honoured_first
from .plans.document import build_plan
from .plans.effort import Spent, seconds_to_finish
from .plans.greedy_baseline import greedy_outcome
from .plans.objective import valuate
from .plans.outcome import SolvedRound
from .plans.replay import replay
from .record import progress_of
from .warm import COLD, Warmth

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..framework.index.cluster import Cluster
    from ..framework.state.state import State
    from ..models.progress import Watch
    from ..models.snapshot import Snapshot
    from .decomposition.search import RoundResult
    from .plans.objective import ObjectiveVector
    from .plans.outcome import Outcome

__all__ = ["SolveOptions", "solve", "solve_both", "solve_greedy"]


def solve(
    snapshot: Snapshot,
    options: SolveOptions | None = None,
    progress: ProgressCallback | None = None,
    *,
    watch: Watch = unwatched,
) -> Plan:
    """Find the provably best round of a cluster.

    Parameters
    ----------
    snapshot : Snapshot
    options : SolveOptions, optional
    progress : callable, optional
        Hears of the tiers while they are searched.
    watch : Watch
        Hears of what comes before and after: pods indexed, pods that greedy has tried, steps replayed.

    Returns
    -------
    Plan
        Replayed and never worse than greedy's. `stats.interrupted` is true where Ctrl-C ended the search
        early.

    Raises
    ------
    KubestowError
        Where the round needs what this release does not support; a round is never solved in part.
    BoundContradiction
        Where a bound and a plan contradict each other (a bug).
    """
    return solve_round(snapshot, options or SolveOptions(), progress, watch=watch).plan


def solve_round(
    snapshot: Snapshot,
    options: SolveOptions,
    progress: ProgressCallback | None = None,
    *,
    watch: Watch = unwatched,
    waited: float = 0.0,
    known: Outcome | None = None,
    after: SolvedRound | None = None,
    like: Cluster | None = None,
) -> SolvedRound:
    """Solve a round as `solve` does, for callers that go on with more than the plan.

    Parameters
    ----------
    waited : float
        The seconds that it took to read it; they are in `stats.wall_seconds`, not in the time limit.
    known : Outcome, optional
        An admissible plan to begin with, where it is better than greedy's.
    after : SolvedRound, optional
        A round that this one follows, and from which it differs little (`solver.warm`). Where everything is
        proven the tiers are what they are without it; of several plans that attain them it may be another.
    like : Cluster, optional
        A cluster that has most pods in common with this one: what is known of them is used again.
    """
    return _Round(snapshot, options, watch, waited, after, like).optimal(progress, known)


def solve_greedy(snapshot: Snapshot, prefer: str = "none") -> Plan:
    """Run the greedy baseline until nothing changes, within the limits of the snapshot."""
    return solve_greedy_round(snapshot, prefer).plan


def solve_greedy_round(
    snapshot: Snapshot, prefer: str = "none", *, watch: Watch = unwatched, waited: float = 0.0
) -> SolvedRound:
    """Run the greedy baseline as `solve_greedy` does, for callers that go on with more than the plan."""
    return _Round(snapshot, SolveOptions(prefer=prefer), watch, waited).greedy()


def solve_both(
    snapshot: Snapshot,
    options: SolveOptions | None = None,
    progress: ProgressCallback | None = None,
    *,
    watch: Watch = unwatched,
    waited: float = 0.0,
    known: Outcome | None = None,
) -> tuple[Plan, Plan]:
    """Solve a round with both schedulers: the optimal plan, then greedy's; `known` as for `solve_round`."""
    round_ = _Round(snapshot, options or SolveOptions(), watch, waited)
    greedy = round_.greedy().plan
    return round_.optimal(progress, known).plan, greedy


def load_solver() -> None:
    """Load what a search needs (OR-tools among it), so that processes that start as copies need not."""
    from .decomposition import search  # noqa: F401


#: The phase in which a plan is put in words, before it is replayed.
WORDS: Final = "putting the plan in words: pods"

# The most of the time limit that is kept back for words and replay.
_MOST_RESERVED: Final = 0.5

# Seconds of a search for which no time is left.
_INSTANT: Final = 1e-6


class _Round:
    """One instance being solved: greedy's run is shared by both schedulers, and the clock starts with it."""

    def __init__(
        self,
        snapshot: Snapshot,
        options: SolveOptions,
        watch: Watch,
        waited: float,
        after: SolvedRound | None = None,
        like: Cluster | None = None,
    ) -> None:
        self._options = options
        self._after = after
        self._watch = watch
        self._waited = waited
        self._start = time.monotonic()
        begin = Spent.now()
        self._interrupted = False
        self._finishing: float | None = None
        if options.limits:
            snapshot = replace(snapshot, limits=options.limits)
        self._cluster = build_cluster(snapshot, watch, like=like if after is None else after.cluster)
        require_supported(self._cluster)
        self._greedy, self._greedy_value = greedy_outcome(self._cluster, options.prefer, watch)
        self._spent = begin.since()

    def greedy(self) -> SolvedRound:
        """Return greedy's outcome as a plan, replayed by its own steps."""
        begin = time.monotonic() - self._spent.clock
        stats = Stats(verified=True, admissible=self._greedy.admissible)
        return self._finished(self._greedy, self._greedy_value, None, "greedy", stats, begin)

    def optimal(self, progress: ProgressCallback | None, known: Outcome | None = None) -> SolvedRound:
        """Search, take the better of the best admissible plan and greedy's outcome, replay it."""
        found = self._search(progress, known)
        best, value, bounds = found.best, found.valuation, found.bounds
        if not self._greedy.admissible and self._greedy_value.costs < value.costs:
            bounds = _bounds_of_greedy(bounds, value, self._greedy_value)
            best, value = self._greedy, self._greedy_value
        stats = Stats(
            variables=found.variables,
            constraints=found.constraints,
            verified=True,
            admissible=best.admissible,
            interrupted=found.interrupted,
            progress=found.points,
        )
        return self._finished(best, value, bounds, "optimal", stats, self._start)

    def _search(self, progress: ProgressCallback | None, known: Outcome | None) -> RoundResult:
        """Search until it is time to put the best plan in words."""
        cluster, candidate = self._cluster, self._greedy
        if known is not None and (
            valuate(cluster, known, self._options.prefer).costs < self._greedy_value.costs
        ):
            candidate = known
        try:
            from .decomposition.engine import require_engine
            from .decomposition.search import search_round

            require_engine(self._options)
            if not self._interrupted:
                options = replace(self._options, time_limit=self._search_limit())
                return search_round(
                    cluster,
                    candidate,
                    options,
                    progress,
                    self._start,
                    watch=self._watch,
                    warmth=self._warmth(),
                )
        except BaseException as error:
            if not is_interrupt(error):
                raise
        from .decomposition.search import round_unsearched

        return round_unsearched(cluster, candidate, self._options.prefer, interrupted=True)

    def _warmth(self) -> Warmth:
        """Return what the round before leaves for this one."""
        return COLD if self._after is None else Warmth.of(self._after, self._cluster)

    def _search_limit(self) -> float:
        """Return the seconds from the start after which the best plan is put in words."""
        limit = self._options.time_limit
        if time.monotonic() - self._start >= limit:
            return _INSTANT
        return limit - min(self._reserve(), _MOST_RESERVED * limit)

    def _reserve(self) -> float:
        """Estimate the seconds that it takes to put a plan in words and to replay it.

        They are those that greedy's plan took, where it was.
        """
        if self._finishing is not None:
            return self._finishing
        return seconds_to_finish(self._cluster, self._greedy, self._spent)

    def _finished(
        self,
        outcome: Outcome,
        value: ObjectiveVector,
        bounds: Mapping[str, tuple[int, bool]] | None,
        scheduler: Literal["optimal", "greedy"],
        stats: Stats,
        start: float,
    ) -> SolvedRound:
        """Put an outcome in words and replay it; Ctrl-C has to wait for that, unless it comes twice."""
        begin = time.monotonic()

        def finish() -> tuple[Plan, Outcome, State]:
            self._watch(WORDS)
            best, worth = outcome, value
            if scheduler == "optimal" and best.admissible:
                best, worth = honoured_first(self._cluster, best, worth, self._options.prefer)
            plan = build_plan(self._cluster, best, worth, bounds, scheduler, stats)
            return plan, best, replay(self._cluster, plan, self._options.prefer, self._watch)

        with collection_paused():  # a full one takes as long as the words
            try:
                (plan, best, end), interrupted = run_to_the_end(finish)
            except KeyboardInterrupt:
                raise Unreplayed from None
        self._interrupted |= interrupted
        self._finishing = time.monotonic() - begin
        told = stats.model_copy(
            update={
                "wall_seconds": round(self._waited + time.monotonic() - start, 3),
                "interrupted": stats.interrupted or interrupted,
                "progress": progress_of(stats.progress, plan.tiers, begin - self._start),
            }
        )
        return SolvedRound(plan.model_copy(update={"stats": told}), best, self._cluster, end)


def _bounds_of_greedy(
    bounds: Mapping[str, tuple[int, bool]], ours: ObjectiveVector, theirs: ObjectiveVector
) -> dict[str, tuple[int, bool]]:
    """Bounds where greedy's outcome, which is no admissible plan, beats every admissible plan found.

    Down to the tier where the two differ the bounds stay. If our value was proven there, no admissible plan
    reaches greedy's: greedy's outcome alone attains its value, and is the best of all. Otherwise the bounds
    only have to admit it: each holds for every plan that is at least as good as ours in the tiers above, and
    greedy's values there are.
    """
    merged: dict[str, tuple[int, bool]] = {}
    differs = alone = False
    for mine, other in zip(ours.tiers, theirs.tiers, strict=True):
        bound, proven = bounds[mine.name]
        if not differs and mine.cost != other.cost:
            differs, alone = True, proven
        if alone:
            merged[mine.name] = (other.value, True)
        elif differs:
            loose = max(bound, other.value) if other.sense == "max" else min(bound, other.value)
            merged[mine.name] = (loose, loose == other.value)
        else:
            merged[mine.name] = (bound, proven)
    return merged
