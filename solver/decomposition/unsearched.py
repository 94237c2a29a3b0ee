"""What is known of a round, or of a part of one, that there was no time to search."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...encoders.build import build_problem
from ...framework.state.state import State
from ...models.progress import unwatched
from ..bounds.trivial import trivial_bound
from ..deadline import until
from ..plans.nominations import derive_nominations
from ..plans.objective import valuate
from ..plans.outcome import Outcome
from ..search.params import default_params

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...encoders.problem import Problem
    from ...framework.index.cluster import Cluster
    from ...models.progress import Watch
    from ..plans.objective import ObjectiveVector


@dataclass(frozen=True)
class Unsearched:
    """Greedy's plan, or the plan that does nothing, and bounds that hold of every plan."""

    best: Outcome
    valuation: ObjectiveVector
    bounds: Mapping[str, int]

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


def classes(cluster: Cluster, start: float, deadline: float, watch: Watch = unwatched) -> Problem:
    """Build the classes of a round, or of a part of one.

    Without them nothing can be said of it, so a share of what was spent until now is for that, even where the
    deadline comes before. The search then knows that no time is left.

    Parameters
    ----------
    start : float
        When the time of the round or the part began, on the monotonic clock.
    deadline : float
        Its end.
    watch : Watch
        Hears of classes being built.

    Raises
    ------
    OutOfTime
        Where that takes longer.
    """
    now = time.monotonic()
    moment = default_params().last_classes(now - start)
    return build_problem(cluster, until(max(deadline, now + moment), watch))
