"""NodeResourcesBalancedAllocation: prefers nodes where the resources would be used to like shares.

    score = trunc((1 - standard deviation of the shares) * 100)

Source: kube-scheduler 1.34.1 plugins/noderesources/balanced_allocation.go.
"""

from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from ...models.config import NodeResourcesBalancedAllocationArgs, PluginArgs
from .. import names
from ..domains import Ints
from .base import MAX_NODE_SCORE, ScorePlugin
from .node_resources_fit import allocations

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..state import State

Floats = NDArray[np.float64]


class NodeResourcesBalancedAllocation(ScorePlugin):
    """See the module's docstring.  Plain requests count here, and the resources' weights do not."""

    name: ClassVar[str] = names.BALANCED_ALLOCATION

    def __init__(self, cluster: "Cluster", args: PluginArgs) -> None:
        super().__init__(cluster, args)
        self._resources = cast("NodeResourcesBalancedAllocationArgs", args).resources

    def pre_score(self, state: "State", i: int, nodes: Ints) -> Any:
        """Skip a pod that requests none of the resources."""
        request = self.cluster.pods[i].request
        if all(request[self.cluster.resource_index[item.name]] == 0 for item in self._resources):
            return None
        return ()

    def score(self, data: Any, state: "State", i: int, nodes: Ints) -> Ints:
        """Score the deviation of the resources' shares from their mean."""
        shares: list[Floats] = []
        for _, offered, asked in allocations(self.cluster, state, i, nodes, self._resources, nonzero=False):
            has = (offered > 0).astype(np.bool_)
            share = asked.astype(np.float64) / np.where(has, offered, 1).astype(np.float64)
            shares.append(np.where(has, np.minimum(share, 1.0), np.nan))
        deviation = _deviation(shares, len(nodes))
        return ((1.0 - deviation) * float(MAX_NODE_SCORE)).astype(np.int64)


def _deviation(shares: list[Floats], nodes: int) -> Floats:
    """Return the standard deviation over resources, nan standing for a resource that a node has not.

    Summed resource by resource as upstream does, so that the last bit agrees.
    """
    count: Floats = np.zeros(nodes, dtype=np.float64)
    total: Floats = np.zeros(nodes, dtype=np.float64)
    for share in shares:
        there = ~np.isnan(share)
        count += there
        total += np.where(there, share, 0.0)
    mean = total / np.maximum(count, 1.0)
    squares: Floats = np.zeros(nodes, dtype=np.float64)
    first: Floats = np.full(nodes, np.nan)
    last: Floats = np.full(nodes, np.nan)
    for share in shares:
        there = ~np.isnan(share)
        difference = np.where(there, share - mean, 0.0)
        squares += difference * difference
        first = np.where(np.isnan(first), share, first)
        last = np.where(there, share, last)
    pair = np.abs((first - last) / 2)
    many = np.sqrt(squares / np.maximum(count, 1.0))
    return np.select([count == 2, count > 2], [pair, many], 0.0)
