"""NodeResourcesBalancedAllocation: prefers nodes where the resources would be used to like shares.

    S = trunc((1 - standard deviation of the shares) * 100)

1.34 scores S with the pod there; 1.36 scores 50 + (50 + S with the pod - S without it) / 2, so that a node
that stays as uneven as it was gets 75.

Source: kube-scheduler plugins/noderesources/balanced_allocation.go.
"""

from functools import reduce
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from ...models.config import NodeResourcesBalancedAllocationArgs, PluginArgs
from ..rules.scored_resources import Amounts, ScoredResources
from ..vocabulary import names
from ..vocabulary.arrays import Bools, Ints
from ..vocabulary.releases import BalancedAllocation
from .base import MAX_NODE_SCORE, Scope, ScorePlugin

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State

Floats = NDArray[np.float64]


class NodeResourcesBalancedAllocation(ScorePlugin):
    """See the module's docstring.  Plain requests count here, and the resources' weights do not."""

    name: ClassVar[str] = names.BALANCED_ALLOCATION
    scope: ClassVar[Scope] = Scope.PODS

    def __init__(self, cluster: "Cluster", args: PluginArgs) -> None:
        super().__init__(cluster, args)
        self._resources = cast("NodeResourcesBalancedAllocationArgs", args).resources
        self._scored: dict[int, ScoredResources | None] = {}

    def pre_score(self, state: "State", i: int, nodes: Ints) -> ScoredResources | None:
        """Choose the resources that count; skips a pod that requests none of them."""
        cls = self.cluster.pods[i].but_claims
        if cls not in self._scored:
            request = self.cluster.pods[i].request
            asks = any(request[self.cluster.resource_index[item.name]] for item in self._resources)
            self._scored[cls] = (
                ScoredResources.of(self.cluster, i, self._resources, defaults=False) if asks else None
            )
        return self._scored[cls]

    def by_load(self, data: ScoredResources) -> bool:
        """Whether nothing else counts: always."""
        return True

    def score(self, data: ScoredResources, state: "State", i: int, nodes: Ints) -> Ints:
        """Score the deviation of the resources' shares from their mean; of those that the node has."""
        has, offered, taken = data.on(self.cluster, state, nodes)
        if self.cluster.release.balanced_allocation is BalancedAllocation.SHARES:
            return _evenness(has, offered, taken)
        both = _evenness(
            np.concatenate((has, has), axis=1),
            np.concatenate((offered, offered), axis=1),
            np.concatenate((taken, taken - data.request), axis=1),
        )
        there, before = both[: len(nodes)], both[len(nodes) :]
        half = MAX_NODE_SCORE // 2
        return half + (half + there - before) // 2


def _evenness(has: Bools, offered: Amounts, taken: Amounts) -> Ints:
    """Return S of the module's docstring, int64[K]; arguments as `ScoredResources.on` returns them."""
    shares: Floats = np.minimum(taken.astype(np.float64) / offered.astype(np.float64), 1.0)
    if np.logical_and.reduce(has, axis=None):
        deviation = _deviation(shares)
    else:
        deviation = np.zeros(has.shape[1], dtype=np.float64)
        for pattern in np.unique(has, axis=1).T:
            alike = (has == pattern[:, None]).all(axis=0)
            deviation[alike] = _deviation(shares[np.ix_(pattern, alike)])
    return ((1.0 - deviation) * float(MAX_NODE_SCORE)).astype(np.int64)


def _deviation(shares: Floats) -> Floats:
    """Return the standard deviation over resources (rows).

    Summed resource by resource as upstream does, so that the last bit agrees.
    """
    count = len(shares)
    if count < 2:
        return np.zeros(shares.shape[1], dtype=np.float64)
    if count == 2:
        half: Floats = np.abs((shares[0] - shares[1]) / 2)
        return half
    mean = reduce(np.add, shares) / float(count)
    squares: Floats = reduce(np.add, [(share - mean) * (share - mean) for share in shares])
    return np.sqrt(squares / float(count))
