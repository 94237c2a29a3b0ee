"""Volume sources that pods and the volumes of the cluster have in common.

Not demanded, though the API server does: what is inside a source that no plugin reads (paths, URIs).

Source: kubernetes pkg/apis/core/validation (validateVolumeSource, ValidatePersistentVolumeSpec).
"""

import re

from ...volumes import InTreeSources, ISCSIVolumeSource
from ..faults import Fault, Faults, required_text, within

_IQN = re.compile(r"iqn\.\d{4}-\d{2}\.[a-z0-9.-]+(?::[^,;*&$|\s]+)?|(?:eui|naa)\.[0-9A-Za-z]+", re.IGNORECASE)


def in_tree_faults(volume: InTreeSources, path: str) -> Faults:
    """Find faults of the sources that volumes of pods and of the cluster have in common."""
    if volume.gce_persistent_disk is not None:
        where = f"{path}.gcePersistentDisk"
        yield from required_text(volume.gce_persistent_disk.pd_name, f"{where}.pdName")
        yield from within(volume.gce_persistent_disk.partition, 0, 255, f"{where}.partition")
    if volume.aws_elastic_block_store is not None:
        where = f"{path}.awsElasticBlockStore"
        yield from required_text(volume.aws_elastic_block_store.volume_id, f"{where}.volumeID")
        yield from within(volume.aws_elastic_block_store.partition, 0, 255, f"{where}.partition")
    if volume.iscsi is not None:
        yield from _iscsi_faults(volume.iscsi, f"{path}.iscsi")
    if volume.rbd is not None:
        if not volume.rbd.monitors:
            yield Fault(f"{path}.rbd.monitors", "required")
        yield from required_text(volume.rbd.image, f"{path}.rbd.image")
    if volume.azure_disk is not None:
        yield from required_text(volume.azure_disk.disk_name, f"{path}.azureDisk.diskName")
        yield from required_text(volume.azure_disk.disk_uri, f"{path}.azureDisk.diskURI")
    if volume.azure_file is not None:
        yield from required_text(volume.azure_file.secret_name, f"{path}.azureFile.secretName")
        yield from required_text(volume.azure_file.share_name, f"{path}.azureFile.shareName")
    if volume.cinder is not None:
        yield from required_text(volume.cinder.volume_id, f"{path}.cinder.volumeID")
    if volume.vsphere_volume is not None:
        yield from required_text(volume.vsphere_volume.volume_path, f"{path}.vsphereVolume.volumePath")
    if volume.portworx_volume is not None:
        yield from required_text(volume.portworx_volume.volume_id, f"{path}.portworxVolume.volumeID")


def _iscsi_faults(source: ISCSIVolumeSource, path: str) -> Faults:
    yield from required_text(source.target_portal, f"{path}.targetPortal")
    yield from required_text(source.iqn, f"{path}.iqn")
    if source.iqn and not _IQN.fullmatch(source.iqn):
        yield Fault(
            f"{path}.iqn", f"must begin with iqn., eui. or naa. and be well-formed, not {source.iqn!r}"
        )
    yield from within(source.lun, 0, 255, f"{path}.lun")
