"""Rules of a pod's volumes: the reach of bound ones, claims to be bound, exclusive use, limits of drivers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ....framework.vocabulary import names
from ....framework.volumes.storage import is_bound
from ....framework.volumes.zones import LABELS
from .base import Reason, filters, on_specs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....framework.index.podinfo import PodInfo
    from ....models.pod import PodSpec
    from ....models.snapshot import Snapshot
    from ....models.storage import CSINode, PersistentVolume, PersistentVolumeClaim
    from ....models.volumes import Volume
    from .base import Subject

_PLUGINS = (names.VOLUME_RESTRICTIONS, names.NODE_VOLUME_LIMITS, names.VOLUME_BINDING, names.VOLUME_ZONE)
RWOP = "ReadWriteOncePod"


def reasons(subject: Subject) -> Iterator[Reason]:
    """Yield the rules of the pods' volumes."""
    snapshot = subject.cluster.snapshot
    claims = {item.key: item for item in snapshot.persistent_volume_claims}
    volumes = {item.name: item for item in snapshot.persistent_volumes}
    for info in subject.infos:
        if not any(filters(subject, info, name) for name in _PLUGINS):
            continue
        for volume in info.pod.spec.volumes:
            if volume.persistent_volume_claim is not None:
                name = volume.persistent_volume_claim.claim_name
            elif volume.ephemeral is not None:
                name = f"{info.pod.name}-{volume.name}"
            else:
                yield from _inline(info, volume)
                continue
            claim = claims.get(f"{info.namespace}/{name}")
            yield from _of_claim(info, volume, name, claim, volumes)
    if any(info.pod.spec.volumes for info in subject.infos):
        yield from _limits(snapshot)


def _inline(info: PodInfo, volume: Volume) -> Iterator[Reason]:
    """Yield the rule that some disks serve one pod, or one node, at a time."""
    for word in ("gce_persistent_disk", "aws_elastic_block_store", "iscsi", "rbd", "azure_disk"):
        if getattr(volume, word, None) is not None:
            yield _volume(info, volume, "volume", f"volume {volume.name} is a disk that is named directly")


def _volume(info: PodInfo, volume: Volume, kind: str, text: str) -> Reason:
    """Return a rule of a pod's volume, which is lifted by leaving the volume out."""
    return Reason(
        kind=kind,
        object=f"Pod {info.key}",
        field=f"spec.volumes[{volume.name}]",
        text=text,
        lift=on_specs(frozenset({info.key}), partial(_without_volume, volume.name)),
        facts={"volume": volume.name},
    )


def _without_volume(name: str, spec: PodSpec) -> dict[str, Any]:
    return {"volumes": tuple(item for item in spec.volumes if item.name != name)}


def _of_claim(
    info: PodInfo,
    volume: Volume,
    name: str,
    claim: PersistentVolumeClaim | None,
    volumes: dict[str, PersistentVolume],
) -> Iterator[Reason]:
    if claim is None:
        yield _volume(info, volume, "volumeClaim", f"PersistentVolumeClaim {name} is not in the input")
        return
    if claim.metadata.deletion_timestamp is not None:
        yield _volume(info, volume, "volumeClaim", f"PersistentVolumeClaim {name} is being deleted")
        return
    behind = volumes.get(claim.spec.volume_name or "")
    if not is_bound(claim) or behind is None or claim.status.phase == "Lost":
        kind = f" of class {claim.spec.storage_class_name}" if claim.spec.storage_class_name else ""
        yield _volume(info, volume, "volumeClaim", f"PersistentVolumeClaim {name}{kind} needs a volume")
    elif behind.spec.node_affinity is not None or any(key in behind.metadata.labels for key in LABELS):
        yield Reason(
            kind="volumeReach",
            object=f"PersistentVolume {behind.name}",
            field="spec.nodeAffinity",
            text=f"volume {behind.name} of claim {name} is reached from some nodes only",
            lift=partial(_reached_everywhere, behind.name),
            facts={"volume": behind.name, "claim": claim.key},
        )
    if RWOP in claim.spec.access_modes:
        yield Reason(
            kind="volumeExclusive",
            object=f"PersistentVolumeClaim {claim.key}",
            field="spec.accessModes",
            text=f"claim {name} is for one pod at a time ({RWOP})",
            lift=partial(_for_several, claim.key),
            facts={"claim": claim.key},
        )


def _reached_everywhere(name: str, snapshot: Snapshot) -> Snapshot:
    def freed(volume: PersistentVolume) -> PersistentVolume:
        if volume.name != name:
            return volume
        labels = {key: value for key, value in volume.metadata.labels.items() if key not in LABELS}
        return volume.model_copy(
            update={
                "spec": volume.spec.model_copy(update={"node_affinity": None}),
                "metadata": volume.metadata.model_copy(update={"labels": labels}),
            }
        )

    return replace(snapshot, persistent_volumes=tuple(map(freed, snapshot.persistent_volumes)))


def _for_several(key: str, snapshot: Snapshot) -> Snapshot:
    def freed(claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        if claim.key != key:
            return claim
        modes = tuple("ReadWriteOnce" if mode == RWOP else mode for mode in claim.spec.access_modes)
        return claim.model_copy(update={"spec": claim.spec.model_copy(update={"access_modes": modes})})

    return replace(snapshot, persistent_volume_claims=tuple(map(freed, snapshot.persistent_volume_claims)))


def _limits(snapshot: Snapshot) -> Iterator[Reason]:
    drivers = {
        driver.name
        for item in snapshot.csi_nodes
        for driver in item.spec.drivers
        if driver.allocatable is not None and driver.allocatable.count is not None
    }
    for name in sorted(drivers):
        yield Reason(
            kind="volumeLimit",
            object="CSINode",
            field=f"spec.drivers[{name}].allocatable.count",
            text=f"nodes attach so many volumes of driver {name} and no more",
            lift=partial(_unlimited, name),
            facts={"driver": name},
        )


def _unlimited(name: str, snapshot: Snapshot) -> Snapshot:
    def freed(item: CSINode) -> CSINode:
        drivers = tuple(
            driver.model_copy(update={"allocatable": None}) if driver.name == name else driver
            for driver in item.spec.drivers
        )
        return item.model_copy(update={"spec": item.spec.model_copy(update={"drivers": drivers})})

    return replace(snapshot, csi_nodes=tuple(map(freed, snapshot.csi_nodes)))
