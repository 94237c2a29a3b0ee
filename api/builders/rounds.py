"""Objects put together as a round, and a round as a manifest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import yaml
from pydantic import BaseModel

from ...models.config import KubeSchedulerConfiguration
from ...models.controllers import Namespace
from ...models.errors import KubestowError
from ...models.features import FeatureGates
from ...models.kube_version import DEFAULT_KUBE_VERSION, KubeVersion
from ...models.node import Node
from ...models.pod import Pod
from ...models.policy import PodDisruptionBudget
from ...models.resource_api import (
    DeviceClass,
    DeviceTaintRule,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from ...models.scheduling import CompositePodGroup, PodGroup, PriorityClass, Workload
from ...models.snapshot import Snapshot
from ...models.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from ...models.validation import read
from .nodes import NodeBuilder
from .pods import PodBuilder
from .policies import BudgetBuilder
from .values import NOW, Document

if TYPE_CHECKING:
    from collections.abc import Iterator

_CONFIGURATION: Final = "KubeSchedulerConfiguration"

FIELDS: Final[dict[type, str]] = {
    Namespace: "namespaces",
    PriorityClass: "priority_classes",
    Node: "nodes",
    Pod: "pods",
    PodDisruptionBudget: "pod_disruption_budgets",
    Workload: "workloads",
    PodGroup: "pod_groups",
    CompositePodGroup: "composite_pod_groups",
    StorageClass: "storage_classes",
    CSIDriver: "csi_drivers",
    CSINode: "csi_nodes",
    CSIStorageCapacity: "csi_storage_capacities",
    PersistentVolume: "persistent_volumes",
    PersistentVolumeClaim: "persistent_volume_claims",
    VolumeAttachment: "volume_attachments",
    DeviceClass: "device_classes",
    DeviceTaintRule: "device_taint_rules",
    ResourceSlice: "resource_slices",
    ResourceClaimTemplate: "resource_claim_templates",
    ResourceClaim: "resource_claims",
}
"""Kind to the snapshot's field that holds its objects, in the order of a manifest."""


def snapshot_of(
    *objects: Any,
    name: str = "test",
    gates: str = "",
    configuration: Mapping[str, Any] | KubeSchedulerConfiguration | None = None,
    release: str = DEFAULT_KUBE_VERSION,
) -> Snapshot:
    """Put builders, built objects and iterables of either in one snapshot.

    Parameters
    ----------
    gates : str
        Feature gates as on the command line: ``"Name=false"``.
    configuration : mapping, optional
        A KubeSchedulerConfiguration as in a file.
    release : str
        Whose kube-scheduler: ``"1.34"``.
    """
    kinds: dict[type, list[Any]] = {kind: [] for kind in FIELDS}
    for item in _flat(objects):
        if type(item) not in kinds:
            words = "a builder, what one builds, or an iterable of them"
            raise KubestowError(f"{item!r} is not an object of a cluster: {words}")
        kinds[type(item)].append(item)
    if configuration is not None and not isinstance(configuration, KubeSchedulerConfiguration):
        if not isinstance(configuration, Mapping):
            raise KubestowError(f"configuration: must be a map, not {configuration!r}")
        kind = configuration.get("kind", _CONFIGURATION)
        if kind != _CONFIGURATION:
            raise KubestowError(f"configuration: kind: must be {_CONFIGURATION}, not {kind!r}")
        configuration = read(KubeSchedulerConfiguration, {"kind": kind, **configuration}, "")
    parts: dict[str, Any] = {FIELDS[kind]: tuple(items) for kind, items in kinds.items()}
    return Snapshot(
        name=name,
        now=NOW,
        feature_gates=FeatureGates.parse(gates),
        kube_version=KubeVersion(release),
        configuration=configuration,
        **parts,
    )


def manifest(snapshot: Snapshot) -> str:
    """Write what kubestow reads of a snapshot's objects as YAML, which it reads again as the same round."""
    documents: list[Document] = [
        {"apiVersion": item.api_version, "kind": item.kind}
        | _plain(item.model_dump(by_alias=True, exclude_defaults=True))
        for name in FIELDS.values()
        for item in getattr(snapshot, name)
    ]
    if snapshot.configuration is not None:
        written = _plain(snapshot.configuration.model_dump(by_alias=True, exclude_unset=True))
        documents.append(
            {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"} | written
        )
    text: str = yaml.dump_all(
        documents, Dumper=yaml.CSafeDumper, default_flow_style=None, width=150, sort_keys=False
    )
    return text


def _flat(objects: Iterable[Any]) -> Iterator[Any]:
    for item in objects:
        if isinstance(item, PodBuilder):
            yield from item.build_all()
        elif isinstance(item, (NodeBuilder, BudgetBuilder)) or hasattr(item, "build"):
            yield item.build()
        elif isinstance(item, Iterable) and not isinstance(item, (str, bytes, Mapping, BaseModel)):
            yield from _flat(item)
        else:
            yield item


def _plain(value: Any) -> Any:
    """Write tuples as lists, times and quantities as the API does."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")
    # quantities are exact fractions inside; written in billionths they are exact outside, too
    if isinstance(value, str) and re.fullmatch(r"\d+/\d+", value):
        return f"{int(Fraction(value) * 10**9)}n"
    return value
