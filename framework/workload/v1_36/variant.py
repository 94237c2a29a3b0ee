"""The text of kube-scheduler 1.36.2: which plugins run, and who may look for victims."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from ...rules.groups import Group
from ..interfaces import PlacementScorer
from ..placement import Placement, PodGroupInfo
from ..topology_placement import TopologyPlacementGenerator
from ..variants import Candidate, WorkloadCycleVariant

if TYPE_CHECKING:
    from ...index.cluster import Cluster
    from ...state.state import State

NO_PLACEMENT: Final = "no feasible placements found"
BY_PLACEMENT: Final = "not eligible due to placement-based pod group scheduling limitation"
BY_GROUP: Final = "not eligible due to workload aware preemption enabled"


class _Generator(TopologyPlacementGenerator):
    """Says in 1.36's words that there is no placement."""

    def nowhere(self, info: PodGroupInfo) -> str:
        """Say no more than that."""
        return NO_PLACEMENT


class V1_36(WorkloadCycleVariant):
    """kube-scheduler 1.36.2.

    A placement is feasible with `minCount` members, without a gang with one; all are tried, the highest total
    wins, the smallest name among equals.
    """

    preempts: ClassVar[bool] = True

    def __init__(self, cluster: "Cluster", scorers: Sequence[PlacementScorer]) -> None:
        super().__init__(cluster, (_Generator(cluster),), (), scorers)
        self.by_placement = cluster.gates.enabled("TopologyAwareWorkloadScheduling")
        self.preempts_as_one = cluster.gates.enabled("WorkloadAwarePreemption")

    def applies(self, group: Group) -> bool:
        """Every group."""
        return True

    def needed(self, info: PodGroupInfo) -> int:
        """`minCount`, 1 without a gang."""
        return info.group.quorum

    def enough(self, placements: Sequence[Placement]) -> int:
        """Every placement is tried."""
        return len(placements)

    def choose(self, state: "State", info: PodGroupInfo, candidates: Sequence[Candidate]) -> Candidate:
        """Highest total; scores are left out where there is no choice."""
        if len(candidates) == 1:
            return candidates[0]
        totals = self.totals(state, info, candidates)
        return candidates[totals.index(max(totals))]

    def counts_placements(self, info: PodGroupInfo) -> bool:
        """Say so wherever placements are generated, be it one for the whole cluster."""
        return self.by_placement

    def ineligible(self, info: PodGroupInfo) -> str:
        """Say why members may not look for victims one by one; empty where they may."""
        if info.group.topology_keys:
            return BY_PLACEMENT
        return BY_GROUP if self.preempts_as_one else ""
