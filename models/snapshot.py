"""A snapshot: every object of one input, admitted and validated, at one instant.

It is what `instances` makes and what `framework` reads.  It holds objects as the API server would have stored
them and nothing derived from them; derived numbers live in `framework.index.cluster`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

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
from .eviction_limits import EvictionLimits
from .features import FeatureGates
from .kube_version import DEFAULT_KUBE_VERSION, KubeVersion
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


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """All objects of one input, each tuple in input order.

    Attributes
    ----------
    name : str
        What the output calls the instance (the path as given, or a catalogue name).
    now : datetime
        The time of the round (UTC): ``--now``, else the newest timestamp in the input, else the epoch.
    kube_version : KubeVersion
        Whose kube-scheduler is rebuilt.
    limits : EvictionLimits
        What a round may evict at most, for both schedulers.
    ignored : mapping
        Kinds that were read but are not known, with how many objects of each.
    notes : tuple of str
        What the reader of the input has to tell: fields that are unknown.
    asked : tuple of str
        Keys of pending pods that come before all others: the first tier of the round is whether any of them
        is placed. Empty in an ordinary round.
    kept : tuple of str
        Keys of pods that fare no worse: no plan evicts those that run, and how many of the pending ones are
        placed comes before everything, `asked` too. Empty in an ordinary round.
    """

    name: str
    now: datetime
    feature_gates: FeatureGates = field(default_factory=FeatureGates)
    kube_version: KubeVersion = DEFAULT_KUBE_VERSION
    configuration: KubeSchedulerConfiguration | None = None
    limits: EvictionLimits = field(default_factory=EvictionLimits)
    ignored: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()

    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    namespaces: tuple[Namespace, ...] = ()
    priority_classes: tuple[PriorityClass, ...] = ()
    pod_disruption_budgets: tuple[PodDisruptionBudget, ...] = ()
    workloads: tuple[Workload, ...] = ()
    pod_groups: tuple[PodGroup, ...] = ()
    composite_pod_groups: tuple[CompositePodGroup, ...] = ()
    services: tuple[Service, ...] = ()
    replica_sets: tuple[ReplicaSet, ...] = ()
    stateful_sets: tuple[StatefulSet, ...] = ()
    replication_controllers: tuple[ReplicationController, ...] = ()
    deployments: tuple[Deployment, ...] = ()
    jobs: tuple[Job, ...] = ()
    daemon_sets: tuple[DaemonSet, ...] = ()
    resource_slices: tuple[ResourceSlice, ...] = ()
    resource_claims: tuple[ResourceClaim, ...] = ()
    resource_claim_templates: tuple[ResourceClaimTemplate, ...] = ()
    device_classes: tuple[DeviceClass, ...] = ()
    device_taint_rules: tuple[DeviceTaintRule, ...] = ()
    persistent_volumes: tuple[PersistentVolume, ...] = ()
    persistent_volume_claims: tuple[PersistentVolumeClaim, ...] = ()
    storage_classes: tuple[StorageClass, ...] = ()
    csi_nodes: tuple[CSINode, ...] = ()
    csi_drivers: tuple[CSIDriver, ...] = ()
    csi_storage_capacities: tuple[CSIStorageCapacity, ...] = ()
    volume_attachments: tuple[VolumeAttachment, ...] = ()
