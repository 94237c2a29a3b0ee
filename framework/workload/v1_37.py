"""What came after kube-scheduler 1.36: not every placement is tried, nor every member."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from ..rules.groups import Group
from .interfaces import PlacementScorer
from .placement import Placement, PodGroupInfo
from .topology_placement import TopologyPlacementGenerator
from .variants import Candidate, WorkloadCycleVariant

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State


class V1_37(WorkloadCycleVariant):
    """kube-scheduler 1.37.

    A placement is feasible with `minCount` members, without a gang with one; the highest total wins, the
    smallest name among equals.
    """

    preempts: ClassVar[bool] = True

    def __init__(self, cluster: "Cluster", scorers: Sequence[PlacementScorer], percentage: int) -> None:
        super().__init__(cluster, (TopologyPlacementGenerator(cluster),), (), scorers)
        self._percentage = percentage

    def applies(self, group: Group) -> bool:
        """Every group."""
        return True

    def needed(self, info: PodGroupInfo) -> int:
        """`minCount`, 1 without a gang."""
        return info.group.quorum

    def enough(self, placements: Sequence[Placement]) -> int:
        """A percentage of the placements, at least one.

        Where none is configured it falls from 100 % to 10 % at 5,000 nodes over all placements, and never
        below 5 %.
        """
        percentage = self._percentage
        if not percentage:
            nodes = sum(int(placement.nodes.sum()) for placement in placements)
            percentage = max(5, 100 - nodes * 9 // 500)
        return max(1, len(placements) * min(percentage, 100) // 100)

    def counts_placements(self, info: PodGroupInfo) -> bool:
        """Say so also for a group without constraint, whose one placement is the whole cluster."""
        return self.cluster.gates.enabled("TopologyAwareWorkloadScheduling")

    def choose(self, state: "State", info: PodGroupInfo, candidates: Sequence[Candidate]) -> Candidate:
        """Highest total; scores are left out where there is no choice."""
        if len(candidates) == 1:
            return candidates[0]
        totals = self.totals(state, info, candidates)
        return candidates[totals.index(max(totals))]
