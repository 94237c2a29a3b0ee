"""What `--prefer` measures on a finished state: the twins of `encoders.preferences`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal

import numpy as np

from .cluster import Cluster
from .state import State

PreferenceValue = Callable[[Cluster, State, Mapping[int, int]], int]


def nodes_in_use(cluster: Cluster, end: State, placed: Mapping[int, int]) -> int:
    """Nodes that hold a pod in the end state."""
    return int((_pods_by_node(cluster, end) > 0).sum())


def squared_load(cluster: Cluster, end: State, placed: Mapping[int, int]) -> int:
    """Sum over nodes of the squared number of pods in the end state."""
    return sum(int(k) ** 2 for k in _pods_by_node(cluster, end))


def _pods_by_node(cluster: Cluster, end: State) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    return np.bincount(end.node_of[end.node_of >= 0], minlength=cluster.n_nodes)


#: Preference -> (sense, value of an end state given the pods that the round placed).
PREFERENCE_VALUES: Mapping[str, tuple[Literal["max", "min"], PreferenceValue]] = MappingProxyType(
    {"pack": ("min", nodes_in_use), "spread": ("min", squared_load)}
)
