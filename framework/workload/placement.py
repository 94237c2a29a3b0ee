"""What the plugins of a workload cycle talk about: the group's pods, a placement, an assignment.

Source: KEP-5732, "Data Structures".
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..dra.allocation import Allocation
from ..rules.groups import Group
from ..state.state import NO_ALLOCATIONS
from ..vocabulary.arrays import Bools

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State

Assignment = Mapping[int, int]
"""Pod to node, for the members that a placement takes (upstream's PodGroupAssignment)."""


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """A part of the cluster where a group may be placed, for one cycle.

    Attributes
    ----------
    name : str
        The domain; several are joined by `/`, and the whole cluster has none.
    nodes : bool[N]
        The nodes of the placement: the proposal's node selector and kube-scheduler's node list alike.
    allocations : mapping
        Claim to the devices that go with the placement (the proposal's draAllocations).
    """

    name: str
    nodes: Bools
    allocations: Mapping[str, Allocation] = field(default_factory=lambda: NO_ALLOCATIONS)


@dataclass(frozen=True, slots=True, eq=False)
class PodGroupInfo:
    """A group as one cycle sees it.

    Attributes
    ----------
    group : Group
    pods : tuple of int
        The members to be placed, in the order in which they are tried.
    scheduled : tuple of int
        The members that are on nodes.
    pod_sets : tuple of tuple of int
        `pods` by class, the first class first: pods of one set are the same to every filter and score.
    enough_known : bool
        Whether enough members are left to be in the queue.
    """

    group: Group
    pods: tuple[int, ...]
    scheduled: tuple[int, ...]
    pod_sets: tuple[tuple[int, ...], ...]
    enough_known: bool = True


def info_of(cluster: "Cluster", state: "State", group: Group, gone: Collection[int] = ()) -> PodGroupInfo:
    """Return a group as it stands in a state: queued members on no node, but for `gone`, are to be placed."""
    pods = tuple(i for i in group.pending if state.node_of[i] < 0 and i not in gone)
    sets: dict[int, list[int]] = {}
    for i in pods:
        sets.setdefault(cluster.pods[i].cls, []).append(i)
    left = len(group.known) - len(frozenset(group.known).intersection(gone))
    return PodGroupInfo(
        group=group,
        pods=pods,
        scheduled=tuple(i for i in group.members if state.node_of[i] >= 0),
        pod_sets=tuple(map(tuple, sets.values())),
        enough_known=not group.cycle.counts_schedulable or left >= group.quorum,
    )
