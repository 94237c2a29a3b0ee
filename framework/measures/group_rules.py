"""Rules of pod groups as a whole, on the end state of a round: no filter of a single pod checks them.

A gang that gains a member stands with at least `minCount`. Where a member is new, all members that stand,
running ones included, are in one domain of each required key. Groups that wait gain no member. Running
members that have left do not count: a gang may stand with fewer than `minCount` as long as it gains no
member.

Sources: docs/groups.md; KEP-4671, KEP-5732.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..rules.groups import OFF_KEY, Group, group_of, groups, pinned_domains
from ..vocabulary.arrays import Bools

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State


class DomainOfGroup(NamedTuple):
    """The domain that a group's required key got: `scheduled` counts the new members."""

    group: Group
    key: str
    domain: str
    scheduled: int


def faults_of_groups(
    cluster: "Cluster", placed: Mapping[int, int], victims: Collection[int]
) -> Iterator[str]:
    """Yield where the end of a round breaks a rule of a group.

    Parameters
    ----------
    cluster : Cluster
    placed : mapping
        New pod to node, as they stand in the end.
    victims : collection of int
        Running pods that have left.
    """
    gone = frozenset(victims)
    for group in groups(cluster):
        new = [i for i in group.members if i in placed]
        if new:
            yield from _faults(cluster, group, new, placed, gone)


def broken_groups(cluster: "Cluster", placed: Mapping[int, int], victims: Collection[int]) -> list[Group]:
    """Return the groups whose rules the end of a round breaks; arguments as for `faults_of_groups`."""
    gone = frozenset(victims)
    gaining = ((group, [i for i in group.members if i in placed]) for group in groups(cluster))
    return [g for g, new in gaining if new and any(True for _ in _faults(cluster, g, new, placed, gone))]


def nodes_for_member(cluster: "Cluster", state: "State", i: int) -> Bools:
    """Return the nodes where one more member may join its group by itself, with no rule broken; bool[N].

    All nodes for a pod without a group; none while the group waits or would still be short of its quorum.
    """
    group = group_of(cluster, i)
    mask = np.ones(cluster.n_nodes, dtype=np.bool_)
    if group is None:
        return mask
    standing = sum(state.node_of[j] >= 0 for j in group.members)
    if group.waits is not None or standing + 1 < group.quorum:
        return np.zeros(cluster.n_nodes, dtype=np.bool_)
    for key in group.topology_keys:
        ids = cluster.domains(key).ids
        mask &= ids != OFF_KEY
        for domain in pinned_domains(cluster, state, group, key):
            mask &= ids == domain
    return mask


def _faults(
    cluster: "Cluster", group: Group, new: list[int], placed: Mapping[int, int], gone: frozenset[int]
) -> Iterator[str]:
    if group.waits is not None:
        yield f"{cluster.pods[new[0]].key} is placed, and pod group {group.key} waits: {group.waits}"
    stands = _standing(cluster, group, placed, gone)
    if len(stands) < group.quorum:
        yield f"gang {group.key} stands with {len(stands)} of {group.quorum} members"
    for key in group.topology_keys:
        ids = cluster.domains(key).ids
        off = next((i for i, n in stands.items() if ids[n] == OFF_KEY), None)
        if off is not None:
            yield (
                f"pod group {group.key}: {cluster.pods[off].key} is on {cluster.node_names[stands[off]]}, "
                f"which lacks the label {key}"
            )
        values = cluster.domains(key).values
        taken = sorted({values[ids[n]] for n in stands.values() if ids[n] != OFF_KEY})
        if len(taken) > 1:
            yield f"pod group {group.key} is in more than one domain of {key}: {', '.join(taken)}"


def _standing(
    cluster: "Cluster", group: Group, placed: Mapping[int, int], gone: frozenset[int]
) -> dict[int, int]:
    """Return the members that are on a node in the end, with their nodes."""
    stands = {i: cluster.pods[i].initial_node for i in group.running if i not in gone}
    stands.update((i, placed[i]) for i in group.members if i in placed)
    return stands


def placements_of(
    cluster: "Cluster", placed: Mapping[int, int], victims: Collection[int] = ()
) -> tuple[DomainOfGroup, ...]:
    """Return the domain of each required key of each group that gained members; empty where rules are broken.

    Parameters
    ----------
    cluster : Cluster
    placed : mapping
        New pod to node, as they stand in the end.
    victims : collection of int
        Running pods that have left.
    """
    found: list[DomainOfGroup] = []
    for group in groups(cluster):
        new = [i for i in group.members if i in placed]
        if not new or any(True for _ in _faults(cluster, group, new, placed, frozenset(victims))):
            continue
        for key in group.topology_keys:
            domains = cluster.domains(key)
            domain = domains.values[domains.ids[placed[new[0]]]]
            found.append(DomainOfGroup(group, key, domain, len(new)))
    return tuple(found)
