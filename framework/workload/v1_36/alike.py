"""How many members of a group that are all alike find a node, without placing them one after another.

Where members see no more of each other than what they take of the node that they are on, the order in which
nodes fill up does not matter: together they take as many members as each takes for itself.
"""

from collections.abc import Hashable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...cycle.runtime import framework_for
from ...dra.extended import requested
from ...dra.index import device_index
from ...dra.pod_claims import ClaimProblem
from ...dra.repeats import Repeats
from ...index.affinity import PodTerms
from ...index.signature import signature
from ...plugins.dynamic_resources import DynamicResources
from ...plugins.node_resources_fit import wanted_room
from ...rules.affinity_groups import groups_about
from ...rules.spread import hard_constraints
from ...vocabulary.arrays import Bools, Ints
from ...volumes.uses import uses_of
from ..placement import PodGroupInfo
from .attempt import cannot_fail

if TYPE_CHECKING:
    from ...index.cluster import Cluster
    from ...state.state import State
    from .variant import V1_36


class _Room(NamedTuple):
    """What nodes take in a state.

    Attributes
    ----------
    members : int64[N]
        How many members each node takes, up to all, by everything but devices.
    devices : Repeats or None
        How many find devices there; None where they need none.
    unsure : bool[N] or None
        Nodes where that is not known: others are nominated there. None for nowhere.
    """

    members: Ints
    devices: Repeats | None = None
    unsure: Bools | None = None


class Alike:
    """The members of a group that are alike, and see of each other no more than what they take of a node."""

    def __init__(self, variant: "V1_36", info: PodGroupInfo) -> None:
        self._framework = framework_for(variant.cluster, info.pods[0])
        self._info = info
        self._known: tuple[tuple[int, int], _Room | None] | None = None

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
        cluster, first = variant.cluster, info.pods[0]
        kind = _kind(cluster, first)
        if kind is None or any(i in trial.nominated for i in info.pods):
            return None
        if any(_kind(cluster, pods[0]) != kind for pods in info.pod_sets[1:]):
            return None
        if hard_constraints(cluster, first) or not _claims_are_free(cluster, trial, info):
            return None
        return cls(variant, info) if cannot_fail(variant, trial, first) else None

    def fit(self, state: "State") -> bool | None:
        """Whether the group algorithm succeeds in a state; None where it has to be tried."""
        found = self.count(state)
        return None if found is None else self.enough(found)

    def enough(self, found: int) -> bool:
        """Whether the group algorithm succeeds with so many members that find a node."""
        return found > 0 and len(self._info.scheduled) + found >= self._info.group.quorum

    def count(self, state: "State", within: Bools | None = None) -> int | None:
        """Return how many members find a node, the first ones; None where they have to be tried.

        Parameters
        ----------
        state : State
        within : bool[N], optional
            The nodes of a placement.
        """
        moment = (state.version, state.nominations_version)
        if self._known is None or self._known[0] != moment:
            self._known = (moment, self._look(state))
        room = self._known[1]
        if room is None:
            return None
        members = room.members if within is None else np.where(within, room.members, 0)
        most = len(self._info.pods)
        if room.devices is None or state.claims is None:
            return min(most, int(members.sum()))
        nodes = np.flatnonzero(members)
        if room.unsure is not None and room.unsure[nodes].any():
            return None
        return room.devices.count(state.claims, nodes, members[nodes], most)

    def _look(self, state: "State") -> _Room | None:
        """Look at every node; None where filters cannot be asked apart from each other."""
        i, framework = self._info.pods[0], self._framework
        members = np.zeros(framework.cluster.n_nodes, dtype=np.int64)
        view = framework.view(state, i)
        if view is not None:
            nodes = framework.passing(view, state, i, None)
            members[nodes] = self._places(state, nodes)
            return _Room(members)
        cycle = framework.pre_filter(state, i)
        if cycle.rejected is not None:
            return None
        devices: Repeats | None = None
        passed = np.ones(len(members), dtype=np.bool_)
        if cycle.outside is not None:
            passed &= ~cycle.outside
        for plugin, data in cycle.entries:
            if not plugin.in_turn:
                passed &= plugin.filter_all(data, state, i) == 0
                continue
            devices = plugin.repeats(data) if isinstance(plugin, DynamicResources) else None
            if devices is None:
                return None
        unsure = np.zeros(len(members), dtype=np.bool_)
        unsure[list(state.nominated.values())] = True
        nodes = np.flatnonzero(passed)
        members[nodes] = self._places(state, nodes)
        return _Room(members, devices, unsure)

    def _places(self, state: "State", nodes: Ints) -> Ints:
        """Return how many members each of some nodes takes, up to all, beside the pods expected there."""
        cluster, i = self._framework.cluster, self._info.pods[0]
        found: Ints = np.full(len(nodes), len(self._info.pods), dtype=np.int64)
        wanted = wanted_room(cluster, i)
        if wanted is None:
            return found
        expected = state.nominations.expected(i) if state.nominated else None
        room = cluster.allowed_pods[nodes] - state.pod_count[nodes]
        if expected is not None:
            room = room - expected.count[nodes]
        found = np.minimum(found, room)
        for r, amount in enumerate(wanted):
            if amount > 0:
                free = cluster.allocatable[r, nodes] - state.requested[r, nodes]
                if expected is not None:
                    free = free - expected.usage[r, nodes]
                found = np.minimum(found, free // amount)
        return found


def _kind(cluster: "Cluster", i: int) -> Hashable | None:
    """Return what is equal for members that are alike; None for those that see more of each other."""
    return cluster.memo(("kind of member", cluster.pods[i].cls), partial(_kind_of, cluster, i))


def _kind_of(cluster: "Cluster", i: int) -> Hashable | None:
    info, index = cluster.pods[i], device_index(cluster)
    if info.ports or info.terms != PodTerms() or info.usage != info.request:
        return None
    if i in uses_of(cluster).pods or requested(cluster, i):
        return None
    specs: tuple[int, ...] = ()
    if index is not None:
        try:
            claims = index.claims_of(i)
        except ClaimProblem:
            return None
        if any(claim.group for claim in claims):
            return None
        specs = tuple(index.spec(claim.key).number for claim in claims)
    # of labels others see, and only pods that keep away from some
    kept_away = bool(groups_about(cluster, "required_anti_affinity", i))
    return signature(info, (), ()), info.unit if kept_away else -1, specs


def _claims_are_free(cluster: "Cluster", state: "State", info: PodGroupInfo) -> bool:
    """Whether every member has claims of its own that nobody has been given devices for."""
    index = device_index(cluster)
    if index is None or state.claims is None:
        return True
    keys = [claim.key for i in info.pods for claim in index.claims_of(i)]
    taken = state.claims.allocations.keys() | state.claims.reserved.keys()
    return len(set(keys)) == len(keys) and taken.isdisjoint(keys)
