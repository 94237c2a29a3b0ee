"""Input of the resource scorers: for some resources, what nodes have and what would be taken of it.

Source: kube-scheduler 1.34.1 plugins/noderesources/resource_allocation.go.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ...models.config import ResourceSpec
from ..vocabulary.arrays import Bools, Ints
from ..vocabulary.resources import CPU, EPHEMERAL_STORAGE, MEMORY, Rows, block, rows_of

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State

Amounts = NDArray[Any]
"""int64, or Python integers where the cluster's amounts need them."""

_WITH_DEFAULTS: Final = (CPU, MEMORY)


@dataclass(frozen=True, slots=True, eq=False)
class ScoredResources:
    """The resources that count for one class of pods, a row for each (R of them).

    Attributes
    ----------
    rows : rows
        Their numbers.
    request : int[R, 1]
        What the pod adds.
    weights : int64[R, 1]
    defaulted : rows
        Which of the R count with the scorer's defaults for containers that request nothing: cpu and memory
        are the first rows of `State.nonzero` as well.
    """

    rows: Rows
    request: Amounts
    weights: Ints
    defaulted: Ints
    numbers: Ints

    @classmethod
    def of(
        cls, cluster: "Cluster", i: int, resources: Sequence[ResourceSpec], *, defaults: bool
    ) -> "ScoredResources":
        """Choose the resources that count for pod i.

        Parameters
        ----------
        cluster : Cluster
        i : int
            A resource other than cpu, memory and ephemeral-storage that it does not request is left out.
        resources : sequence of ResourceSpec
            As configured.
        defaults : bool
            Whether cpu and memory count with the scorer's defaults.
        """
        info = cluster.pods[i]
        request = info.score_request if defaults else info.request
        numbered = [(cluster.resource_index[item.name], item.weight) for item in resources]
        kept = [(r, weight) for r, weight in numbered if r <= EPHEMERAL_STORAGE or request[r]]
        numbers = [r for r, _ in kept]
        return cls(
            rows=rows_of(numbers),
            request=np.array([request[r] for r in numbers], dtype=cluster.dtype).reshape(-1, 1),
            weights=np.array([weight for _, weight in kept], dtype=np.int64).reshape(-1, 1),
            defaulted=np.array(
                [k for k, r in enumerate(numbers) if defaults and r in _WITH_DEFAULTS], dtype=np.int64
            ),
            numbers=np.array(numbers, dtype=np.int64),
        )

    def on(self, cluster: "Cluster", state: "State", nodes: Ints) -> tuple[Bools, Amounts, Amounts]:
        """Return the amounts of some nodes.

        Returns
        -------
        has : bool[R, K]
            Whether the node has any of the resource.
        offered : int[R, K]
            How much it has; 1 where it has none, to divide by.
        taken : int[R, K]
            How much is taken with the pod there.
        """
        offered = block(cluster.allocatable, self.rows, nodes)
        if len(self.defaulted) == len(self.numbers):
            taken = block(state.nonzero, self.rows, nodes)
        else:
            taken = block(state.requested, self.rows, nodes)
            if len(self.defaulted):
                taken[self.defaulted] = block(state.nonzero, self.numbers[self.defaulted], nodes)
        has: Bools = np.asarray(offered > 0, dtype=np.bool_)
        return has, np.maximum(offered, 1), taken + self.request
