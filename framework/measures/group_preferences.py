"""Preferences of pod groups that a round may miss: the tiers `desiredCount` and `preferredTopology`.

Both are judged on the end state and only for groups that gain a member. Source: KEP-5732 (desiredCount of
the basic policy: prefer a domain that can also hold the members that are still to come; preferred topology
keys).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ..cycle.runtime import framework_for
from ..plugins.node_resources_fit import wanted_room
from ..rules.groups import groups

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..index.cluster import Cluster
    from ..rules.groups import Group
    from ..state.state import State
    from ..vocabulary.arrays import Bools, Ints


NO_END: Final = 2**31
"""More pods than any count can ask for."""


def desired_count_shortfall(cluster: Cluster, end: State, placed: Mapping[int, int]) -> int:
    """Sum over groups of the members that are expected and that the group's domains have no room for.

    Room is counted by resources and pod slots alone, for pods like the group's first pending member, on nodes
    that pass its static filters; unbounded where its profile does not filter by room.
    """
    total = 0
    for group, new in gaining(cluster, placed):
        if group.desired_count is None or not group.topology_keys:
            continue
        nodes = domain_nodes(cluster, group, placed[new[0]])
        standing = sum(end.node_of[i] >= 0 for i in group.members)
        room = int(room_for(cluster, end, group.pending[0])[nodes].sum())
        total += max(0, group.desired_count - int(standing) - room)
    return total


def preferred_topology_excess(cluster: Cluster, end: State, placed: Mapping[int, int]) -> int:
    """Sum over groups and preferred keys of the domains that the group stands in beyond the first.

    All nodes without the label count as one domain.
    """
    total = 0
    for group, _ in gaining(cluster, placed):
        for key in group.preferred_keys:
            ids = cluster.domains(key).ids
            taken = {int(ids[n]) for i in group.members if (n := end.node_of[i]) >= 0}
            total += len(taken) - 1
    return total


def gaining(cluster: Cluster, placed: Mapping[int, int]) -> Iterator[tuple[Group, list[int]]]:
    """Yield the groups that gain members, with these."""
    for group in groups(cluster):
        new = [i for i in group.members if i in placed]
        if new:
            yield group, new


def domain_nodes(cluster: Cluster, group: Group, node: int) -> Bools:
    """Return the nodes that share the domain of every required key with a node; bool[N]."""
    mask = np.ones(cluster.n_nodes, dtype=np.bool_)
    for key in group.topology_keys:
        ids = cluster.domains(key).ids
        mask &= ids == ids[node]
    return mask


def room_for(cluster: Cluster, state: State, i: int) -> Ints:
    """Return how many more pods like pod i each node has room for; int64[N]."""
    wanted = wanted_room(cluster, i)
    room = np.maximum(cluster.allowed_pods - state.pod_count, 0)
    if wanted is None:
        room = np.full(cluster.n_nodes, NO_END, dtype=np.int64)
    for r, asked in enumerate(wanted or ()):
        if asked > 0:
            free = np.maximum(cluster.allocatable[r] - state.requested[r], 0)
            room = np.minimum(room, free // asked).astype(np.int64)
    return np.where(framework_for(cluster, i).static_mask(i), room, 0).astype(np.int64)
