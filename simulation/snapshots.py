"""From the object store back to a snapshot: one instant of a simulated cluster."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from ..framework.events.objects import ObjectStore
from ..models.kinds import KINDS
from ..models.meta import KubeObject
from ..models.snapshot import Snapshot

FIELDS: Final[dict[str, str]] = {
    "Node": "nodes",
    "Pod": "pods",
    "Namespace": "namespaces",
    "PriorityClass": "priority_classes",
    "PodDisruptionBudget": "pod_disruption_budgets",
    "Workload": "workloads",
    "PodGroup": "pod_groups",
    "CompositePodGroup": "composite_pod_groups",
    "Service": "services",
    "ReplicaSet": "replica_sets",
    "StatefulSet": "stateful_sets",
    "ReplicationController": "replication_controllers",
    "Deployment": "deployments",
    "Job": "jobs",
    "DaemonSet": "daemon_sets",
    "ResourceSlice": "resource_slices",
    "ResourceClaim": "resource_claims",
    "ResourceClaimTemplate": "resource_claim_templates",
    "DeviceClass": "device_classes",
    "DeviceTaintRule": "device_taint_rules",
    "PersistentVolume": "persistent_volumes",
    "PersistentVolumeClaim": "persistent_volume_claims",
    "StorageClass": "storage_classes",
    "CSINode": "csi_nodes",
    "CSIDriver": "csi_drivers",
    "CSIStorageCapacity": "csi_storage_capacities",
    "VolumeAttachment": "volume_attachments",
}
"""Kind to the field of a snapshot that holds its objects."""


def objects_of(snapshot: Snapshot) -> Iterator[KubeObject]:
    """Yield all objects of a snapshot, kind by kind."""
    for field in FIELDS.values():
        yield from getattr(snapshot, field)


def snapshot_of_store(objects: ObjectStore, base: Snapshot, now: datetime, **other: Any) -> Snapshot:
    """Return the store's objects as a snapshot.

    Parameters
    ----------
    objects : ObjectStore
    base : Snapshot
        For its name, gates and configuration.
    now : datetime
    **other
        Fields that hold something else.
    """
    found: dict[str, Any] = {}
    for kind, field in FIELDS.items():
        model = KINDS[kind]
        if field not in other and issubclass(model, KubeObject):
            found[field] = tuple(objects.all(model))
    return replace(base, now=now, **found, **other)
