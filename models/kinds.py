"""The one list of the kinds that kubestow reads."""

from .config import KubeSchedulerConfiguration
from .controllers import (
    DaemonSet,
    Deployment,
    Job,
    Namespace,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
)
from .meta import KubeObject
from .node import Node
from .pod import Pod
from .policy import PodDisruptionBudget
from .resource_api import DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from .scheduling import CompositePodGroup, PodGroup, PriorityClass, Workload
from .snapshot_info import SnapshotInfo
from .storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)

_CLASSES: tuple[type[KubeObject] | type[KubeSchedulerConfiguration], ...] = (
    Node,
    Pod,
    Namespace,
    PriorityClass,
    PodDisruptionBudget,
    Workload,
    PodGroup,
    CompositePodGroup,
    ResourceSlice,
    ResourceClaim,
    ResourceClaimTemplate,
    DeviceClass,
    DeviceTaintRule,
    Service,
    ReplicaSet,
    StatefulSet,
    ReplicationController,
    Deployment,
    Job,
    DaemonSet,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    CSINode,
    CSIDriver,
    CSIStorageCapacity,
    VolumeAttachment,
    KubeSchedulerConfiguration,
    SnapshotInfo,
)

KINDS: dict[str, type[KubeObject] | type[KubeSchedulerConfiguration]] = {
    model.model_fields["kind"].default: model for model in _CLASSES
}
"""Kind to class, for every kind that is read."""


def find_kind(kind: str, api_version: str) -> type[KubeObject] | type[KubeSchedulerConfiguration] | None:
    """Return the class of a kind, or None where the kind, or its API group, is not one that is read.

    Other groups have kinds of the same names: Volcano's Job and PodGroup, Kueue's Workload.
    """
    model = KINDS.get(kind)
    if model is None:
        return None
    own: str = model.model_fields["api_version"].default
    return model if own.rpartition("/")[0] == api_version.rpartition("/")[0] else None
