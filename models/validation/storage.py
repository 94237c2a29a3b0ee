"""Persistent volumes, claims, classes, and what CSI drivers report.

Source: kubernetes pkg/apis/core/validation and pkg/apis/storage/validation.
"""

from ..storage import (
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from ..volumes import PersistentVolumeClaimSpec
from .common import label_selector_faults, node_selector_faults
from .faults import Fault, Faults, at_least, known, not_negative, required_text, unique

_ACCESS_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
_VOLUME_MODES = ("Filesystem", "Block")


def _access_mode_faults(modes: tuple[str, ...], path: str) -> Faults:
    if not modes:
        yield Fault(path, "must have at least one access mode")
    for index, mode in enumerate(modes):
        yield from known(mode, _ACCESS_MODES, f"{path}[{index}]")


def claim_spec_faults(spec: PersistentVolumeClaimSpec, path: str) -> Faults:
    """Find faults of what a claim asks for."""
    yield from _access_mode_faults(spec.access_modes, f"{path}.accessModes")
    if "storage" not in spec.resources.requests:
        yield Fault(f"{path}.resources.requests.storage", "required")
    yield from not_negative(spec.resources.requests, f"{path}.resources.requests")
    yield from not_negative(spec.resources.limits, f"{path}.resources.limits")
    yield from known(spec.volume_mode, _VOLUME_MODES, f"{path}.volumeMode")
    yield from label_selector_faults(spec.selector, f"{path}.selector")


def persistent_volume_claim_faults(claim: PersistentVolumeClaim) -> Faults:
    """Find faults of a claim."""
    yield from claim_spec_faults(claim.spec, "spec")


def persistent_volume_faults(volume: PersistentVolume) -> Faults:
    """Find faults of a volume."""
    spec = volume.spec
    yield from _access_mode_faults(spec.access_modes, "spec.accessModes")
    if "storage" not in spec.capacity:
        yield Fault("spec.capacity.storage", "required")
    yield from not_negative(spec.capacity, "spec.capacity")
    yield from known(spec.volume_mode, _VOLUME_MODES, "spec.volumeMode")
    if spec.node_affinity is not None:
        if spec.node_affinity.required is None:
            yield Fault("spec.nodeAffinity.required", "required")
        yield from node_selector_faults(spec.node_affinity.required, "spec.nodeAffinity.required")


def storage_class_faults(item: StorageClass) -> Faults:
    """Find faults of a storage class."""
    yield from required_text(item.provisioner, "provisioner")
    yield from known(item.volume_binding_mode, ("Immediate", "WaitForFirstConsumer"), "volumeBindingMode")
    # An empty policy is stored as it is.
    yield from known(item.reclaim_policy or None, ("Delete", "Retain"), "reclaimPolicy")
    for index, term in enumerate(item.allowed_topologies):
        for number, condition in enumerate(term.match_label_expressions):
            where = f"allowedTopologies[{index}].matchLabelExpressions[{number}]"
            yield from required_text(condition.key, f"{where}.key")
            if not condition.values:
                yield Fault(f"{where}.values", "required")


def csi_node_faults(item: CSINode) -> Faults:
    """Find faults of what drivers say about a node."""
    for index, driver in enumerate(item.spec.drivers):
        yield from required_text(driver.name, f"spec.drivers[{index}].name")
        if driver.allocatable is not None:
            yield from at_least(driver.allocatable.count, 0, f"spec.drivers[{index}].allocatable.count")
    yield from unique((driver.name for driver in item.spec.drivers), "spec.drivers", "name")


def storage_capacity_faults(item: CSIStorageCapacity) -> Faults:
    """Find faults of a report on free storage."""
    yield from required_text(item.storage_class_name, "storageClassName")
    yield from label_selector_faults(item.node_topology, "nodeTopology")
    if item.capacity is not None and item.capacity < 0:
        yield Fault("capacity", "must not be negative")


def attachment_faults(item: VolumeAttachment) -> Faults:
    """Find faults of an attachment."""
    yield from required_text(item.spec.attacher, "spec.attacher")
    yield from required_text(item.spec.node_name, "spec.nodeName")
