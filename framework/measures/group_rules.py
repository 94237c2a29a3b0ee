"""Rules of pod groups as a whole, on the end state of a round: no filter of a single pod checks them.

A gang that gains a member stands with at least `minCount`. Where a member is new, all members that stand,
running ones included, are in one domain of each required key. Groups that wait gain no member. Running
members that have left do not count: a gang may stand with fewer than `minCount` as long as it gains no
member. A group with disruptionMode `all`, or a group of groups with all below it, is evicted whole or not at
all, and gains no member where it is evicted. The rules of groups of groups are those of `composite_rules`.

Sources: docs/groups.md; KEP-4671, KEP-5732, KEP-5710, KEP-6012.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..rules.composites import Composite, composites
from ..rules.eviction_units import evicted_with, units
from ..rules.groups import Group, group_of, groups
from ..vocabulary.arrays import Bools
from .composite_rules import (
    faults_of_composite,
    faults_of_domains,
    nodes_above,
    nodes_in_domains,
    standing,
    title,
)

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State


class DomainOfGroup(NamedTuple):
    """The domain that a required key of a group, or group of groups, got: `scheduled` counts new members."""

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
    for group, new in _gaining(cluster, placed):
        yield from _faults(cluster, group, new, placed, gone)
    for group in partly_evicted(cluster, gone):
        left = next(cluster.pods[i].key for i in group.unit if i in gone)
        stays = next(cluster.pods[i].key for i in group.unit if i not in gone)
        yield f"{title(group)} is evicted whole or not at all: {left} leaves and {stays} stays"


def broken_groups(cluster: "Cluster", placed: Mapping[int, int], victims: Collection[int]) -> list[Group]:
    """Return the groups that gain members against a rule; arguments as for `faults_of_groups`."""
    gone = frozenset(victims)
    gaining = _gaining(cluster, placed)
    return [g for g, new in gaining if any(True for _ in _faults(cluster, g, new, placed, gone))]


def _gaining(cluster: "Cluster", placed: Mapping[int, int]) -> Iterator[tuple[Group, list[int]]]:
    """Yield the groups that gain members, groups of groups after all others, with these."""
    trees = (item for root in composites(cluster) for item in root.inner())
    for group in (*groups(cluster), *trees):
        new = [i for i in group.members if i in placed]
        if new:
            yield group, new


def partly_evicted(cluster: "Cluster", victims: Collection[int]) -> list[Group]:
    """Return what is to be evicted whole and of which some members leave and others stay."""
    gone = frozenset(victims)
    return [unit for unit in units(cluster) if 0 < len(gone.intersection(unit.unit)) < len(unit.unit)]


def nodes_for_member(cluster: "Cluster", state: "State", i: int) -> Bools:
    """Return the nodes where one more member may join its group by itself, with no rule broken; bool[N].

    All nodes for a pod without a group; none while the group waits or would still be short of its quorum, or
    after it was evicted whole.
    """
    group = group_of(cluster, i)
    if group is None:
        return np.ones(cluster.n_nodes, dtype=np.bool_)
    members = sum(state.node_of[j] >= 0 for j in group.members)
    whole = evicted_with(cluster, group)
    evicted = whole is not None and any(state.node_of[j] < 0 or state.terminating[j] for j in whole.unit)
    if group.waits is not None or members + 1 < group.quorum or evicted:
        return np.zeros(cluster.n_nodes, dtype=np.bool_)
    return nodes_in_domains(cluster, state, group) & nodes_above(cluster, state, group)


def _faults(
    cluster: "Cluster", group: Group, new: list[int], placed: Mapping[int, int], gone: frozenset[int]
) -> Iterator[str]:
    if isinstance(group, Composite):
        yield from faults_of_composite(cluster, group, placed, gone)
        return
    if group.waits is not None:
        yield f"{cluster.pods[new[0]].key} is placed, and pod group {group.key} waits: {group.waits}"
    whole = evicted_with(cluster, group)
    if whole is not None and not gone.isdisjoint(whole.unit):
        yield f"{cluster.pods[new[0]].key} is placed, and its {title(whole)} is evicted"
    where = standing(cluster, group, placed, gone)
    if len(where) < group.quorum:
        yield f"gang {group.key} stands with {len(where)} of {group.quorum} members"
    yield from faults_of_domains(cluster, group, where)


def placements_of(
    cluster: "Cluster", placed: Mapping[int, int], victims: Collection[int] = ()
) -> tuple[DomainOfGroup, ...]:
    """Return the domain of each required key of each group that gained members and breaks no rule.

    Parameters
    ----------
    cluster : Cluster
    placed : mapping
        New pod to node, as they stand in the end.
    victims : collection of int
        Running pods that have left.
    """
    gone = frozenset(victims)
    found: list[DomainOfGroup] = []
    for group, new in _gaining(cluster, placed):
        if not group.topology_keys or any(True for _ in _faults(cluster, group, new, placed, gone)):
            continue
        for key in group.topology_keys:
            domains = cluster.domains(key)
            domain = domains.values[domains.ids[placed[new[0]]]]
            found.append(DomainOfGroup(group, key, domain, len(new)))
    return tuple(found)
