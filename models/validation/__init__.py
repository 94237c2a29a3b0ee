"""What the API server would refuse, one rule a room, for the fields that are read.

The rules here hold for every object, those of `creation` for new ones. An object that the API server accepts
is never refused. Types and closed sets of values are the models' own; they are told in the same words
(`reading`).
"""

from collections.abc import Callable
from typing import Any

from ..config import KubeSchedulerConfiguration
from ..errors import InputError
from ..meta import KubeObject
from .common import metadata_faults
from .config import configuration_faults
from .controllers import (
    daemon_set_faults,
    job_faults,
    replicas_faults,
    replication_controller_faults,
    stateful_set_faults,
)
from .creation import creation_faults
from .faults import Fault, Faults
from .node import node_faults
from .pod import pod_faults
from .policy import budget_faults
from .reading import describe, read, respell
from .resource_api import (
    claim_faults,
    claim_template_faults,
    device_class_faults,
    device_taint_rule_faults,
    slice_faults,
)
from .scheduling import composite_pod_group_faults, pod_group_faults, priority_class_faults, workload_faults
from .storage import (
    attachment_faults,
    csi_node_faults,
    persistent_volume_claim_faults,
    persistent_volume_faults,
    storage_capacity_faults,
    storage_class_faults,
)

__all__ = ["RULES", "Fault", "check", "check_new", "creation_faults", "describe", "faults", "read", "title"]

RULES: dict[str, Callable[[Any], Faults]] = {
    "Node": node_faults,
    "Pod": pod_faults,
    "PriorityClass": priority_class_faults,
    "PodDisruptionBudget": budget_faults,
    "Workload": workload_faults,
    "PodGroup": pod_group_faults,
    "CompositePodGroup": composite_pod_group_faults,
    "ResourceSlice": slice_faults,
    "ResourceClaim": claim_faults,
    "ResourceClaimTemplate": claim_template_faults,
    "DeviceClass": device_class_faults,
    "DeviceTaintRule": device_taint_rule_faults,
    "ReplicaSet": replicas_faults,
    "Deployment": replicas_faults,
    "StatefulSet": stateful_set_faults,
    "ReplicationController": replication_controller_faults,
    "Job": job_faults,
    "DaemonSet": daemon_set_faults,
    "PersistentVolume": persistent_volume_faults,
    "PersistentVolumeClaim": persistent_volume_claim_faults,
    "StorageClass": storage_class_faults,
    "CSINode": csi_node_faults,
    "CSIStorageCapacity": storage_capacity_faults,
    "VolumeAttachment": attachment_faults,
    "KubeSchedulerConfiguration": configuration_faults,
}
"""Kind to its rules; a kind without an entry has no rule beyond its metadata."""


def faults(item: KubeObject | KubeSchedulerConfiguration) -> Faults:
    """Find all faults of an object."""
    if isinstance(item, KubeObject):
        yield from metadata_faults(item.metadata)
    rules = RULES.get(item.kind)
    if rules is not None:
        yield from rules(item)


def title(item: KubeObject | KubeSchedulerConfiguration) -> str:
    """Return what an object is called in messages: its kind and key."""
    return f"{item.kind} {item.key}" if isinstance(item, KubeObject) else item.kind


def check_new(item: KubeObject | KubeSchedulerConfiguration, file: str) -> None:
    """Raise the first fault that keeps an object, as its manifest has it, from being created.

    Raises
    ------
    InputError
        If the API server would refuse the object, unless it has a uid and so has been stored already.
    """
    if isinstance(item, KubeObject):
        for fault in creation_faults(item):
            raise InputError(file, title(item), respell(item, fault.field), fault.message)


def check(item: KubeObject | KubeSchedulerConfiguration, file: str) -> None:
    """Raise the first fault of an object whose defaults are filled in.

    Raises
    ------
    InputError
        If the API server would refuse the object.
    """
    for fault in faults(item):
        raise InputError(file, title(item), respell(item, fault.field), fault.message)
