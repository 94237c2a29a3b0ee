"""The trees of groups in a cluster that changes: which tree a pod is part of, and what the tree waits for.

Source: KEP-6012; kube-scheduler 1.37 plugins/gangscheduling (PreEnqueue, and which groups are of one tree).
"""

from collections.abc import Iterator

from ...models.features import FeatureGates
from ...models.pod import Pod
from ...models.scheduling import CompositePodGroup, PodGroup
from ..events.objects import ObjectStore
from ..index.group_names import GroupName, TreeName, UnitName, group_name, parent_of
from ..rules.hierarchy import Child, Hierarchy, in_order, knows_trees


class GroupTrees:
    """The trees of a store's groups, as of each moment.

    Parameters
    ----------
    objects : ObjectStore
    gates : FeatureGates
        Those of the release: without CompositePodGroup every PodGroup is a group of its own.

    Attributes
    ----------
    known : bool
        Whether the scheduler knows trees.
    """

    def __init__(self, objects: ObjectStore, gates: FeatureGates) -> None:
        self._objects = objects
        self.known = knows_trees(gates)
        self._parents = Hierarchy(objects.by_key(CompositePodGroup), objects.by_key(PodGroup), {})

    def unit(self, pod: Pod) -> UnitName | None:
        """Return what a pod is scheduled as part of: its group, or the tree of it; None for itself alone."""
        name = group_name(pod)
        return None if name is None else self.unit_of(name)

    def unit_of(self, name: GroupName) -> UnitName:
        """Return the tree of a group; the group itself where it is in none, or in one without a root."""
        if not self.known or name.workload:
            return name
        path = self._parents.path(name.key)
        return self._tree(path) if path and self._parents.complete(path) else name

    def tree_of(self, item: PodGroup | CompositePodGroup) -> TreeName | None:
        """Return the tree that an object is part of; None for none, and where a parent is missing."""
        if not self.known:
            return None
        if isinstance(item, PodGroup):
            path = self._parents.path(item.key)
        else:
            path = self._parents.path_from(item.key)
        return self._tree(path) if path and self._parents.complete(path) else None

    def _tree(self, path: list[str]) -> TreeName:
        namespace, _, name = path[-1].partition("/")
        return TreeName(namespace, name)

    def is_part(self, name: GroupName) -> bool:
        """Whether a group is, or will be, part of a tree."""
        group = self._objects.get(PodGroup, name.key) if self.known and not name.workload else None
        return group is not None and bool(parent_of(group))

    def waits(self, name: GroupName) -> str:
        """Return what the tree of a group that is part of one waits for; empty for nothing."""
        path = self._parents.path(name.key)
        if not self._parents.complete(path):
            return self._parents.waits(name.key, {}) or ""
        children: dict[str, tuple[Child, ...]] = {}
        known: dict[str, int] = {}
        open_ = [path[-1]]
        while open_:
            key = open_.pop()
            children[key] = in_order(self._objects.parts(key))
            for child in children[key]:
                if child.composite:
                    open_.append(child.key)
                else:
                    known[child.key] = len(self._objects.members(_group(child.key)))
        tree = Hierarchy(self._parents.composites, self._parents.pod_groups, children)
        return tree.waits(name.key, known) or ""

    def groups(self, unit: UnitName) -> Iterator[GroupName]:
        """Yield the PodGroups of a tree, parents' before children's; a group by itself is its only one."""
        if isinstance(unit, GroupName):
            yield unit
            return
        for item in self.nodes(unit):
            if isinstance(item, PodGroup):
                yield _group(item.key)

    def nodes(self, tree: TreeName) -> Iterator[PodGroup | CompositePodGroup]:
        """Yield the objects of a tree, the root first, parents before children."""
        root = self._objects.get(CompositePodGroup, tree.key)
        found: list[PodGroup | CompositePodGroup] = [] if root is None else [root]
        for item in found:  # it grows; no circle hangs from a root
            yield item
            if isinstance(item, CompositePodGroup):
                found += self._objects.parts(item.key)

    def members(self, unit: UnitName) -> list[Pod]:
        """Return the pods of a group, or of all groups of a tree, that have not finished."""
        return [pod for name in self.groups(unit) for pod in self._objects.members(name)]


def _group(key: str) -> GroupName:
    namespace, _, name = key.partition("/")
    return GroupName(namespace, "", name, "")
