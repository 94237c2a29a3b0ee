"""Groups that are evicted whole: from 1.37 on such a group is one victim, of pods and of groups.

A group of disruptionMode `all`, or the topmost group of groups of that mode above a pod, has the highest of
its own priority and its pods' priorities. Where it goes,
all its pods on nodes go, also those that need not make room; where it stays, its pods on the node are put
back together. Where a pod preempts, filters see the node alone, as ever.

Source: KEP-5710, "Workload-aware preemption"; KEP-6012, "Integration with workload-aware preemption".
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..rules.eviction_units import evicted_with
from ..rules.groups import Group, group_of
from ..vocabulary.arrays import Bools, Ints

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """Pods that leave together or stay together.

    Attributes
    ----------
    pods : tuple of int
        On whatever nodes.
    priority : int
    grouped : bool
        Whether the pods are those of a group.
    start : datetime
        When the unit started.
    """

    pods: tuple[int, ...]
    priority: int
    grouped: bool
    start: datetime

    @property
    def rank(self) -> tuple[int, bool, int, datetime]:
        """What units are sorted by, the most important first."""
        return (-self.priority, not self.grouped, -len(self.pods) if self.grouped else 0, self.start)


def nodes_with_whole_groups(cluster: "Cluster", state: "State") -> Bools | None:
    """Return the nodes with pods that are evicted with their groups, bool[N]; None without such groups."""
    members = cluster.memo("members of whole groups", partial(_members, cluster))
    if not len(members):
        return None
    found: Bools = np.zeros(cluster.n_nodes, dtype=np.bool_)
    at = state.node_of[members]
    found[at[at >= 0]] = True
    return found


def units_of(cluster: "Cluster", state: "State", pods: Iterable[int]) -> list[Unit]:
    """Return the units of some running pods, the most important first; a whole group's has all its pods."""
    whole: dict[int, Group] = {}
    found: list[Unit] = []
    for j in pods:
        group = _whole_group(cluster, j)
        if group is None:
            info = cluster.pods[j]
            found.append(Unit((j,), info.priority, grouped=False, start=info.start))
        else:
            whole[group.index] = group
    found += [_unit(cluster, state, group) for group in whole.values()]
    return sorted(found, key=lambda unit: unit.rank)


def _unit(cluster: "Cluster", state: "State", group: Group) -> Unit:
    pods = tuple(j for j in group.members if state.node_of[j] >= 0)
    infos = [cluster.pods[j] for j in pods]
    own = [] if group.priority is None else [group.priority]
    priority = max((*own, *(info.priority for info in infos)))
    return Unit(pods, priority, grouped=True, start=min(info.start for info in infos))


def _whole_group(cluster: "Cluster", j: int) -> Group | None:
    """Return the group that pod j is evicted with, None where it is evicted by itself."""
    if not cluster.release.whole_groups:
        return None
    group = group_of(cluster, j)
    return None if group is None else evicted_with(cluster, group)


def _members(cluster: "Cluster") -> Ints:
    found = [i for i in range(len(cluster.pods)) if _whole_group(cluster, i) is not None]
    return np.array(found, dtype=np.int64)
