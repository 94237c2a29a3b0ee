"""Snapshots from ordinary Kubernetes manifests: files, folders, standard input.

What the API server would have done to the objects on their way in is done here: types and rules are checked,
defaults are filled in, priorities are resolved, missing budget statuses are computed.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..models.admission import PriorityClasses, admit
from ..models.budgets import Scales, fill_status
from ..models.config import KubeSchedulerConfiguration
from ..models.controllers import (
    DaemonSet,
    Deployment,
    Job,
    Namespace,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
)
from ..models.errors import InputError
from ..models.features import FeatureGates
from ..models.memory import no_collection
from ..models.node import Node
from ..models.pod import Pod
from ..models.policy import PodDisruptionBudget
from ..models.progress import Watch, unwatched
from ..models.resource_api import (
    DeviceClass,
    DeviceTaintRule,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from ..models.scheduling import CompositePodGroup, PodGroup, PriorityClass, Workload
from ..models.snapshot import Snapshot
from ..models.snapshot_info import SnapshotInfo
from ..models.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from .documents import read_documents
from .expand import expand_controllers
from .files import read_files
from .objects import OBJECTS_UNHEARD, Objects


def load_snapshot(
    paths: str | Path | Sequence[str | Path],
    *,
    now: datetime | None = None,
    expand: bool = False,
    feature_gates: FeatureGates | None = None,
    watch: Watch = unwatched,
) -> Snapshot:
    """Read a snapshot from files.

    Parameters
    ----------
    paths : path or sequence of paths
        Files, folders (read with all below them, in sorted order) and `-` for standard input: JSON, YAML,
        either in gzip.
    now : datetime, optional
        The time of the round; the newest timestamp of the input by default. Without a zone it is UTC.
    expand : bool
        Whether Deployments, ReplicaSets, StatefulSets and Jobs get the pods that they lack, as pending ones.
    feature_gates : FeatureGates, optional
        Which features are on; all by default.
    watch : Watch
        Hears of the bytes read and the objects validated.

    Raises
    ------
    InputError
        For anything that cannot be read or that the API server would refuse, and for an input without any
        document; a list without items is one.
    """
    if isinstance(paths, (str, Path)):
        paths = [paths]
    return parse_snapshot(
        read_files(paths, watch),
        name=" ".join(str(path) for path in paths),
        now=now,
        expand=expand,
        feature_gates=feature_gates,
        watch=watch,
    )


def parse_snapshot(
    contents: Iterable[tuple[str, bytes]],
    *,
    name: str,
    more: Iterable[Mapping[str, Any]] | None = None,
    now: datetime | None = None,
    expand: bool = False,
    feature_gates: FeatureGates | None = None,
    watch: Watch = unwatched,
) -> Snapshot:
    """Read a snapshot from the contents of files, each after its name; otherwise as `load_snapshot`."""
    objects = Objects(watch)
    empty = True
    with no_collection():
        for file, content in contents:
            for number, document in enumerate(read_documents(file, content, watch, in_slices=True), 1):
                objects.add(file, document, f"document {number}")
                empty &= document is None
        # Raw objects beside those of the files, which may be empty then; their faults name `name`.
        for number, raw in enumerate(more or ()):
            objects.add(name, raw, f"items[{number}]")
        if empty and more is None:
            words = "is empty; what is needed are Kubernetes objects, such as `kubectl get -o json` prints"
            raise InputError(name, "", "", words)
        return _assemble(objects, name, now, expand, feature_gates)


def snapshot_of(
    raw_objects: Iterable[Mapping[str, Any]],
    *,
    name: str = "objects",
    now: datetime | None = None,
    expand: bool = False,
    feature_gates: FeatureGates | None = None,
    watch: Watch = unwatched,
) -> Snapshot:
    """Make a snapshot of raw objects, as read from JSON; otherwise as `load_snapshot`."""
    objects = Objects()
    with no_collection():
        for number, raw in enumerate(raw_objects):
            if number % OBJECTS_UNHEARD == 0:
                watch("validating: objects", number)
            objects.add(name, raw, f"items[{number}]")
        return _assemble(objects, name, now, expand, feature_gates)


def _assemble(
    objects: Objects, name: str, now: datetime | None, expand: bool, feature_gates: FeatureGates | None
) -> Snapshot:
    if expand:
        expand_controllers(objects)
    if now is None:
        now = objects.clock.newest
    elif now.tzinfo is None:
        now = now.replace(tzinfo=UTC)
    classes = PriorityClasses(objects.of(PriorityClass))
    pods = tuple(admit(pod, classes, file) for file, pod in objects.with_files(Pod))
    scales = Scales(
        deployments=objects.of(Deployment),
        replica_sets=objects.of(ReplicaSet),
        stateful_sets=objects.of(StatefulSet),
        replication_controllers=objects.of(ReplicationController),
    )
    return Snapshot(
        name=name,
        now=now.astimezone(UTC),
        feature_gates=feature_gates or FeatureGates(),
        configuration=next(iter(objects.of(KubeSchedulerConfiguration)), None),
        ignored=dict(objects.ignored),
        notes=(
            *objects.unknown.notes(),
            *(note for info in objects.of(SnapshotInfo) for note in info.notes),
        ),
        nodes=objects.of(Node),
        pods=pods,
        namespaces=objects.of(Namespace),
        priority_classes=objects.of(PriorityClass),
        pod_disruption_budgets=fill_status(objects.of(PodDisruptionBudget), pods, scales, now),
        workloads=objects.of(Workload),
        pod_groups=tuple(admit(group, classes, file) for file, group in objects.with_files(PodGroup)),
        composite_pod_groups=tuple(
            admit(group, classes, file) for file, group in objects.with_files(CompositePodGroup)
        ),
        services=objects.of(Service),
        replica_sets=objects.of(ReplicaSet),
        stateful_sets=objects.of(StatefulSet),
        replication_controllers=objects.of(ReplicationController),
        deployments=objects.of(Deployment),
        jobs=objects.of(Job),
        daemon_sets=objects.of(DaemonSet),
        resource_slices=objects.of(ResourceSlice),
        resource_claims=objects.of(ResourceClaim),
        resource_claim_templates=objects.of(ResourceClaimTemplate),
        device_classes=objects.of(DeviceClass),
        device_taint_rules=objects.of(DeviceTaintRule),
        persistent_volumes=objects.of(PersistentVolume),
        persistent_volume_claims=objects.of(PersistentVolumeClaim),
        storage_classes=objects.of(StorageClass),
        csi_nodes=objects.of(CSINode),
        csi_drivers=objects.of(CSIDriver),
        csi_storage_capacities=objects.of(CSIStorageCapacity),
        volume_attachments=objects.of(VolumeAttachment),
    )
