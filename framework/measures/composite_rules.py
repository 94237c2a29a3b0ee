"""What holds for groups of groups as a whole, in the end of a round.

Where a CompositePodGroup gains a member, enough of its children stand, and all its members that stand,
running ones included, are in one domain of each required key. A PodGroup stands with `minCount` members, one
without a gang; a CompositePodGroup with `minGroupCount` children that stand, one without a gang.

Sources: KEP-6012; docs/groups.md.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..rules.composites import Composite, above
from ..rules.groups import OFF_KEY, Group, pinned_domains
from ..vocabulary.arrays import Bools

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State


def standing(
    cluster: "Cluster", group: Group, placed: Mapping[int, int], gone: Collection[int]
) -> dict[int, int]:
    """Return the members that are on a node in the end, with their nodes.

    Parameters
    ----------
    cluster, group : Cluster, Group
    placed : mapping
        New pod to node, as they stand in the end.
    gone : collection of int
        Running pods that have left.
    """
    stands = {i: cluster.pods[i].initial_node for i in group.running if i not in gone}
    stands.update((i, placed[i]) for i in group.members if i in placed)
    return stands


def title(group: Group) -> str:
    """Return a group's kind and key in words."""
    return f"{'composite ' if isinstance(group, Composite) else ''}pod group {group.key}"


def stands(group: Group, where: Mapping[int, int]) -> bool:
    """Whether a group stands, given the members on nodes."""
    if isinstance(group, Composite):
        return standing_children(group, where) >= group.needed_groups
    return sum(i in where for i in group.members) >= group.quorum


def standing_children(item: Composite, where: Mapping[int, int]) -> int:
    """Count the children that stand, given the members on nodes."""
    return sum(stands(child, where) for child in item.children)


def gaining_stand(group: Group, where: Mapping[int, int], new: Collection[int]) -> bool:
    """Whether a group stands that gains members, and every group below it that does."""
    if not any(i in group.members for i in new):
        return stands(group, where)
    below = group.children if isinstance(group, Composite) else ()
    gaining = [child for child in below if any(i in child.members for i in new)]
    return stands(group, where) and all(gaining_stand(child, where, new) for child in gaining)


def faults_of_composite(
    cluster: "Cluster", item: Composite, placed: Mapping[int, int], gone: Collection[int]
) -> Iterator[str]:
    """Say which rule a CompositePodGroup breaks that gains a member; parameters as for `standing`."""
    where = standing(cluster, item, placed, gone)
    children = standing_children(item, where)
    if children < item.needed_groups:
        yield f"composite pod group {item.key} stands with {children} of {item.needed_groups} groups"
    yield from faults_of_domains(cluster, item, where)


def faults_of_domains(cluster: "Cluster", group: Group, where: Mapping[int, int]) -> Iterator[str]:
    """Say where the members of a group, given with their nodes, are not in one domain of a required key."""
    for key in group.topology_keys:
        ids = cluster.domains(key).ids
        off = next((i for i, n in where.items() if ids[n] == OFF_KEY), None)
        if off is not None:
            yield (
                f"{title(group)}: {cluster.pods[off].key} is on {cluster.node_names[where[off]]}, "
                f"which lacks the label {key}"
            )
        values = cluster.domains(key).values
        taken = sorted({values[ids[n]] for n in where.values() if ids[n] != OFF_KEY})
        if len(taken) > 1:
            yield f"{title(group)} is in more than one domain of {key}: {', '.join(taken)}"


def nodes_in_domains(cluster: "Cluster", state: "State", group: Group) -> Bools:
    """Return the nodes in the domains where members stand in a state, of every required key; bool[N]."""
    mask = np.ones(cluster.n_nodes, dtype=np.bool_)
    for key in group.topology_keys:
        ids = cluster.domains(key).ids
        mask &= ids != OFF_KEY
        for domain in pinned_domains(cluster, state, group, key):
            mask &= ids == domain
    return mask


def nodes_above(cluster: "Cluster", state: "State", group: Group) -> Bools:
    """Return the nodes where one more member may join a PodGroup with no rule of its tree broken; bool[N].

    The group itself stands with that member. Nowhere where a group above it would be short of children.
    """
    mask = np.ones(cluster.n_nodes, dtype=np.bool_)
    joined = {group.index}
    for item in above(cluster, group):
        where = {i: int(state.node_of[i]) for i in item.members if state.node_of[i] >= 0}
        children = sum(child.index in joined or stands(child, where) for child in item.children)
        if children < item.needed_groups:
            return np.zeros(cluster.n_nodes, dtype=np.bool_)
        joined.add(item.index)
        mask &= nodes_in_domains(cluster, state, item)
    return mask
