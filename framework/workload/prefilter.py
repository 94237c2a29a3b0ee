"""Prefiltering of placements: who has less room than the group needs at least is not worth a try.

Two bounds, both for the least demanding pod that the group's members could be: the sum of what is free, and
for each node how many such pods it could take, by resources, slots and devices.

Source: KEP-5732, "Pod-Level Filtering and Feasibility Check" (Potential Optimization).
"""

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..cycle.runtime import framework_for
from ..dra.extended import mapped_resources
from ..plugins.node_resources_fit import wanted_room
from ..vocabulary.arrays import Ints
from .devices import devices_needed, free_devices
from .placement import Placement, PodGroupInfo

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State


class Room:
    """How much room there is for a group in a state, whatever else the filters say.

    Parameters
    ----------
    cluster, state : Cluster, State
    info : PodGroupInfo
    """

    def __init__(self, cluster: "Cluster", state: "State", info: PodGroupInfo) -> None:
        self._cluster = cluster
        self._state = state
        self._info = info

    @cached_property
    def _per_node(self) -> Ints:
        """How many pods that ask for the members' minimum of everything each node could take; int64[N]."""
        cluster, state = self._cluster, self._state
        possible = np.zeros(cluster.n_nodes, dtype=np.bool_)
        for pod_set in self._info.pod_sets:
            possible |= framework_for(cluster, pod_set[0]).static_mask(pod_set[0])
        room = np.where(possible, cluster.allowed_pods - state.pod_count, 0)
        if not self._bounded:
            room = np.where(possible, len(self._info.pods), 0)
        for r in self._rows:
            least = min(wanted[r] for wanted in self._wanted)
            if least > 0:
                room = np.minimum(room, (cluster.allocatable[r] - state.requested[r]) // least)
        if self._devices:
            free = free_devices(cluster, state)
            if free is not None:
                room = np.minimum(room, free // self._devices)
        return np.maximum(room, 0).astype(np.int64)

    @cached_property
    def _rows(self) -> list[int]:
        """The resources that a node itself must have: not those that devices may serve."""
        served = mapped_resources(self._cluster)
        return [r for r, name in enumerate(self._cluster.resources) if name not in served]

    @cached_property
    def _wanted(self) -> list[tuple[int, ...]]:
        """What each member's profile wants free for it, by resource; nothing where it ignores room."""
        nothing = (0,) * len(self._cluster.resources)
        return [wanted_room(self._cluster, i) or nothing for i in self._info.pods]

    @cached_property
    def _bounded(self) -> bool:
        """Whether every member needs a pod slot."""
        return all(wanted_room(self._cluster, i) is not None for i in self._info.pods)

    @cached_property
    def _devices(self) -> int:
        return devices_needed(self._cluster, self._state, self._info)

    def too_small(self, placement: Placement, needed: int) -> bool:
        """Whether a placement cannot take so many more members."""
        if needed <= 0:
            return False
        nodes, cluster, state = placement.nodes, self._cluster, self._state
        if int(self._per_node[nodes].sum()) < needed:
            return True
        for r in self._rows:
            least = sum(sorted(wanted[r] for wanted in self._wanted)[:needed])
            if least:
                free = cluster.allocatable[r, nodes] - state.requested[r, nodes]
                if int(np.maximum(free, 0).sum()) < least:
                    return True
        return False
