"""Persistent storage: volumes, claims, classes, and what CSI drivers say about nodes."""

from typing import Any, ClassVar

from pydantic import Field, model_validator

from .base import Bool, Int32, KubeModel, StringMap, Texts, shared
from .meta import KubeObject
from .quantity import AmountField, QuantityField
from .selectors import LabelSelector, NodeSelector
from .volumes import InTreeSources, PersistentVolumeClaimSpec


class CSIPersistentVolumeSource(KubeModel):
    """A volume behind a CSI driver."""

    driver: str
    volume_handle: str
    read_only: Bool = False
    volume_attributes: StringMap = Field(default_factory=dict)


class LocalVolumeSource(KubeModel):
    """A disk of one node."""

    path: str = ""


class ObjectReference(KubeModel):
    """A reference to another object."""

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class VolumeNodeAffinity(KubeModel):
    """From which nodes a volume can be reached."""

    required: NodeSelector | None = None


_SOURCES = (
    *(field.alias or name for name, field in InTreeSources.model_fields.items()),
    *("csi", "local", "hostPath", "nfs", "fc", "cephfs", "glusterfs", "flocker", "flexVolume", "quobyte"),
    *("photonPersistentDisk", "scaleIO", "storageos"),
)


class PersistentVolumeSpec(InTreeSources):
    """What a volume offers, and where; `sources` are the fields that say what is behind it."""

    capacity: dict[str, AmountField] = Field(default_factory=dict)
    access_modes: Texts = ()
    claim_ref: ObjectReference | None = None
    storage_class_name: str = ""
    volume_mode: str = "Filesystem"
    node_affinity: VolumeNodeAffinity | None = None
    persistent_volume_reclaim_policy: str = "Retain"
    volume_attributes_class_name: str | None = None
    csi: CSIPersistentVolumeSource | None = None
    local: LocalVolumeSource | None = None
    sources: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _name_sources(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        return {**data, "sources": tuple(name for name in _SOURCES if data.get(name) is not None)}


class PersistentVolumeStatus(KubeModel):
    """Where a volume stands; `phase` is None where the input has none."""

    phase: str | None = None


class PersistentVolume(KubeObject):
    """A piece of storage."""

    namespaced: ClassVar[bool] = False

    api_version: str = "v1"
    kind: str = "PersistentVolume"
    spec: PersistentVolumeSpec = shared(PersistentVolumeSpec())
    status: PersistentVolumeStatus = shared(PersistentVolumeStatus())


class PersistentVolumeClaimStatus(KubeModel):
    """Where a claim stands; `phase` is None where the input has none."""

    phase: str | None = None
    access_modes: Texts = ()
    capacity: dict[str, AmountField] = Field(default_factory=dict)


class PersistentVolumeClaim(KubeObject):
    """A wish for a piece of storage."""

    api_version: str = "v1"
    kind: str = "PersistentVolumeClaim"
    spec: PersistentVolumeClaimSpec = shared(PersistentVolumeClaimSpec())
    status: PersistentVolumeClaimStatus = shared(PersistentVolumeClaimStatus())


class TopologySelectorLabelRequirement(KubeModel):
    """A node label and the values it may have."""

    key: str
    values: Texts = ()


class TopologySelectorTerm(KubeModel):
    """Labels that must all fit."""

    match_label_expressions: tuple[TopologySelectorLabelRequirement, ...] = ()


class StorageClass(KubeObject):
    """How volumes of a class are made, and when claims of it are bound."""

    namespaced: ClassVar[bool] = False

    api_version: str = "storage.k8s.io/v1"
    kind: str = "StorageClass"
    provisioner: str = ""
    parameters: StringMap = Field(default_factory=dict)
    reclaim_policy: str = "Delete"
    volume_binding_mode: str = "Immediate"
    allow_volume_expansion: Bool = False
    allowed_topologies: tuple[TopologySelectorTerm, ...] = ()


class VolumeNodeResources(KubeModel):
    """How many volumes of a driver a node can attach; None means no limit."""

    count: Int32 | None = None


class CSINodeDriver(KubeModel):
    """A driver that runs on a node."""

    name: str
    node_id: str = ""
    topology_keys: Texts = ()
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(KubeModel):
    """The drivers of a node."""

    drivers: tuple[CSINodeDriver, ...] = ()


class CSINode(KubeObject):
    """What CSI drivers said about the node of the same name."""

    namespaced: ClassVar[bool] = False

    api_version: str = "storage.k8s.io/v1"
    kind: str = "CSINode"
    spec: CSINodeSpec = shared(CSINodeSpec())


class CSIDriverSpec(KubeModel):
    """What a driver can do."""

    attach_required: Bool = True
    storage_capacity: Bool = False
    prevent_pod_scheduling_if_missing: Bool = False


class CSIDriver(KubeObject):
    """A storage driver of the cluster."""

    namespaced: ClassVar[bool] = False

    api_version: str = "storage.k8s.io/v1"
    kind: str = "CSIDriver"
    spec: CSIDriverSpec = shared(CSIDriverSpec())


class CSIStorageCapacity(KubeObject):
    """How much storage of a class is left for the nodes that `node_topology` selects."""

    api_version: str = "storage.k8s.io/v1"
    kind: str = "CSIStorageCapacity"
    node_topology: LabelSelector | None = None
    storage_class_name: str = ""
    capacity: QuantityField | None = None
    maximum_volume_size: QuantityField | None = None


class VolumeAttachmentSource(KubeModel):
    """Which volume is attached."""

    persistent_volume_name: str | None = None
    inline_volume_spec: PersistentVolumeSpec | None = None


class VolumeAttachmentSpec(KubeModel):
    """An intent to attach a volume to a node."""

    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = shared(VolumeAttachmentSource())


class VolumeAttachmentStatus(KubeModel):
    """Whether the volume is attached."""

    attached: Bool = False


class VolumeAttachment(KubeObject):
    """A volume attached to a node."""

    namespaced: ClassVar[bool] = False

    api_version: str = "storage.k8s.io/v1"
    kind: str = "VolumeAttachment"
    spec: VolumeAttachmentSpec = shared(VolumeAttachmentSpec())
    status: VolumeAttachmentStatus = shared(VolumeAttachmentStatus())
