"""PlacementBinPacking: prefers the placement that the group fills best.

    score = mean over the resources that the group asks for of 100 * taken / allocatable

Both are sums over the nodes of the placement, taken with the group on them.  The proposal gives neither a
scale nor weights.  Source: KEP-5732, "Scheduler Plugins".
"""

from typing import TYPE_CHECKING, ClassVar

from ..vocabulary import names
from .interfaces import PlacementScorer
from .placement import Assignment, Placement, PodGroupInfo

if TYPE_CHECKING:
    from ..state.state import State


class PlacementBinPacking(PlacementScorer):
    """Scores 0 to 100."""

    name: ClassVar[str] = names.PLACEMENT_BIN_PACKING

    def score_placement(
        self, state: "State", info: PodGroupInfo, placement: Placement, assignment: Assignment
    ) -> float:
        """Average the shares of the placement that are taken."""
        cluster, nodes = self.cluster, placement.nodes
        shares: list[float] = []
        for r in range(len(cluster.resources)):
            if not any(cluster.pods[i].request[r] for i in info.pods):
                continue
            offered = int(cluster.allocatable[r, nodes].sum())
            taken = int(state.requested[r, nodes].sum()) + sum(cluster.pods[i].request[r] for i in assignment)
            shares.append(100 * min(1.0, taken / offered) if offered > 0 else 0.0)
        return sum(shares) / len(shares) if shares else 0.0

    def highest_score(self, state: "State", info: PodGroupInfo, placement: Placement) -> float:
        """Score all members: which nodes they are on does not matter."""
        return self.score_placement(state, info, placement, dict.fromkeys(info.pods, -1))
