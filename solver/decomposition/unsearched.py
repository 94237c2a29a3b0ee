"""What is known of a round, or of a part of one, that there was no time to search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...framework.state.state import State
from ..bounds.trivial import trivial_bound
from ..plans.nominations import derive_nominations
from ..plans.objective import valuate
from ..plans.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...framework.index.cluster import Cluster
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
