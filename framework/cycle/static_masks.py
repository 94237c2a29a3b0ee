"""Where pods pass the filters of a profile that do not depend on other pods."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ..plugins import FilterPlugin, StaticFilter
from ..plugins.node_affinity import NodeAffinity
from ..vocabulary.arrays import Bools
from ..vocabulary.status import Status
from .binding import Binding

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State


class StaticMasks:
    """The nodes by class of pods, found once for all that only differ in their resource claims.

    Parameters
    ----------
    cluster : Cluster
    binding : Binding
    order : sequence of FilterPlugin
        All that prepare verdicts, in their order.
    filters, pre_filters : sequence of FilterPlugin
        Those that are asked at the two extension points.
    """

    def __init__(
        self,
        cluster: "Cluster",
        binding: Binding,
        order: Sequence[FilterPlugin],
        filters: Sequence[FilterPlugin],
        pre_filters: Sequence[FilterPlugin],
    ) -> None:
        self._cluster = cluster
        self._binding = binding
        self._order, self._filters, self._pre_filters = order, filters, pre_filters
        self._masks: dict[int, Bools] = {}
        self._but_claims: dict[int, Bools] = {}

    def of(self, i: int) -> Bools:
        """Return where pod i passes; bool[N], shared."""
        info = self._cluster.pods[i]
        mask = self._masks.get(info.cls)
        if mask is None:
            never = self._binding.never(i) or any(plugin.refuses(i) for plugin in self._pre_filters)
            mask = np.zeros(self._cluster.n_nodes, dtype=np.bool_) if never else self._passed(i)
            self._masks[info.cls] = mask
        return mask

    def forget(self) -> None:
        """Forget all masks: filters judge nodes anew."""
        self._masks.clear()
        self._but_claims.clear()

    def _passed(self, i: int) -> Bools:
        """Return where pod i passes, if no plugin refuses it wherever it goes."""
        alike = self._cluster.pods[i].but_claims
        mask = self._but_claims.get(alike)
        if mask is None:
            mask = np.ones(self._cluster.n_nodes, dtype=np.bool_)
            for plugin in self._order:
                if not isinstance(plugin, StaticFilter):
                    possible = plugin.possible(i)
                    if possible is not None and plugin in self._filters:
                        mask &= possible
                    continue
                data = plugin.pre_filter(cast("State", None), i)
                if isinstance(data, Status):
                    mask[:] = False
                elif data is not None and plugin in self._filters:
                    mask &= data == 0
                if isinstance(plugin, NodeAffinity) and plugin in self._pre_filters:
                    named = plugin.nodes(i)
                    if named is not None:
                        mask &= named
            self._but_claims[alike] = mask
        return mask
