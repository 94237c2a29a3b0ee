"""Groups of groups: the CompositePodGroups of the trees whose pods are in the round.

A tree's root is tried as one, like a PodGroup without a parent. A CompositePodGroup is a `Group` itself: its
members are those of all PodGroups below it, its topology constraint holds for all of them together, and its
policy counts children instead of pods.

Sources: KEP-6012; docs/groups.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ..vocabulary.workload_cycles import V1_37
from .groups import Group, group_of, groups, is_evicted_whole, required_keys
from .hierarchy import Child, Hierarchy, groups_needed, hierarchy

if TYPE_CHECKING:
    from ..index.cluster import Cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite(Group):
    """A CompositePodGroup with members.

    Attributes
    ----------
    children : tuple of Group
        Its child groups that have members, in the order in which they are tried.
    needed_groups : int
        How many of them must stand for it to stand: `minGroupCount`, 1 without a gang.
    gang : bool
        Whether its policy is all or nothing.
    """

    children: tuple[Group, ...]
    needed_groups: int
    gang: bool

    def leaves(self) -> Iterator[Group]:
        """Yield the PodGroups below it, in the order in which they are tried."""
        for child in self.children:
            if isinstance(child, Composite):
                yield from child.leaves()
            else:
                yield child

    def inner(self) -> Iterator["Composite"]:
        """Yield the CompositePodGroups below it, children before parents, and itself at the end."""
        for child in self.children:
            if isinstance(child, Composite):
                yield from child.inner()
        yield self


def leaves_of(group: Group) -> Iterator[Group]:
    """Yield the PodGroups below a CompositePodGroup; a PodGroup itself."""
    if isinstance(group, Composite):
        yield from group.leaves()
    else:
        yield group


def composites(cluster: "Cluster") -> tuple[Composite, ...]:
    """Return the roots of all trees with members; of those only whose layout is valid."""
    return cluster.memo("composites", partial(_read, cluster))


def tree_of(cluster: "Cluster", group: Group) -> Composite | None:
    """Return the root of the tree that a PodGroup is part of; None for a group by itself."""
    return cluster.memo("tree of group", partial(_by_leaf, cluster)).get(group.index)


def above(cluster: "Cluster", group: Group) -> tuple[Composite, ...]:
    """Return the CompositePodGroups above a PodGroup, the root last."""
    return cluster.memo("composites above", partial(_above, cluster)).get(group.index, ())


def gang_of(cluster: "Cluster", i: int) -> int | None:
    """Return the number of the gang that starts with pod i, the topmost above it; None outside gangs."""
    group = group_of(cluster, i)
    if group is None:
        return None
    gangs = [item.index for item in above(cluster, group) if item.gang]
    if gangs:
        return gangs[-1]
    return None if group.min_count is None else group.index


def _by_leaf(cluster: "Cluster") -> dict[int, Composite]:
    return {leaf.index: root for root in composites(cluster) for leaf in root.leaves()}


def _above(cluster: "Cluster") -> dict[int, tuple[Composite, ...]]:
    found: dict[int, tuple[Composite, ...]] = {}
    for root in composites(cluster):
        for item in root.inner():
            for leaf in item.leaves():
                found[leaf.index] = (*found.get(leaf.index, ()), item)
    return found


def _read(cluster: "Cluster") -> tuple[Composite, ...]:
    trees = hierarchy(cluster)
    if trees is None:
        return ()
    made = _Maker(cluster, trees)
    roots: dict[str, None] = {}
    for group in groups(cluster):
        path = trees.path(group.key) if group.parent else []
        # The groups of a tree that is too deep wait, each by itself.
        if path and trees.complete(path) and not trees.is_too_deep(path[-1]):
            roots.setdefault(path[-1])
    return tuple(made.composite(root) for root in roots)


class _Maker:
    """Makes trees, numbering CompositePodGroups after the groups, children before parents."""

    def __init__(self, cluster: "Cluster", trees: Hierarchy) -> None:
        self._cluster = cluster
        self._trees = trees
        self._leaves = {group.key: group for group in groups(cluster) if group.parent}
        self._next = len(groups(cluster))
        self._places = {i: place for place, i in enumerate(cluster.pending)}

    def composite(self, key: str) -> Composite:
        children = tuple(self._children(key))
        below = [leaf for child in children for leaf in leaves_of(child)]
        item = self._trees.composites[key]
        index, self._next = self._next, self._next + 1
        waits = next((leaf.waits for leaf in below if leaf.waits is not None), None)
        running = tuple(i for leaf in below for i in leaf.running)
        whole = is_evicted_whole(self._cluster, item.spec)
        return Composite(
            index=index,
            key=key,
            name=item.name,
            namespace=item.namespace,
            members=tuple(i for leaf in below for i in leaf.members),
            running=running,
            pending=tuple(sorted((i for leaf in below for i in leaf.pending), key=self._places.__getitem__)),
            deleted=(),
            gated=tuple(i for leaf in below for i in leaf.gated),
            known=tuple(i for leaf in below for i in leaf.known),
            min_count=None,
            desired_count=None,
            topology_keys=required_keys(self._cluster, item.spec),
            preferred_keys=(),
            waits=waits,
            enqueued=all(leaf.enqueued for leaf in below),
            evicted_whole=whole,
            unit=tuple(i for i in running if whole and not self._cluster.pods[i].terminating),
            priority=item.spec.priority,
            cycle=V1_37,
            parent=item.spec.parent_composite_pod_group_name or "",
            children=children,
            needed_groups=groups_needed(item.spec),
            gang=item.spec.scheduling_policy.gang is not None,
        )

    def _children(self, key: str) -> Iterator[Group]:
        for child in self._trees.children.get(key, ()):
            if not child.composite:
                if child.key in self._leaves:
                    yield self._leaves[child.key]
            elif self._has_members(child):
                yield self.composite(child.key)

    def _has_members(self, node: Child) -> bool:
        return any(each.key in self._leaves for each in self._trees.below(node.key) if not each.composite)
