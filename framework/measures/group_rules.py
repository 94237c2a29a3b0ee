"""Rules of pod groups as a whole, on the end state of a round: no filter of a single pod checks them.

A gang that gains a member stands with at least `minCount`. Where a member is new, all members that stand,
running ones included, are in one domain of each required key. Groups that wait gain no member. Running
members that have left do not count: a gang may stand with fewer than `minCount` as long as it gains no
member. A group with disruptionMode `all` is evicted whole or not at all, and gains no member where it is
evicted.

Sources: docs/groups.md; KEP-4671, KEP-5732, KEP-5710.
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
    for group in partly_evicted(cluster, gone):
        left = next(cluster.pods[i].key for i in group.unit if i in gone)
        stays = next(cluster.pods[i].key for i in group.unit if i not in gone)
        yield f"pod group {group.key} is evicted whole or not at all: {left} leaves and {stays} stays"


def broken_groups(cluster: "Cluster", placed: Mapping[int, int], victims: Collection[int]) -> list[Group]:
    """Return the groups that gain members against a rule; arguments as for `faults_of_groups`."""
    gone = frozenset(victims)
    gaining = ((group, [i for i in group.members if i in placed]) for group in groups(cluster))
    return [g for g, new in gaining if new and any(True for _ in _faults(cluster, g, new, placed, gone))]


def partly_evicted(cluster: "Cluster", victims: Collection[int]) -> list[Group]:
    """Return the groups that are to be evicted whole and of which some members leave and others stay."""
    gone = frozenset(victims)
    return [g for g in groups(cluster) if 0 < len(gone.intersection(g.unit)) < len(g.unit)]


def nodes_for_member(cluster: "Cluster", state: "State", i: int) -> Bools:
    """Return the nodes where one more member may join its group by itself, with no rule broken; bool[N].

    All nodes for a pod without a group; none while the group waits or would still be short of its quorum, or
    after it was evicted whole.
    """
    group = group_of(cluster, i)
    mask = np.ones(cluster.n_nodes, dtype=np.bool_)
    if group is None:
        return mask
    standing = sum(state.node_of[j] >= 0 for j in group.members)
    evicted = any(state.node_of[j] < 0 or state.terminating[j] for j in group.unit)
    if group.waits is not None or standing + 1 < group.quorum or evicted:
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
    if not gone.isdisjoint(group.unit):
        yield f"{cluster.pods[new[0]].key} is placed, and its pod group {group.key} is evicted"
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
