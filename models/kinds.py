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
)

KINDS: dict[str, type[KubeObject] | type[KubeSchedulerConfiguration]] = {
    model.model_fields["kind"].default: model for model in _CLASSES
}
"""Kind to class, for every kind that is read."""
