"""GangScheduling: what ends the wait of a pod whose group, or whose fellow members, are not there yet.

Members of a tree of groups wait together: whatever comes to the tree may be what all of them wait for.

Source: kube-scheduler 1.36 and later, plugins/gangscheduling.
"""

from collections.abc import Hashable
from typing import ClassVar

from ...models.config import PluginArgs
from ...models.features import FeatureGates
from ...models.pod import Pod
from ...models.scheduling import CompositePodGroup, PodGroup
from ..events.events import Action, ClusterEvent, Resource
from ..events.objects import ObjectStore
from ..index.group_names import TreeName, group_name
from ..vocabulary import names
from .base import HintPlugin, QueueingHint, Registration, queue, skip
from .group_trees import GroupTrees


class GangScheduling(HintPlugin):
    """Waits for members of the pod's group or tree, and for the group and the tree."""

    name: ClassVar[str] = names.GANG_SCHEDULING

    def __init__(self, objects: ObjectStore, gates: FeatureGates, args: PluginArgs) -> None:
        super().__init__(objects, gates, args)
        self._trees = GroupTrees(objects, gates)

    def events_to_register(self) -> tuple[Registration, ...]:
        """Register pods and groups that come, and groups that change."""
        of_trees = Registration(ClusterEvent(Resource.COMPOSITE_POD_GROUP, Action.ADD), self._after_tree_grew)
        return (
            Registration(ClusterEvent(Resource.UNSCHEDULABLE_POD, Action.ADD), self._after_pod),
            Registration(ClusterEvent(Resource.ASSIGNED_POD, Action.ADD), self._after_pod),
            Registration(ClusterEvent(Resource.POD_GROUP, Action.ADD), self._after_group_added),
            Registration(ClusterEvent(Resource.POD_GROUP, Action.UPDATE), self._after_group_updated),
            *((of_trees,) if self._trees.known else ()),
        )

    def traits(self, pod: Pod) -> Hashable:
        """Return the group."""
        return group_name(pod)

    def _after_pod(self, pod: Pod, old: Pod | None, new: Pod | None) -> QueueingHint:
        mine = group_name(pod)
        if new is None or mine is None or (name := group_name(new)) is None:
            return skip("a pod of no group, or of another one")
        if name == mine:
            return queue("a pod of the same group comes")
        unit = self._trees.unit_of(mine)
        if isinstance(unit, TreeName) and self._trees.unit_of(name) == unit:
            return queue("a pod of the same tree of groups comes")
        return skip("a pod of no group, or of another one")

    def _after_group_added(self, pod: Pod, old: PodGroup | None, new: PodGroup) -> QueueingHint:
        if _is_of(pod, new):
            return queue("its group comes")
        return queue("a group of its tree comes") if self._is_part(pod, new) else skip("another group")

    def _after_tree_grew(
        self, pod: Pod, old: CompositePodGroup | None, new: CompositePodGroup
    ) -> QueueingHint:
        if self._is_part(pod, new):
            return queue("a group of groups of its tree comes")
        return skip("a group of groups of another tree")

    def _after_group_updated(self, pod: Pod, old: PodGroup, new: PodGroup) -> QueueingHint:
        mine = _is_of(pod, new)
        if not mine and not self._is_part(pod, new):
            return skip("another group")
        before, after = (item.spec.scheduling_policy.gang for item in (old, new))
        if before is None or after is None or (after.min_count or 0) >= (before.min_count or 0):
            return skip("it does not ask for fewer members")
        whose = "its group" if mine else "a group of its tree"
        return queue(f"{whose} asks for fewer members")

    def _is_part(self, pod: Pod, item: PodGroup | CompositePodGroup) -> bool:
        """Whether an object is part of a pod's tree."""
        tree = self._trees.tree_of(item)
        return tree is not None and self._trees.unit(pod) == tree


def _is_of(pod: Pod, group: PodGroup) -> bool:
    mine = group_name(pod)
    return mine is not None and not mine.workload and mine.key == group.key
