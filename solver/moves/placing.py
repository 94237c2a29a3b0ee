"""Where a replacement goes, one at a time: by kube-scheduler's scores, or where it leaves least room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...framework.cycle.cycle import find_node
from ...framework.cycle.runtime import framework_for
from ...framework.measures.group_rules import nodes_for_member
from ...framework.rules.groups import group_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...framework.index.cluster import Cluster
    from ...framework.state.state import State
    from ...framework.vocabulary.arrays import Bools, Ints
    from .batches import Choose
    from .moving import Moving


def by_scores(moving: Moving, open_: Bools, preferred: Bools) -> Choose:
    """Return a choice that takes kube-scheduler's best node.

    Parameters
    ----------
    open_ : bool[N]
        The nodes that take replacements; it may change.
    preferred : bool[N]
        Those of them that come first.
    """
    cluster = moving.cluster

    def choose(state: State, new: int, old: int) -> int:
        nodes = passing(cluster, state, new, _elsewhere(open_, state, new, old), preferred)
        if len(nodes) < 2:
            return int(nodes[0]) if len(nodes) else -1
        within = np.zeros(cluster.n_nodes, dtype=np.bool_)
        within[nodes] = True
        cycle = find_node(framework_for(cluster, new), state, new, within)
        return cycle.node if cycle.outcome == "bound" else -1

    return choose


def tightly(moving: Moving, open_: Bools, preferred: Bools) -> Choose:
    """Return a choice that takes the node where least is left; parameters as for `by_scores`."""
    cluster = moving.cluster
    most = np.maximum(cluster.allocatable.astype(np.float64), 1.0)

    def choose(state: State, new: int, old: int) -> int:
        nodes = passing(cluster, state, new, _elsewhere(open_, state, new, old), preferred)
        if not len(nodes):
            return -1
        asked = np.array([amount > 0 for amount in cluster.pods[new].usage], dtype=np.bool_)
        rows = np.flatnonzero(asked)
        left = (cluster.allocatable[rows][:, nodes] - state.requested[rows][:, nodes]) / most[rows][:, nodes]
        rest = left.sum(axis=0) if len(rows) else np.zeros(len(nodes))
        best = nodes[rest == rest.min()]
        return int(best[cluster.name_ranks[best].argmin()])

    return choose


def passing(cluster: Cluster, state: State, new: int, within: Bools, preferred: Bools) -> Ints:
    """Return the nodes that take a pod now, only preferred ones where there are any; int64[K]."""
    if group_of(cluster, new) is not None:
        within = within & nodes_for_member(cluster, state, new)
    framework = framework_for(cluster, new)
    if framework.binding_error(state, new) is not None:
        return np.zeros(0, dtype=np.int64)
    view = framework.view(state, new)
    if view is not None:
        nodes = framework.passing(view, state, new, within)
    else:
        found = framework.filter_all(state, new, within=within).feasible
        nodes = found[within[found]]
    first = nodes[preferred[nodes]]
    return first if len(first) else nodes


def _elsewhere(open_: Bools, state: State, new: int, old: int) -> Bools:
    """Leave out the node that the pod is on, where it has not left yet."""
    home = int(state.node_of[old])
    if home < 0 or not open_[home]:
        return open_
    within = open_.copy()
    within[home] = False
    return within


def largest_first(cluster: Cluster, pods: Iterable[int]) -> list[int]:
    """Sort pods: those that ask for the largest share of what all nodes offer first."""
    total = np.maximum(cluster.allocatable.astype(np.float64).sum(axis=1), 1.0)

    def size(i: int) -> float:
        return float((np.array(cluster.pods[i].usage, dtype=np.float64) / total).max(initial=0.0))

    return sorted(pods, key=lambda i: (-size(i), i))
