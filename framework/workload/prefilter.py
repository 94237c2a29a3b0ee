"""Prefiltering of placements: who has less free than the group needs at least is not worth a try.

Source: KEP-5732, "Pod-Level Filtering and Feasibility Check" (Potential Optimization).
"""

from typing import TYPE_CHECKING

import numpy as np

from .placement import Placement, PodGroupInfo

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..state import State


def too_small(
    cluster: "Cluster", state: "State", info: PodGroupInfo, placement: Placement, needed: int
) -> bool:
    """Say whether the free sums of a placement rule it out.

    Parameters
    ----------
    cluster, state : Cluster, State
    info : PodGroupInfo
    placement : Placement
    needed : int
        How many more members must be placed; the least demanding ones are counted, for each resource apart.
    """
    if needed <= 0:
        return False
    nodes = placement.nodes
    slots = np.maximum(cluster.allowed_pods[nodes] - state.pod_count[nodes], 0)
    if int(slots.sum()) < needed:
        return True
    for r in range(len(cluster.resources)):
        least = sum(sorted(cluster.pods[i].request[r] for i in info.pods)[:needed])
        if least:
            free = cluster.allocatable[r, nodes] - state.requested[r, nodes]
            if int(np.maximum(free, 0).sum()) < least:
                return True
    return False
