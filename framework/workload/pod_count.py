"""PlacementPodCountScorer: prefers the placement that has room for more pods of the group.

Counted are the pods that the placement takes now, and how many more like those of the group's largest pod set
its nodes have room for.  Source: KEP-5732, "Scheduler Plugins" and "Basic Policy Extension".
"""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..cycle.runtime import framework_for
from ..plugins.node_resources_fit import wanted_room
from ..vocabulary import names
from .interfaces import PlacementScorer
from .placement import Assignment, Placement, PodGroupInfo

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..index.cluster import Cluster
    from ..state.state import State


class PlacementPodCountScorer(PlacementScorer):
    """Scores with a number of pods."""

    name: ClassVar[str] = names.PLACEMENT_POD_COUNT_SCORER

    def score_placement(
        self, state: "State", info: PodGroupInfo, placement: Placement, assignment: Assignment
    ) -> float:
        """Count the pods that fit, now and later."""
        return float(pods_fitting(self.cluster, state, info, placement, assignment))

    def highest_score(self, state: "State", info: PodGroupInfo, placement: Placement) -> float:
        """Count what fits before anybody is placed."""
        return float(most_fitting(self.cluster, state, info, placement))


def pods_fitting(
    cluster: "Cluster", state: "State", info: PodGroupInfo, placement: Placement, assignment: Assignment
) -> int:
    """Count the assigned pods and those that the placement's nodes could take besides them.

    Nodes are judged by the filters that do not depend on where pods are, and by resources.
    """
    like = max(info.pod_sets, key=len)[0]
    nodes = np.flatnonzero(placement.nodes & framework_for(cluster, like).static_mask(like))
    where = {int(n): k for k, n in enumerate(nodes)}
    new: NDArray[Any] = np.zeros((len(cluster.resources), len(nodes)), dtype=cluster.dtype)
    count = np.zeros(len(nodes), dtype=np.int64)
    for i, n in assignment.items():
        k = where.get(n)
        if k is not None:
            new[:, k] += cluster.usage[i]
            count[k] += 1
    wanted = wanted_room(cluster, like)
    room = cluster.allowed_pods[nodes] - state.pod_count[nodes] - count
    if wanted is None:  # nothing but the number of pods is an end
        room = np.full(len(nodes), len(info.pods) - len(assignment), dtype=np.int64)
    for r, amount in enumerate(wanted or ()):
        if amount > 0:
            free = cluster.allocatable[r, nodes] - state.requested[r, nodes] - new[r]
            room = np.minimum(room, free // amount)
    return len(assignment) + int(np.maximum(room, 0).sum())


def most_fitting(cluster: "Cluster", state: "State", info: PodGroupInfo, placement: Placement) -> int:
    """Return what `pods_fitting` cannot exceed.

    A pod that asks for no less than the counted ones, and goes nowhere else, takes at least one place from
    the room that there is; any other pod may come on top.
    """
    like = max(info.pod_sets, key=len)[0]
    where = framework_for(cluster, like).static_mask(like)
    asks = wanted_room(cluster, like)
    on_top = 0
    for pod_set in info.pod_sets:
        own = wanted_room(cluster, pod_set[0])
        elsewhere = framework_for(cluster, pod_set[0]).static_mask(pod_set[0]) & ~where & placement.nodes
        if elsewhere.any() or own is None or asks is None or any(map(int.__lt__, own, asks)):
            on_top += len(pod_set)
    return pods_fitting(cluster, state, info, placement, {}) + on_top
