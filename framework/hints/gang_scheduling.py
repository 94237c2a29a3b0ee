"""GangScheduling: what ends the wait of a pod whose group, or whose fellow members, are not there yet.

Source: kube-scheduler 1.36 and later, plugins/gangscheduling.
"""

from collections.abc import Hashable
from typing import ClassVar

from ...models.pod import Pod
from ...models.scheduling import PodGroup
from ..events.events import Action, ClusterEvent, Resource
from ..index.group_names import group_name
from ..vocabulary import names
from .base import HintPlugin, QueueingHint, Registration, queue, skip


class GangScheduling(HintPlugin):
    """Waits for members of the pod's group, and for the group."""

    name: ClassVar[str] = names.GANG_SCHEDULING

    def events_to_register(self) -> tuple[Registration, ...]:
        """Register pods and groups that come, and groups that change."""
        return (
            Registration(ClusterEvent(Resource.UNSCHEDULABLE_POD, Action.ADD), self._after_pod),
            Registration(ClusterEvent(Resource.ASSIGNED_POD, Action.ADD), self._after_pod),
            Registration(ClusterEvent(Resource.POD_GROUP, Action.ADD), self._after_group_added),
            Registration(ClusterEvent(Resource.POD_GROUP, Action.UPDATE), self._after_group_updated),
        )

    def traits(self, pod: Pod) -> Hashable:
        """Return the group."""
        return group_name(pod)

    def _after_pod(self, pod: Pod, old: Pod | None, new: Pod | None) -> QueueingHint:
        mine = group_name(pod)
        if new is not None and mine is not None and group_name(new) == mine:
            return queue("a pod of the same group comes")
        return skip("a pod of no group, or of another one")

    def _after_group_added(self, pod: Pod, old: PodGroup | None, new: PodGroup) -> QueueingHint:
        return queue("its group comes") if _is_of(pod, new) else skip("another group")

    def _after_group_updated(self, pod: Pod, old: PodGroup, new: PodGroup) -> QueueingHint:
        if not _is_of(pod, new):
            return skip("another group")
        before, after = (item.spec.scheduling_policy.gang for item in (old, new))
        if before is None or after is None or (after.min_count or 0) >= (before.min_count or 0):
            return skip("it does not ask for fewer members")
        return queue("its group asks for fewer members")


def _is_of(pod: Pod, group: PodGroup) -> bool:
    mine = group_name(pod)
    return mine is not None and not mine.workload and mine.key == group.key
