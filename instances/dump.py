"""The commands that dump a cluster with all that a round depends on; help, README and docs show no others.

The first names kinds that every cluster serves: kubectl prints nothing at all if it is asked for another one.
The others add to the file what some clusters serve, and add nothing where a cluster does not.
"""

from typing import Final

RESOURCES: Final = {
    "Node": "nodes",
    "Pod": "pods",
    "Namespace": "namespaces",
    "PriorityClass": "priorityclasses",
    "PodDisruptionBudget": "poddisruptionbudgets",
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "PersistentVolume": "persistentvolumes",
    "StorageClass": "storageclasses",
    "CSINode": "csinodes",
    "CSIDriver": "csidrivers",
    "CSIStorageCapacity": "csistoragecapacities",
    "VolumeAttachment": "volumeattachments",
    "Service": "services",
    "ReplicationController": "replicationcontrollers",
    "ReplicaSet": "replicasets",
    "StatefulSet": "statefulsets",
    "Deployment": "deployments",
    "DaemonSet": "daemonsets",
    "Job": "jobs",
}
"""What every cluster serves, by kind, in kubectl's words."""

DEVICE_RESOURCES: Final = {
    "ResourceSlice": "resourceslices",
    "ResourceClaim": "resourceclaims",
    "ResourceClaimTemplate": "resourceclaimtemplates",
    "DeviceClass": "deviceclasses",
}
"""Devices (DRA), which clusters serve from Kubernetes 1.34 on, and before if asked to."""

GROUP_RESOURCES: Final = {
    "PodGroup": "podgroups.scheduling.k8s.io",
    "Workload": "workloads.scheduling.k8s.io",
    "CompositePodGroup": "compositepodgroups.scheduling.k8s.io",
}
"""Pod groups, served from Kubernetes 1.36 on if asked for, Workloads, from 1.35 on, and groups of groups,
from 1.37 on; asked for one by one.

Other API groups have kinds of these names, too.
"""

_EVERY_RESOURCE: Final = {
    **RESOURCES,
    **DEVICE_RESOURCES,
    **GROUP_RESOURCES,
    "DeviceTaintRule": "devicetaintrules",
}


def _get(resources: dict[str, str]) -> str:
    return f"kubectl get {','.join(resources.values())} -A -o json"


DUMP: Final = _get(RESOURCES)
"""The command that prints what every cluster has."""

DUMP_TO_FILE: Final = (
    f"{DUMP} > cluster.json",
    f"{_get(DEVICE_RESOURCES)} >> cluster.json",
    *(f"{_get({kind: name})} >> cluster.json" for kind, name in GROUP_RESOURCES.items()),
)
"""The commands that write a file with all of it, in their order."""


def resource(kind: str) -> str:
    """Return what kubectl calls a kind, of these commands or of DeviceTaintRule, which few clusters serve."""
    return _EVERY_RESOURCE[kind]
