"""What the API server asks of an object that is new: how names are spelled, what goes together.

The rules of the neighbouring rooms hold for every object: the scheduler could not work without them. Those
of this package hold for an object without a uid only. One with a uid has been stored by an API server,
perhaps an older one, whose rules of that time it kept; the server itself lets such an object stay as it is.

An object that kube-apiserver 1.36 accepts is never refused. What it refuses and is taken here all the same is
listed in docs/deviations.md.
"""

from collections.abc import Callable
from typing import Any

from ...meta import KubeObject
from ..faults import Faults
from .controllers import (
    new_daemon_set_faults,
    new_deployment_faults,
    new_job_faults,
    new_replica_set_faults,
    new_replication_controller_faults,
    new_stateful_set_faults,
)
from .devices import new_slice_faults, new_taint_rule_faults
from .metadata import new_metadata_faults
from .node import new_node_faults
from .pod import new_pod_faults
from .policy import new_budget_faults
from .resource_api import new_claim_faults, new_claim_template_faults, new_device_class_faults
from .scheduling import (
    new_composite_pod_group_faults,
    new_pod_group_faults,
    new_priority_class_faults,
    new_workload_faults,
)
from .service import new_service_faults
from .storage import (
    new_attachment_faults,
    new_csi_node_faults,
    new_persistent_volume_claim_faults,
    new_persistent_volume_faults,
    new_storage_capacity_faults,
    new_storage_class_faults,
)

__all__ = ["NEW_RULES", "creation_faults"]

NEW_RULES: dict[str, Callable[[Any], Faults]] = {
    "Node": new_node_faults,
    "Pod": new_pod_faults,
    "PriorityClass": new_priority_class_faults,
    "PodDisruptionBudget": new_budget_faults,
    "Workload": new_workload_faults,
    "PodGroup": new_pod_group_faults,
    "CompositePodGroup": new_composite_pod_group_faults,
    "ResourceSlice": new_slice_faults,
    "ResourceClaim": new_claim_faults,
    "ResourceClaimTemplate": new_claim_template_faults,
    "DeviceClass": new_device_class_faults,
    "DeviceTaintRule": new_taint_rule_faults,
    "ReplicaSet": new_replica_set_faults,
    "Deployment": new_deployment_faults,
    "StatefulSet": new_stateful_set_faults,
    "ReplicationController": new_replication_controller_faults,
    "Job": new_job_faults,
    "DaemonSet": new_daemon_set_faults,
    "PersistentVolume": new_persistent_volume_faults,
    "PersistentVolumeClaim": new_persistent_volume_claim_faults,
    "StorageClass": new_storage_class_faults,
    "CSINode": new_csi_node_faults,
    "CSIStorageCapacity": new_storage_capacity_faults,
    "VolumeAttachment": new_attachment_faults,
    "Service": new_service_faults,
}
"""Kind to the rules that it keeps while it is new, beyond those of its metadata."""


def creation_faults(item: KubeObject) -> Faults:
    """Find what keeps an object from being created; one that has been stored has nothing."""
    if item.metadata.uid:
        return
    yield from new_metadata_faults(item.metadata, item.kind)
    rules = NEW_RULES.get(item.kind)
    if rules is not None:
        yield from rules(item)
