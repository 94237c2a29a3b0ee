"""NodeVolumeLimits: a pod waits for a node that can attach its volumes.

Source: kube-scheduler 1.34.1 plugins/nodevolumelimits/csi.go.
"""

from collections.abc import Hashable
from typing import ClassVar

from ...models.pod import Pod
from ...models.storage import CSINode, PersistentVolumeClaim, VolumeAttachment
from ...models.volumes import Volume
from ..events.events import Action, ClusterEvent, Resource
from ..vocabulary import names
from ..volumes.migration import PLUGINS, handle_of, plugin_of
from .base import HintError, HintPlugin, QueueingHint, Registration, queue, skip
from .pods import claim_of, held_a_node


class NodeVolumeLimits(HintPlugin):
    """Wakes a pod when a volume is detached or a limit grows, and when one of its claims comes."""

    name: ClassVar[str] = names.NODE_VOLUME_LIMITS

    def events_to_register(self) -> tuple[Registration, ...]:
        """Register limits, pods that go, claims that come and attachments that go."""
        return (
            Registration(ClusterEvent(Resource.CSI_NODE, Action.ADD)),
            Registration(ClusterEvent(Resource.CSI_NODE, Action.UPDATE), self._after_limits),
            Registration(ClusterEvent(Resource.POD, Action.DELETE), self._after_deletion),
            Registration(ClusterEvent(Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD), self._after_claim),
            Registration(ClusterEvent(Resource.VOLUME_ATTACHMENT, Action.DELETE), self._after_detachment),
        )

    def traits(self, pod: Pod) -> Hashable:
        """Return the pod's namespace and volumes; claims of ephemeral volumes bear its name."""
        return (pod.namespace, *volume_traits(pod))

    def _after_deletion(self, pod: Pod, old: Pod, new: None) -> QueueingHint:
        if not held_a_node(old):
            return skip("the pod that went was on no node")
        for volume in old.spec.volumes:
            if volume.persistent_volume_claim or volume.ephemeral or plugin_of(volume):
                return queue("a pod with an attached volume is gone")
        return skip("the pod that went had no volume to detach")

    def _after_claim(self, pod: Pod, old: None, new: PersistentVolumeClaim) -> QueueingHint:
        if new.namespace == pod.namespace and new.name in claim_names(pod):
            return queue("one of the pod's claims is there now")
        return skip("no claim of the pod")

    def _after_limits(self, pod: Pod, old: CSINode, new: CSINode) -> QueueingHint:
        before = _limits(old)
        for driver, limit in _limits(new).items():
            if limit > before.get(driver, 0):
                return queue(f"the node can attach more volumes of {driver}")
        return skip("no limit grew")

    def _after_detachment(self, pod: Pod, old: VolumeAttachment, new: None) -> QueueingHint:
        for volume in pod.spec.volumes:
            if volume.persistent_volume_claim is not None:
                return queue("a volume was detached, and the pod has a claim")
            plugin = plugin_of(volume)
            if plugin:
                _check_translation(volume)
                if PLUGINS[plugin].driver == old.spec.attacher:
                    return queue(f"a volume of {old.spec.attacher} was detached")
        return skip("the pod has no volume that could take the place")


def _check_translation(volume: Volume) -> None:
    """Make sure that an in-tree volume can be rewritten for its CSI driver.

    Raises
    ------
    HintError
        For an EBS volume whose URL is not `aws://zone/vol-…`.
    """
    ebs = volume.aws_elastic_block_store
    if ebs is not None and ebs.volume_id and not handle_of(volume, None):
        raise HintError(f"{ebs.volume_id} is no EBS volume")


def _limits(node: CSINode) -> dict[str, int]:
    """Return a node's limit by driver; a driver without one counts as 0."""
    return {
        driver.name: (driver.allocatable.count or 0) if driver.allocatable else 0
        for driver in node.spec.drivers
    }


def claim_names(pod: Pod) -> set[str]:
    """Return the names of all claims that a pod's volumes use, ephemeral ones included."""
    claims: set[str] = set()
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            claims.add(volume.persistent_volume_claim.claim_name)
        elif volume.ephemeral is not None:
            claims.add(claim_of(pod, volume.name))
    return claims


def volume_traits(pod: Pod) -> tuple[Hashable, ...]:
    """Return what tells the volumes of two pods apart."""
    return tuple(
        claim_of(pod, volume.name) if volume.ephemeral is not None else volume.model_dump_json()
        for volume in pod.spec.volumes
    )
