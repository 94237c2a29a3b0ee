"""Pods on new nodes, as the autoscaler's estimator puts them there: each on the first node that takes it.

Source: kubernetes/autoscaler cluster-autoscaler/estimator/binpacking_estimator.go, expander/waste.
"""

from collections.abc import Sequence

import numpy as np

from ..framework.cycle.runtime import framework_for
from ..framework.index.cluster import Cluster
from ..framework.state.state import State


def first_fit(cluster: Cluster, state: State, pods: Sequence[int], nodes: Sequence[int]) -> list[int]:
    """Place pods on some nodes where every filter lets them; return those that are left."""
    within = np.zeros(cluster.n_nodes, dtype=np.bool_)
    within[list(nodes)] = True
    left: list[int] = []
    hopeless: set[tuple[int, int]] = set()
    for i in pods:
        kind = (cluster.pods[i].cls, state.version)
        if kind in hopeless:
            left.append(i)
            continue
        framework = framework_for(cluster, i)
        feasible = framework.bindable(state, i, nominated=True)
        feasible = feasible[within[feasible]]
        if not len(feasible):
            hopeless.add(kind)
            left.append(i)
            continue
        n = int(feasible[cluster.name_ranks[feasible].argmin()])
        state.withdraw(i)
        state.place(i, n, framework.reserve(state, i, n))
    return left


def waste(cluster: Cluster, state: State, names: set[str]) -> float:
    """Return the share of the new nodes' cpu and memory that no pod requests."""
    new = [n for n, name in enumerate(cluster.node_names) if name in names]
    shares = []
    for row in (0, 1):
        whole = float(cluster.allocatable[row, new].sum())
        if whole:
            shares.append(1 - float(state.requested[row, new].sum()) / whole)
    return sum(shares)
