"""In-tree volumes whose work a CSI driver has taken over.

NodeVolumeLimits counts such a volume for its driver; VolumeBinding translates the zone in the volume's node
affinity to the driver's own label, where the node says that its kubelet has migrated.

Sources: csi-translation-lib plugins (aws_ebs.go, gce_pd.go, azure_disk.go, openstack_cinder.go, portworx.go,
in_tree_volume.go); kube-scheduler 1.34.1 plugins/nodevolumelimits/utils.go, plugins/volumebinding/binder.go.
"""

import re
from typing import Final, NamedTuple

from ...models.annotations import MIGRATED_PLUGINS
from ...models.node import ZONE
from ...models.selectors import (
    CompiledNodeSelector,
    CompiledTerm,
    Requirement,
    compile_requirements,
    requirement,
)
from ...models.storage import CSINode, PersistentVolume
from ...models.volumes import InTreeSources

REGION: Final = "topology.kubernetes.io/region"
OLD_ZONE: Final = "failure-domain.beta.kubernetes.io/zone"
OLD_REGION: Final = "failure-domain.beta.kubernetes.io/region"
SEVERAL: Final = "__"
"""Between the zones of a volume that is in several."""

_UNKNOWN: Final = "UNSPECIFIED"
_EBS_ID: Final = re.compile(r"vol-[^/]*")


class Migrated(NamedTuple):
    """The driver behind an in-tree plugin.

    Attributes
    ----------
    zone_key : str
        The driver's own zone label, empty where it has none.
    announced : bool
        Whether volumes only count where the node announces the migration; else on every node with a CSINode.
    counted : bool
        Whether volumes count, and are translated, at all.
    """

    driver: str
    zone_key: str = ""
    announced: bool = False
    counted: bool = True


PLUGINS: Final[dict[str, Migrated]] = {
    "kubernetes.io/aws-ebs": Migrated("ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone"),
    "kubernetes.io/gce-pd": Migrated("pd.csi.storage.gke.io", "topology.gke.io/zone"),
    "kubernetes.io/azure-disk": Migrated("disk.csi.azure.com", "topology.disk.csi.azure.com/zone"),
    "kubernetes.io/cinder": Migrated("cinder.csi.openstack.org", "topology.cinder.csi.openstack.org/zone"),
    "kubernetes.io/portworx-volume": Migrated("pxd.portworx.com", announced=True),
    "kubernetes.io/azure-file": Migrated("file.csi.azure.com", counted=False),
    "kubernetes.io/vsphere-volume": Migrated("csi.vsphere.vmware.com", counted=False),
}


def plugin_of(source: InTreeSources) -> str:
    """Return the name of the in-tree plugin behind a volume, empty where no driver took over."""
    found = (
        (source.aws_elastic_block_store, "kubernetes.io/aws-ebs"),
        (source.gce_persistent_disk, "kubernetes.io/gce-pd"),
        (source.azure_disk, "kubernetes.io/azure-disk"),
        (source.cinder, "kubernetes.io/cinder"),
        (source.portworx_volume, "kubernetes.io/portworx-volume"),
        (source.azure_file, "kubernetes.io/azure-file"),
        (source.vsphere_volume, "kubernetes.io/vsphere-volume"),
    )
    return next((name for part, name in found if part is not None), "")


def announces(node: CSINode | None, plugin: str) -> bool:
    """Whether a node announces that its kubelet has handed a plugin to its driver."""
    return node is not None and plugin in node.metadata.annotations.get(MIGRATED_PLUGINS, "").split(",")


def counts_on(node: CSINode | None, plugin: str) -> bool:
    """Whether NodeVolumeLimits counts a plugin's volumes on a node."""
    migrated = PLUGINS[plugin]
    return migrated.counted and node is not None and (not migrated.announced or announces(node, plugin))


def handle_of(source: InTreeSources, labels: dict[str, str] | None) -> str:
    """Return the driver's handle of an in-tree volume, empty where it has none.

    Parameters
    ----------
    source : InTreeSources
    labels : dict or None
        Of the persistent volume; None for a volume that a pod names itself.
    """
    if source.aws_elastic_block_store is not None:
        return _ebs_id(source.aws_elastic_block_store.volume_id)
    if source.gce_persistent_disk is not None:
        place = _gce_place(labels or {})
        return f"projects/{_UNKNOWN}/{place}/disks/{source.gce_persistent_disk.pd_name}" if place else ""
    if source.azure_disk is not None:
        return source.azure_disk.disk_uri
    if source.cinder is not None:
        return source.cinder.volume_id
    if source.portworx_volume is not None:
        return source.portworx_volume.volume_id
    return ""


def _ebs_id(name: str) -> str:
    if not name.startswith("aws://"):
        return name
    last = name.removeprefix("aws://").partition("/")[2].strip("/")
    return last if _EBS_ID.fullmatch(last) else ""


def _gce_place(labels: dict[str, str]) -> str:
    zones = (labels.get(OLD_ZONE) or labels.get(ZONE, "")).split(SEVERAL)
    if len(zones) == 1:
        return f"zones/{zones[0] or _UNKNOWN}"
    regions = {zone.rpartition("-")[0] for zone in zones if zone.count("-") == 2}
    return f"regions/{regions.pop()}" if len(regions) == 1 and all(z.count("-") == 2 for z in zones) else ""


def translated_affinity(volume: PersistentVolume) -> CompiledNodeSelector | None:
    """Return a volume's node affinity in the terms of the driver that took over; None takes every node.

    The zone label becomes the driver's; a volume whose affinity names no zone gets that of its labels.
    """
    affinity = volume.spec.node_affinity
    required = affinity.required.compiled if affinity and affinity.required else None
    key = PLUGINS[plugin_of(volume.spec)].zone_key
    if not key:
        return required
    terms = required.terms if required else ()
    zone = _zone_label(terms, volume.metadata.labels)
    renamed = {OLD_REGION: REGION} if zone == OLD_ZONE else {}
    extra: tuple[Requirement, ...] = ()
    if any(item.key == zone and item.values for term in terms for item in term.labels):
        renamed[zone] = key
    else:
        places = (place.strip() for place in volume.metadata.labels.get(zone, "").split(SEVERAL))
        zones = tuple(place for place in places if place)
        if zones:
            extra = (requirement(key, "In", zones),)
            terms = terms or (CompiledTerm(),)
    if not terms:
        return required
    return CompiledNodeSelector(tuple(_translated(term, renamed, extra) for term in terms))


def _zone_label(terms: tuple[CompiledTerm, ...], labels: dict[str, str]) -> str:
    """Return which spelling of the zone label a volume uses: its affinity decides before its own labels."""
    named = {item.key for term in terms for item in term.labels}
    spellings = ((ZONE, named), (OLD_ZONE, named), (ZONE, labels.keys()), (OLD_ZONE, labels.keys()))
    return next((key for key, keys in spellings if key in keys), ZONE)


def _translated(term: CompiledTerm, renamed: dict[str, str], extra: tuple[Requirement, ...]) -> CompiledTerm:
    own = (requirement(renamed.get(item.key, item.key), item.operator, item.values) for item in term.labels)
    return CompiledTerm(
        labels=compile_requirements((*own, *extra)).requirements,
        fields=term.fields,
        unparsable=term.unparsable,
    )
