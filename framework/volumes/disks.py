"""Disks that a pod names itself: two pods of one node may not have the same one, unless both only read it.

Source: kube-scheduler 1.34.1 plugins/volumerestrictions/volume_restrictions.go.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ...models.volumes import Volume


class Disk(NamedTuple):
    """A disk that can be in one pod's hands only.

    Attributes
    ----------
    kind : str
        `gce`, `ebs`, `iscsi` or `rbd`: disks of different kinds are different disks.
    identity : tuple of str
        Equal for the same disk; without the monitors.
    monitors : frozenset of str
        Of a Ceph block device: one in common makes it the same device.
    shareable : bool
        Whether it is only read, and so stands beside others that only read it.
    """

    kind: str
    identity: tuple[str, ...]
    monitors: frozenset[str]
    shareable: bool

    def conflicts(self, other: "Disk") -> bool:
        """Whether the two disks cannot be on one node."""
        return (
            self.kind == other.kind
            and self.identity == other.identity
            and not (self.shareable and other.shareable)
            and (self.kind != "rbd" or bool(self.monitors & other.monitors))
        )


def disks(volumes: Iterable[Volume]) -> tuple[Disk, ...]:
    """Return the disks among a pod's volumes."""
    return tuple(disk for volume in volumes for disk in _of(volume))


def conflict(ours: Iterable[Disk], theirs: Iterable[Disk]) -> bool:
    """Whether two pods cannot share a node because of a disk."""
    others = tuple(theirs)
    return any(mine.conflicts(other) for mine in ours for other in others)


def _of(volume: Volume) -> Iterator[Disk]:
    no_monitors: frozenset[str] = frozenset()
    if volume.gce_persistent_disk is not None:
        gce = volume.gce_persistent_disk
        yield Disk("gce", (gce.pd_name,), no_monitors, gce.read_only)
    if volume.aws_elastic_block_store is not None:
        yield Disk("ebs", (volume.aws_elastic_block_store.volume_id,), no_monitors, shareable=False)
    if volume.iscsi is not None:
        yield Disk("iscsi", (volume.iscsi.iqn,), no_monitors, volume.iscsi.read_only)
    if volume.rbd is not None:
        rbd = volume.rbd
        yield Disk("rbd", (rbd.pool, rbd.image), frozenset(rbd.monitors), rbd.read_only)
