"""What is known of a round, or of a part of one, that there was no time to search."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...encoders.build import build_problem
from ...framework.state.state import State
from ..bounds.trivial import trivial_bound
from ..deadline import OutOfTime, until
from ..plans.nominations import derive_nominations
from ..plans.objective import valuate
from ..plans.outcome import Outcome
from ..search.construction import admissible_part
from ..search.incumbent import Incumbent
from ..search.sum_bounds import SumBounds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...framework.index.cluster import Cluster
    from ...models.progress import Watch
    from ..options import SolveOptions
    from ..plans.objective import ObjectiveVector


@dataclass(frozen=True)
class Unsearched:
    """Greedy's plan, or the plan that does nothing, and bounds that hold of every plan."""

    best: Outcome
    valuation: ObjectiveVector
    bounds: Mapping[str, int]
    interrupted: bool = False

    def proven(self) -> dict[str, tuple[int, bool]]:
        """Tier -> (bound, whether the plan attains it)."""
        values = self.valuation.by_name()
        return {name: (bound, bound == values[name]) for name, bound in self.bounds.items()}


def unsearched(cluster: Cluster, greedy: Outcome, prefer: str) -> Unsearched:
    """Return what is known without a search; greedy's outcome counts where it is a plan."""
    best = Outcome()
    if greedy.admissible:
        best = derive_nominations(cluster, State.initial(cluster), greedy.moves, greedy.allocations)
    valuation = valuate(cluster, best, prefer)
    return Unsearched(best, valuation, {t.name: trivial_bound(cluster, t.name) for t in valuation.tiers})


def summed(
    cluster: Cluster, greedy: Outcome, known: Unsearched, options: SolveOptions, seconds: float, watch: Watch
) -> Unsearched:
    """Add bounds by sums to what is known, and what can be repaired of greedy's outcome if it is no plan.

    Parameters
    ----------
    seconds : float
        For building classes, and once more for the bounds.
    watch : Watch
        Hears of classes being built.
    """
    try:
        problem = build_problem(cluster, until(time.monotonic() + seconds, watch))
    except OutOfTime:
        return known
    incumbent = Incumbent(cluster, known.best, known.valuation)
    for name, bound in known.bounds.items():
        incumbent.tell(name, bound)
    if not greedy.admissible and (kept := admissible_part(problem, greedy)) is not None:
        incumbent.offer(kept, valuate(cluster, kept, options.prefer))
    sums = SumBounds(problem, options)
    sums.of_open(incumbent, time.monotonic() + seconds, seconds)
    return Unsearched(incumbent.best, incumbent.valuation, incumbent.bounds(), sums.interrupted)
