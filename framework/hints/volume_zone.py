"""VolumeZone: a pod waits for volumes in the zone of a node.

Source: kube-scheduler 1.34.1 plugins/volumezone, k8s.io/cloud-provider volume/helpers/zones.go.
"""

from collections.abc import Hashable
from typing import ClassVar

from ...models.pod import Pod
from ...models.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from ..events.events import Action, ClusterEvent, Resource
from ..vocabulary import names
from ..volumes.zones import zones_of
from .base import HintPlugin, QueueingHint, Registration, queue, skip
from .volume_restrictions import named_claims


class VolumeZone(HintPlugin):
    """Wakes a pod when nodes come or change labels, and when a claim of it, a class or a zone helps."""

    name: ClassVar[str] = names.VOLUME_ZONE

    def events_to_register(self) -> tuple[Registration, ...]:
        """Register classes, nodes, claims and volumes."""
        changed = Action.ADD | Action.UPDATE
        return (
            Registration(ClusterEvent(Resource.STORAGE_CLASS, Action.ADD), self._after_class),
            Registration(ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)),
            Registration(ClusterEvent(Resource.PERSISTENT_VOLUME_CLAIM, changed), self._after_claim),
            Registration(ClusterEvent(Resource.PERSISTENT_VOLUME, changed), self._after_volume),
        )

    def traits(self, pod: Pod) -> Hashable:
        """Return the pod's namespace and the claims that it names."""
        return (pod.namespace, frozenset(named_claims(pod)))

    def _after_class(self, pod: Pod, old: None, new: StorageClass) -> QueueingHint:
        if new.volume_binding_mode == "WaitForFirstConsumer":
            return queue("a class that waits for its first pod is there now")
        return skip("the class binds at once")

    def _after_claim(
        self, pod: Pod, old: PersistentVolumeClaim | None, new: PersistentVolumeClaim
    ) -> QueueingHint:
        if new.namespace == pod.namespace and new.name in named_claims(pod):
            return queue("one of the pod's claims came or changed")
        return skip("no claim of the pod")

    def _after_volume(self, pod: Pod, old: PersistentVolume | None, new: PersistentVolume) -> QueueingHint:
        if old is None:
            return queue("a volume is there now")
        if zones_of(old) != zones_of(new):
            return queue("the volume is in other zones now")
        return skip("the volume is in the same zones as before")
