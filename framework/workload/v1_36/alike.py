"""Whether a group whose members are all alike finds its place, without placing them one after another.

Where members see no more of each other than the room that they take, the order in which nodes fill up does
not matter: together they take as many members as each takes for itself.
"""

from typing import TYPE_CHECKING

import numpy as np

from ...cycle.runtime import framework_for
from ...index.affinity import PodTerms
from ...plugins.node_resources_fit import wanted_room
from ...rules.spread import hard_constraints
from ...vocabulary.arrays import Ints
from ..placement import PodGroupInfo
from .attempt import is_steady

if TYPE_CHECKING:
    from ...state.state import State
    from .variant import V1_36


class Alike:
    """The members of a group that are alike, and see of each other no more than the room that they take."""

    def __init__(self, variant: "V1_36", info: PodGroupInfo) -> None:
        self._framework = framework_for(variant.cluster, info.pods[0])
        self._info = info

    @classmethod
    def of(cls, variant: "V1_36", trial: "State", info: PodGroupInfo) -> "Alike | None":
        """Return the members of a group, None where it has to be tried member by member.

        Parameters
        ----------
        variant : V1_36
        trial : State
            With the members in flight; its nominations are those that count.
        info : PodGroupInfo
        """
        cluster, first = variant.cluster, variant.cluster.pods[info.pods[0]]
        spec = first.pod.spec
        if len(info.pod_sets) > 1 or any(i in trial.nominated for i in info.pods):
            return None
        if first.ports or spec.volumes or spec.resource_claims or first.terms != PodTerms():
            return None
        if first.usage != first.request or hard_constraints(cluster, first.index):
            return None
        return cls(variant, info) if is_steady(variant, trial, info) else None

    def fit(self, state: "State") -> bool | None:
        """Whether the group algorithm succeeds in a state; None where it has to be tried."""
        i = self._info.pods[0]
        view = self._framework.view(state, i)
        if view is None:
            return None
        nodes = self._framework.passing(view, state, i, None)
        wanted = wanted_room(self._framework.cluster, i)
        found = len(self._info.pods) if len(nodes) else 0
        if wanted is not None:
            found = min(found, self._places(state, nodes, wanted))
        return found > 0 and len(self._info.scheduled) + found >= self._info.group.quorum

    def _places(self, state: "State", nodes: Ints, wanted: tuple[int, ...]) -> int:
        """Return how many members some nodes take, beside the pods that are expected there."""
        cluster = self._framework.cluster
        room = cluster.allowed_pods[nodes] - state.pod_count[nodes]
        expected = state.nominations.expected(self._info.pods[0]) if state.nominated else None
        if expected is not None:
            room = room - expected.count[nodes]
        for r, amount in enumerate(wanted):
            if amount > 0:
                free = cluster.allocatable[r, nodes] - state.requested[r, nodes]
                if expected is not None:
                    free = free - expected.usage[r, nodes]
                room = np.minimum(room, free // amount)
        return int(room.sum())
