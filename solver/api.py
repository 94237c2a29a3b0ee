"""The solver's front door: a snapshot in, a verified plan out."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ..framework.cluster import Cluster
from ..framework.supported import unsupported
from ..models.errors import KubestowError
from ..models.plan import Plan, Stats
from .baseline import greedy_outcome
from .options import ProgressCallback, SolveOptions
from .plans import build_plan
from .replay import replay

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..models.snapshot import Snapshot
    from .outcome import Outcome
    from .vector import Valuation

__all__ = ["SolveOptions", "solve", "solve_both", "solve_greedy"]


def solve(
    snapshot: Snapshot, options: SolveOptions | None = None, progress: ProgressCallback | None = None
) -> Plan:
    """Find the provably best round of a cluster.

    Returns
    -------
    Plan
        Replayed and never worse than greedy's.  `stats.interrupted` is true where Ctrl-C ended the search
        early.

    Raises
    ------
    KubestowError
        Where the round needs what this release does not solve; it is never half-solved.
    BoundContradiction
        Where a bound and a plan contradict each other (a bug).
    """
    return solve_both(snapshot, options, progress)[0]


def solve_greedy(snapshot: Snapshot, prefer: str = "none") -> Plan:
    """Run the greedy baseline until nothing changes."""
    start = time.monotonic()
    cluster = _cluster(snapshot)
    outcome, value = greedy_outcome(cluster, prefer)
    return _greedy_plan(cluster, outcome, value, prefer, start)


def solve_both(
    snapshot: Snapshot, options: SolveOptions | None = None, progress: ProgressCallback | None = None
) -> tuple[Plan, Plan]:
    """Solve a round with both schedulers: the optimal plan, then greedy's."""
    from ..encoders.problem import build_problem
    from .search import Search

    options = options or SolveOptions()
    start = time.monotonic()
    cluster = _cluster(snapshot)
    greedy, greedy_value = greedy_outcome(cluster, options.prefer)
    greedy_plan = _greedy_plan(cluster, greedy, greedy_value, options.prefer, start)
    search = Search(build_problem(cluster), options, progress)
    search.run([greedy] if greedy.admissible else [])
    best, value, bounds = search.best, search.valuation, search.proven()
    if not greedy.admissible and greedy_value.costs < value.costs:
        bounds = _bounds_of_greedy(bounds, value, greedy_value)
        best, value = greedy, greedy_value
    stats = Stats(
        wall_seconds=round(time.monotonic() - start, 3),
        variables=search.model.variables,
        constraints=search.model.constraints,
        verified=True,
        admissible=best.admissible,
        interrupted=search.interrupted,
    )
    plan = build_plan(cluster, best, value, bounds, "optimal", stats)
    replay(cluster, plan, options.prefer)
    return plan, greedy_plan


def _cluster(snapshot: Snapshot) -> Cluster:
    cluster = Cluster(snapshot)
    needs = unsupported(cluster)
    if needs:
        more = f" (and {len(needs) - 1} more)" if len(needs) > 1 else ""
        raise KubestowError(f"{snapshot.name}: {needs[0]}{more}")
    return cluster


def _greedy_plan(cluster: Cluster, outcome: Outcome, value: Valuation, prefer: str, start: float) -> Plan:
    stats = Stats(
        wall_seconds=round(time.monotonic() - start, 3), verified=True, admissible=outcome.admissible
    )
    plan = build_plan(cluster, outcome, value, None, "greedy", stats)
    replay(cluster, plan, prefer)
    return plan


def _bounds_of_greedy(
    bounds: Mapping[str, tuple[int, bool]], ours: Valuation, theirs: Valuation
) -> dict[str, tuple[int, bool]]:
    """Bounds where greedy's outcome, which is no admissible plan, beats every admissible plan found.

    Down to the tier where the two differ the bounds stay.  If our value was proven there, no admissible plan
    reaches greedy's: greedy's outcome is alone in what it attains, and is the best of all.  Otherwise the
    bounds only have to admit it.
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
            merged[mine.name] = (loose, False)
        else:
            merged[mine.name] = (bound, proven)
    return merged
