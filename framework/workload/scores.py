"""The placement scorers of kube-scheduler: NodeResourcesFit and PodGroupPodsCount.

Source: kube-scheduler plugins/noderesources and plugins/podgrouppodscount (1.36 and later).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from ...models.config import ResourceSpec
from ..plugins.base import MAX_NODE_SCORE
from ..vocabulary import names
from ..vocabulary.resources import CPU, EPHEMERAL_STORAGE, MEMORY
from .interfaces import PlacementScorer
from .placement import Assignment, Placement, PodGroupInfo

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State


class NodeResourcesFitOfPlacement(PlacementScorer):
    """MostAllocated over the placement's nodes together, by the resources of the profile's arguments."""

    name: ClassVar[str] = names.NODE_RESOURCES_FIT

    def __init__(self, cluster: "Cluster", resources: Sequence[ResourceSpec]) -> None:
        super().__init__(cluster)
        self._resources = resources

    def score_placement(
        self, state: "State", info: PodGroupInfo, placement: Placement, assignment: Assignment
    ) -> int:
        """Score 0 to 100; a scalar resource that no placed member asks for is left out."""
        cluster, nodes = self.cluster, placement.nodes
        points = weights = 0
        for item in self._resources:
            r = cluster.resource_index[item.name]
            if r > EPHEMERAL_STORAGE and not any(cluster.pods[i].score_request[r] for i in assignment):
                continue
            offered = int(cluster.allocatable[r, nodes].sum())
            if offered <= 0:
                continue
            sums = state.nonzero[r] if r in (CPU, MEMORY) else state.requested[r]
            asked = int(sums[nodes].sum()) + sum(cluster.pods[i].score_request[r] for i in assignment)
            points += item.weight * (min(asked, offered) * MAX_NODE_SCORE // offered)
            weights += item.weight
        return points // weights if weights else 0


class PodGroupPodsCount(PlacementScorer):
    """Scores by how many members a placement holds, those that ran before among them."""

    name: ClassVar[str] = names.POD_GROUP_PODS_COUNT

    def score_placement(
        self, state: "State", info: PodGroupInfo, placement: Placement, assignment: Assignment
    ) -> int:
        """Count the members."""
        return len(info.scheduled) + len(assignment)

    def normalize_scores(self, scores: Sequence[float]) -> Sequence[float]:
        """Let the highest count be 100."""
        most = int(max(scores))
        return [int(score) * MAX_NODE_SCORE // most for score in scores]
