"""New volumes, claims and classes, and what CSI drivers report.

Not demanded, though the API server does: a source of a volume, the identity of a node with a driver.

Source: kubernetes pkg/apis/core/validation and pkg/apis/storage/validation.
"""

from ...quantity import format_quantity
from ...storage import (
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    TopologySelectorTerm,
    VolumeAttachment,
)
from ...volumes import PersistentVolumeClaimSpec
from ..faults import Fault, Faults, known, required_text, unique
from .metadata import new_node_selector_faults, new_selector_faults
from .names import all_spelled, driver_name, object_name, qualified_name, spelled
from .sources import in_tree_faults

_ALONE = "ReadWriteOncePod"


def _access_mode_faults(modes: tuple[str, ...], path: str) -> Faults:
    if _ALONE in modes and len(set(modes)) > 1:
        yield Fault(path, f"must be {_ALONE} alone, or without it")


def new_claim_spec_faults(spec: PersistentVolumeClaimSpec, path: str) -> Faults:
    """Find faults of what a new claim asks for."""
    yield from _access_mode_faults(spec.access_modes, f"{path}.accessModes")
    yield from spelled(spec.storage_class_name, object_name, f"{path}.storageClassName")
    yield from spelled(spec.volume_attributes_class_name, object_name, f"{path}.volumeAttributesClassName")
    wanted = spec.resources.requests.get("storage")
    if wanted is not None and wanted <= 0:
        yield Fault(
            f"{path}.resources.requests.storage", f"must be greater than 0, not {format_quantity(wanted)}"
        )
    yield from new_selector_faults(spec.selector, f"{path}.selector")


def new_persistent_volume_claim_faults(claim: PersistentVolumeClaim) -> Faults:
    """Find faults of a new claim."""
    yield from new_claim_spec_faults(claim.spec, "spec")


def new_persistent_volume_faults(volume: PersistentVolume) -> Faults:
    """Find faults of a new volume."""
    spec = volume.spec
    yield from _access_mode_faults(spec.access_modes, "spec.accessModes")
    for name, quantity in spec.capacity.items():
        if name != "storage":
            yield Fault(f"spec.capacity.{name}", "is no capacity of a volume; use storage")
        elif quantity <= 0:
            yield Fault("spec.capacity.storage", f"must be greater than 0, not {format_quantity(quantity)}")
    yield from spelled(spec.storage_class_name, object_name, "spec.storageClassName")
    if spec.volume_attributes_class_name is not None:
        yield from required_text(spec.volume_attributes_class_name, "spec.volumeAttributesClassName")
        yield from spelled(spec.volume_attributes_class_name, object_name, "spec.volumeAttributesClassName")
        if spec.csi is None:
            yield Fault("spec.csi", "required with a volumeAttributesClassName")
    yield from known(
        spec.persistent_volume_reclaim_policy or None,
        ("Retain", "Delete", "Recycle"),
        "spec.persistentVolumeReclaimPolicy",
    )
    if len(spec.sources) > 1:
        yield Fault("spec", f"must have one source, not {' and '.join(spec.sources)}")
    yield from in_tree_faults(spec, "spec")
    if spec.csi is not None:
        yield from required_text(spec.csi.driver, "spec.csi.driver")
        yield from spelled(spec.csi.driver, driver_name, "spec.csi.driver")
        yield from required_text(spec.csi.volume_handle, "spec.csi.volumeHandle")
    if spec.local is not None and spec.node_affinity is None:
        yield Fault("spec.nodeAffinity", "required for a local volume")
    if spec.node_affinity is not None:
        yield from new_node_selector_faults(spec.node_affinity.required, "spec.nodeAffinity.required")


def new_storage_class_faults(item: StorageClass) -> Faults:
    """Find faults of a new storage class."""
    yield from spelled(item.provisioner.lower(), qualified_name, "provisioner")
    seen: list[dict[str, frozenset[str]]] = []
    for index, term in enumerate(item.allowed_topologies):
        where = f"allowedTopologies[{index}].matchLabelExpressions"
        yield from _topology_faults(term, where)
        labels = {condition.key: frozenset(condition.values) for condition in term.match_label_expressions}
        if labels in seen:
            yield Fault(where, "duplicate: there is an equal term already")
        seen.append(labels)


def _topology_faults(term: TopologySelectorTerm, path: str) -> Faults:
    if not term.match_label_expressions:
        yield Fault(path, "must have at least one entry")
    for index, condition in enumerate(term.match_label_expressions):
        yield from spelled(condition.key, qualified_name, f"{path}[{index}].key")
        yield from unique(condition.values, f"{path}[{index}].values", "")
    yield from unique((item.key for item in term.match_label_expressions), path, "key")


def new_csi_node_faults(item: CSINode) -> Faults:
    """Find faults of what drivers say about a new node."""
    for index, driver in enumerate(item.spec.drivers):
        where = f"spec.drivers[{index}]"
        yield from spelled(driver.name, driver_name, f"{where}.name")
        yield from all_spelled(driver.topology_keys, qualified_name, f"{where}.topologyKeys")
        yield from unique(driver.topology_keys, f"{where}.topologyKeys", "")


def new_storage_capacity_faults(item: CSIStorageCapacity) -> Faults:
    """Find faults of a new report on free storage."""
    yield from spelled(item.storage_class_name, object_name, "storageClassName")
    yield from new_selector_faults(item.node_topology, "nodeTopology")


def new_attachment_faults(item: VolumeAttachment) -> Faults:
    """Find faults of a new attachment."""
    yield from spelled(item.spec.attacher, driver_name, "spec.attacher")
    yield from spelled(item.spec.node_name, object_name, "spec.nodeName")
    sources = (item.spec.source.persistent_volume_name or None, item.spec.source.inline_volume_spec)
    if sum(source is not None for source in sources) != 1:
        yield Fault("spec.source", "must have exactly one of persistentVolumeName and inlineVolumeSpec")
