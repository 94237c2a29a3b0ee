"""The solver's interface: from a snapshot to a verified plan."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ..framework.build import build_cluster
from ..framework.rules.supported import require_supported
from ..models.plan import Plan, Stats
from .options import ProgressCallback, SolveOptions
from .ordering.honouring import honoured_first
from .plans.document import build_plan
from .plans.greedy_baseline import greedy_outcome
from .plans.objective import valuate
from .plans.outcome import SolvedRound
from .plans.replay import replay

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..models.snapshot import Snapshot
    from .plans.objective import ObjectiveVector
    from .plans.outcome import Outcome

__all__ = ["SolveOptions", "solve", "solve_both", "solve_greedy"]


def solve(
    snapshot: Snapshot, options: SolveOptions | None = None, progress: ProgressCallback | None = None
) -> Plan:
    """Find the provably best round of a cluster.

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
    return solve_round(snapshot, options or SolveOptions(), progress).plan


def solve_round(
    snapshot: Snapshot,
    options: SolveOptions,
    progress: ProgressCallback | None = None,
    *,
    known: Outcome | None = None,
) -> SolvedRound:
    """Solve a round as `solve` does, for callers that go on with more than the plan.

    Parameters
    ----------
    known : Outcome, optional
        An admissible plan to begin with, where it is better than greedy's.
    """
    return _Round(snapshot, options).optimal(progress, known)


def solve_greedy(snapshot: Snapshot, prefer: str = "none") -> Plan:
    """Run the greedy baseline until nothing changes."""
    return solve_greedy_round(snapshot, prefer).plan


def solve_greedy_round(snapshot: Snapshot, prefer: str = "none") -> SolvedRound:
    """Run the greedy baseline as `solve_greedy` does, for callers that go on with more than the plan."""
    return _Round(snapshot, SolveOptions(prefer=prefer)).greedy()


def solve_both(
    snapshot: Snapshot, options: SolveOptions | None = None, progress: ProgressCallback | None = None
) -> tuple[Plan, Plan]:
    """Solve a round with both schedulers: the optimal plan, then greedy's."""
    round_ = _Round(snapshot, options or SolveOptions())
    return round_.optimal(progress).plan, round_.greedy().plan


def load_solver() -> None:
    """Load what a search needs (OR-tools among it), so that processes that start as copies need not."""
    from .decomposition import search  # noqa: F401


class _Round:
    """One instance being solved: greedy's run is shared by both schedulers, and the clock starts with it."""

    def __init__(self, snapshot: Snapshot, options: SolveOptions) -> None:
        self._options = options
        self._start = time.monotonic()
        self._cluster = build_cluster(snapshot)
        require_supported(self._cluster)
        self._greedy, self._greedy_value = greedy_outcome(self._cluster, options.prefer)
        self._greedy_seconds = time.monotonic() - self._start

    def greedy(self) -> SolvedRound:
        """Return greedy's outcome as a plan, replayed by its own steps."""
        stats = Stats(
            wall_seconds=round(self._greedy_seconds, 3), verified=True, admissible=self._greedy.admissible
        )
        plan = build_plan(self._cluster, self._greedy, self._greedy_value, None, "greedy", stats)
        return self._verified(plan, self._greedy)

    def optimal(self, progress: ProgressCallback | None, known: Outcome | None = None) -> SolvedRound:
        """Search, take the better of the best admissible plan and greedy's outcome, replay it."""
        from .decomposition.engine import require_engine
        from .decomposition.search import search_round

        require_engine(self._options)
        candidate = self._greedy
        if known is not None:
            worth = valuate(self._cluster, known, self._options.prefer).costs
            candidate = known if worth < self._greedy_value.costs else candidate
        found = search_round(self._cluster, candidate, self._options, progress, self._start)
        best, value, bounds = found.best, found.valuation, found.bounds
        if not self._greedy.admissible and self._greedy_value.costs < value.costs:
            bounds = _bounds_of_greedy(bounds, value, self._greedy_value)
            best, value = self._greedy, self._greedy_value
        if best.admissible:
            best, value = honoured_first(self._cluster, best, value, self._options.prefer)
        stats = Stats(
            wall_seconds=round(time.monotonic() - self._start, 3),
            variables=found.variables,
            constraints=found.constraints,
            verified=True,
            admissible=best.admissible,
            interrupted=found.interrupted,
        )
        plan = build_plan(self._cluster, best, value, bounds, "optimal", stats)
        return self._verified(plan, best)

    def _verified(self, plan: Plan, outcome: Outcome) -> SolvedRound:
        end = replay(self._cluster, plan, self._options.prefer)
        return SolvedRound(plan, outcome, self._cluster, end)


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
