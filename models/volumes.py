"""Volumes of a pod, as far as the volume plugins look at them."""

from typing import Any, ClassVar

from pydantic import Field, model_validator

from .base import Bool, Int32, KubeModel, StringMap, Texts, shared
from .meta import ObjectMeta
from .quantity import AmountField
from .selectors import LabelSelector


class VolumeResources(KubeModel):
    """How much storage a claim asks for."""

    requests: dict[str, AmountField] = Field(default_factory=dict)
    limits: dict[str, AmountField] = Field(default_factory=dict)


class PersistentVolumeClaimSpec(KubeModel):
    """What a claim asks for; also the template of an ephemeral volume's claim."""

    access_modes: Texts = ()
    selector: LabelSelector | None = None
    resources: VolumeResources = shared(VolumeResources())
    volume_name: str | None = None
    storage_class_name: str | None = None
    volume_mode: str = "Filesystem"
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimTemplate(KubeModel):
    """The claim that is made for an ephemeral volume."""

    metadata: ObjectMeta = shared(ObjectMeta())
    spec: PersistentVolumeClaimSpec = shared(PersistentVolumeClaimSpec())


class EphemeralVolumeSource(KubeModel):
    """A volume whose claim lives as long as the pod; the claim is called `<pod>-<volume>`."""

    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class PersistentVolumeClaimVolumeSource(KubeModel):
    """A reference to a claim in the pod's namespace."""

    claim_name: str
    read_only: Bool = False


class EmptyDirVolumeSource(KubeModel):
    """A directory of the node that goes with the pod."""


class HostPathVolumeSource(KubeModel):
    """A directory of the node that stays there."""


class CSIVolumeSource(KubeModel):
    """A volume that a CSI driver makes for the pod."""

    driver: str
    read_only: Bool = False
    fs_type: str | None = None
    volume_attributes: StringMap = Field(default_factory=dict)


class GCEPersistentDiskVolumeSource(KubeModel):
    """A disk of Google's cloud."""

    pd_name: str
    fs_type: str | None = None
    partition: Int32 = 0
    read_only: Bool = False


class AWSElasticBlockStoreVolumeSource(KubeModel):
    """A disk of Amazon's cloud."""

    volume_id: str
    fs_type: str | None = None
    partition: Int32 = 0
    read_only: Bool = False


class ISCSIVolumeSource(KubeModel):
    """An ISCSI disk."""

    target_portal: str = ""
    iqn: str = ""
    lun: Int32 = 0
    read_only: Bool = False


class RBDVolumeSource(KubeModel):
    """A Ceph block device."""

    empty_is_absent: ClassVar = frozenset({"pool"})

    monitors: Texts = ()
    image: str = ""
    pool: str = "rbd"
    read_only: Bool = False


class AzureDiskVolumeSource(KubeModel):
    """A disk of Microsoft's cloud."""

    disk_name: str = ""
    disk_uri: str = ""
    read_only: Bool = False


class AzureFileVolumeSource(KubeModel):
    """A file share of Microsoft's cloud."""

    secret_name: str = ""
    share_name: str = ""
    read_only: Bool = False


class CinderVolumeSource(KubeModel):
    """A disk of OpenStack."""

    volume_id: str
    read_only: Bool = False


class VsphereVirtualDiskVolumeSource(KubeModel):
    """A disk of vSphere."""

    volume_path: str = ""


class PortworxVolumeSource(KubeModel):
    """A Portworx volume."""

    volume_id: str
    read_only: Bool = False


class InTreeSources(KubeModel):
    """The sources that a pod's volume and a persistent volume have in common."""

    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    rbd: RBDVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    azure_file: AzureFileVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None


VOLUME_SOURCES = frozenset(
    (
        *(field.alias or name for name, field in InTreeSources.model_fields.items()),
        *("persistentVolumeClaim", "ephemeral", "csi", "emptyDir", "hostPath", "configMap", "secret"),
        *("projected", "downwardAPI", "nfs", "fc", "cephfs", "glusterfs", "flocker", "flexVolume", "quobyte"),
        *("photonPersistentDisk", "scaleIO", "storageos", "gitRepo", "image"),
    )
)


class Volume(InTreeSources):
    """A named volume; every source that no plugin looks at leaves all fields None.

    `sources` names the sources where there are several, those that no plugin looks at among them.
    """

    name: str
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    csi: CSIVolumeSource | None = None
    empty_dir: EmptyDirVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None
    sources: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _name_sources(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        names = [name for name in data if name in VOLUME_SOURCES and data[name] is not None]
        return {**data, "sources": tuple(names)} if len(names) > 1 else data
