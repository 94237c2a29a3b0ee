"""VolumeBinding: a pod waits for volumes, or for nodes from which they can be reached.

Source: kube-scheduler 1.34.1 plugins/volumebinding.
"""

from collections.abc import Hashable
from typing import ClassVar

from ...models.annotations import MIGRATED_PLUGINS
from ...models.pod import Pod
from ...models.quantity import unit_ceil
from ...models.storage import CSIDriver, CSINode, CSIStorageCapacity, PersistentVolumeClaim, StorageClass
from ..events.events import Action, ClusterEvent, Resource
from ..vocabulary import names
from .base import HintPlugin, QueueingHint, Registration, queue, skip
from .node_volume_limits import claim_names, volume_traits


class VolumeBinding(HintPlugin):
    """Wakes its pods on all changes of volumes and node labels, and when a claim, class or capacity helps."""

    name: ClassVar[str] = names.VOLUME_BINDING

    def events_to_register(self) -> tuple[Registration, ...]:
        """Register everything that volumes are bound by."""
        changed = Action.ADD | Action.UPDATE
        return (
            Registration(ClusterEvent(Resource.STORAGE_CLASS, changed), self._after_class),
            Registration(ClusterEvent(Resource.PERSISTENT_VOLUME_CLAIM, changed), self._after_claim),
            Registration(ClusterEvent(Resource.PERSISTENT_VOLUME, changed)),
            Registration(ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)),
            Registration(ClusterEvent(Resource.CSI_NODE, changed), self._after_csi_node),
            Registration(ClusterEvent(Resource.CSI_DRIVER, Action.UPDATE), self._after_driver),
            Registration(ClusterEvent(Resource.CSI_STORAGE_CAPACITY, changed), self._after_capacity),
        )

    def traits(self, pod: Pod) -> Hashable:
        """Return the pod's namespace and volumes; claims of ephemeral volumes bear its name."""
        return (pod.namespace, *volume_traits(pod))

    def _after_class(self, pod: Pod, old: StorageClass | None, new: StorageClass) -> QueueingHint:
        if old is None:
            return queue("a storage class is there now")
        if old.allowed_topologies != new.allowed_topologies:
            return queue("the storage class allows other domains now")
        return skip("the storage class allows the same domains as before")

    def _after_claim(
        self, pod: Pod, old: PersistentVolumeClaim | None, new: PersistentVolumeClaim
    ) -> QueueingHint:
        if new.namespace == pod.namespace and new.name in claim_names(pod):
            return queue("one of the pod's claims came or changed")
        return skip("no claim of the pod")

    def _after_csi_node(self, pod: Pod, old: CSINode | None, new: CSINode) -> QueueingHint:
        if old is None:
            return queue("a node tells of its drivers now")
        before, after = (node.metadata.annotations.get(MIGRATED_PLUGINS, "") for node in (old, new))
        if before != after:
            return queue("other in-tree drivers are migrated on the node now")
        return skip("the same in-tree drivers are migrated on the node")

    def _after_driver(self, pod: Pod, old: CSIDriver, new: CSIDriver) -> QueueingHint:
        if not any(volume.csi is not None and volume.csi.driver == new.name for volume in pod.spec.volumes):
            return skip("the pod has no inline volume of the driver")
        if old.spec.storage_capacity and not new.spec.storage_capacity:
            return queue("the driver's capacity is no longer looked at")
        return skip("the driver's capacity is looked at as before")

    def _after_capacity(
        self, pod: Pod, old: CSIStorageCapacity | None, new: CSIStorageCapacity
    ) -> QueueingHint:
        if old is None:
            return queue("there is a new capacity")
        before, after = _limit(old), _limit(new)
        if after is not None and (before is None or after > before):
            return queue("a larger volume fits now")
        return skip("no larger volume fits than before")


def _limit(capacity: CSIStorageCapacity) -> int | None:
    """Return the size in bytes of the largest volume that can be made, None where nothing is said."""
    limit = capacity.maximum_volume_size
    if limit is None:
        limit = capacity.capacity
    return None if limit is None else unit_ceil(limit)
