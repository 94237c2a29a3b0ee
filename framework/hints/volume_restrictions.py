"""VolumeRestrictions: a pod waits for a volume that only one node or one pod may use.

Source: kube-scheduler 1.34.1 plugins/volumerestrictions.
"""

from collections.abc import Hashable
from typing import ClassVar

from ...models.pod import Pod
from ...models.storage import PersistentVolumeClaim
from ..events.events import NODE_ADD, Action, ClusterEvent, Resource
from ..vocabulary import names
from ..volumes.disks import conflict, disks
from .base import HintPlugin, QueueingHint, Registration, queue, skip
from .node_volume_limits import volume_traits


class VolumeRestrictions(HintPlugin):
    """Wakes a pod when a disk or claim of it is free, when a claim of it comes, and whenever a node comes."""

    name: ClassVar[str] = names.VOLUME_RESTRICTIONS

    def events_to_register(self) -> tuple[Registration, ...]:
        """Register pods that go, nodes and claims that come."""
        return (
            Registration(ClusterEvent(Resource.POD, Action.DELETE), self._after_deletion),
            Registration(NODE_ADD),
            Registration(ClusterEvent(Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD), self._after_claim),
        )

    def traits(self, pod: Pod) -> Hashable:
        """Return the pod's namespace and volumes."""
        return (pod.namespace, *volume_traits(pod))

    def _after_claim(self, pod: Pod, old: None, new: PersistentVolumeClaim) -> QueueingHint:
        if new.namespace == pod.namespace and new.name in named_claims(pod):
            return queue("one of the pod's claims is there now")
        return skip("no claim of the pod")

    def _after_deletion(self, pod: Pod, old: Pod, new: None) -> QueueingHint:
        if old.namespace != pod.namespace:
            return skip("the pod that went was of another namespace")
        if conflict(disks(pod.spec.volumes), disks(old.spec.volumes)):
            return queue("a disk that the pod wants is free")
        if named_claims(pod) & named_claims(old):
            return queue("a claim that the pod shares with the one that went is free")
        return skip("the pod that went had no volume that this one wants")


def named_claims(pod: Pod) -> set[str]:
    """Return the claims that a pod refers to by name, which those of its ephemeral volumes are not."""
    return {
        volume.persistent_volume_claim.claim_name
        for volume in pod.spec.volumes
        if volume.persistent_volume_claim is not None
    }
