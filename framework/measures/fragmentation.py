"""How much of what is free is of no use, since it lies where pods do not fit.

The measure is that of "Beware of Fragmentation" (USENIX ATC 2023): the free amount on nodes on which a pod
drawn at random from the workload does not fit, expected over the workload. Only amounts of resources count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State


def fragmentation(cluster: Cluster, state: State) -> dict[str, float]:
    """Return the unusable share of what is free of each resource, 0 to 1.

    The workload are the pods on nodes and those of the round, each with the same weight; of a resource that
    has nothing free, or where there is no pod, nothing is said.
    """
    alive = [i for i in (*cluster.round, *np.flatnonzero(state.node_of >= 0).tolist())]
    if not alive:
        return {}
    free = np.maximum(cluster.allocatable - state.requested, 0).astype(np.float64)
    wanted, counts = np.unique(
        np.array([cluster.usage[i] for i in alive], dtype=np.float64), axis=0, return_counts=True
    )
    unusable = np.zeros(len(cluster.resources))
    for request, count in zip(wanted, counts, strict=True):
        lacks = ((request[:, None] > free) & (request[:, None] > 0)).any(axis=0)
        unusable += count * free[:, lacks].sum(axis=1)
    total = free.sum(axis=1) * len(alive)
    return {name: float(unusable[r] / total[r]) for r, name in enumerate(cluster.resources) if total[r] > 0}
