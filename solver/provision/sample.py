"""One node of each offer beside the cluster: what each class of pods may use of it, in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...encoders.build import build_problem
from ...framework.build import build_cluster

if TYPE_CHECKING:
    from ...encoders.problem import Problem
    from ...framework.vocabulary.arrays import Ints
    from .trial import Counts, Market


@dataclass(frozen=True)
class Sample:
    """What the nodes of offers, and those of the cluster, take.

    Attributes
    ----------
    nodes : int array (K,)
        The node of each offer in the problem.
    here : int array
        Nodes of the cluster that take a pod.
    """

    problem: Problem
    nodes: Ints
    here: Ints

    def takes(self, nodes: Ints) -> Ints:
        """Return how many pods of each class one of the nodes takes at most, (C, N)."""
        limits = [
            np.where(cls.mask, np.minimum(cls.limit, cls.size), 0)[nodes] for cls in self.problem.classes
        ]
        return np.array(limits, dtype=np.int64).reshape(len(limits), len(nodes))

    @property
    def sizes(self) -> Ints:
        """Pods of each class, (C,)."""
        return np.array([cls.size for cls in self.problem.classes], dtype=np.int64)

    def useful(self, counts: Counts) -> Counts:
        """Lower numbers of nodes to those that can each have a pod."""
        pods = ((self.takes(self.nodes) > 0) * self.sizes[:, None]).sum(axis=0)
        return tuple(min(n, int(k)) for n, k in zip(counts, pods.tolist(), strict=True))


def sample(market: Market) -> Sample:
    """Look at one node of each offer."""
    bought = market.stripped((1,) * len(market.catalogue.offers))
    cluster = build_cluster(bought.snapshot)
    problem = build_problem(cluster)
    nodes = np.array([cluster.node_index[name] for [name] in bought.nodes], dtype=np.int64)
    others = np.setdiff1d(np.arange(cluster.n_nodes), nodes)
    used = np.zeros(cluster.n_nodes, dtype=np.bool_)
    for cls in problem.classes:
        used |= cls.mask & (cls.limit > 0)
    return Sample(problem, nodes, others[used[others]])
