"""NodeVolumeLimits: a node attaches so many volumes of a CSI driver and no more.

A node passes when, for each driver of which the pod brings a volume that no pod there uses yet,

    volumes attached + volumes that the pod brings <= limit

A volume counts once, however many pods use it.  One that a VolumeAttachment names counts as attached; brought
by a pod while no pod there uses it, it counts on both sides, as upstream has it.

A driver whose CSIDriver says `preventPodSchedulingIfMissing` must be installed on the node, whatever its
limit (KEP-5030; of several that are not the first by name is told).

Source: kube-scheduler plugins/nodevolumelimits/csi.go.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from ..index.missing import Missing
from ..vocabulary import names
from ..vocabulary.status import Code
from ..volumes.attachments import Attached, Brought, attachments_of
from ..volumes.uses import with_volumes
from .base import FilterPlugin, Verdicts

if TYPE_CHECKING:
    from ..state.state import State
    from ..vocabulary.arrays import Bools, Ints

REASON: Final = "node(s) exceed max volume count"
ABSENT: Final = "{driver} CSI driver is not installed on the node"

_FULL: Final = 1
_ABSENT: Final = 2


@dataclass(slots=True, eq=False)
class _Fork:
    """One node: drivers that it lacks, what is counted there, who uses which volume, what changed since."""

    node: int
    absent: list[str]
    own: dict[str, int]
    shared: tuple[Attached, ...]
    counts: dict[str, int]
    limits: dict[str, int]
    attached: Mapping[tuple[str, str], Mapping[int, int]]
    changed: dict[tuple[str, str], int]

    def users(self, volume: Attached) -> int:
        """How many pods of the node use a volume."""
        found = self.changed.get(volume.identity)
        return self.attached.get(volume.identity, {}).get(self.node, 0) if found is None else found


class NodeVolumeLimits(FilterPlugin):
    """Rejects nodes that cannot attach what the pod brings."""

    name: ClassVar[str] = names.NODE_VOLUME_LIMITS
    codes: ClassVar[tuple[Code, ...]] = (Code.SUCCESS, Code.UNSCHEDULABLE, Code.UNSCHEDULABLE)

    def is_settled(self, i: int) -> bool:
        """Whether the pod has no volumes."""
        return not self.cluster.pods[i].pod.spec.volumes

    def pre_filter(self, state: "State", i: int) -> Brought | None:
        """Return what the pod brings of drivers with a limit; skips a pod that brings nothing."""
        if state.volumes is None:
            return None
        brought = attachments_of(self.cluster).brought(i)
        return brought if brought.own or brought.shared else None

    def filter_all(self, data: Brought, state: "State", i: int) -> Verdicts:
        """Judge every node."""
        assert state.volumes is not None
        attachments = attachments_of(self.cluster)
        new: dict[str, Ints] = {}
        for driver, plugin, count in data.own:
            new[driver] = new.get(driver, 0) + count * attachments.counts(plugin)
        for volume in data.shared:
            counts = attachments.counts(volume.plugin).astype(np.int64)
            counts[list(state.volumes.attached.get(volume.identity, ()))] = 0
            new[volume.driver] = new.get(volume.driver, 0) + counts
        full = np.zeros(self.cluster.n_nodes, dtype=np.bool_)
        for driver, brought in new.items():
            full |= (brought > 0) & (brought > attachments.limits[driver] - state.volumes.counts[driver])
        verdicts = full.astype(np.uint8)
        verdicts[self._absent(data)] = _ABSENT
        return verdicts

    def possible(self, i: int) -> "Bools | None":
        """Return the nodes on which every driver is installed that must be; None for all."""
        absent = self._absent(attachments_of(self.cluster).brought(i))
        return ~absent if absent.any() else None

    def _absent(self, data: Brought) -> "Bools":
        """Return the nodes that lack a driver which must be there; bool[N]."""
        attachments = attachments_of(self.cluster)
        mask = np.zeros(self.cluster.n_nodes, dtype=np.bool_)
        brought = [(driver, plugin) for driver, plugin, _ in data.own]
        for driver, plugin in (*brought, *((v.driver, v.plugin) for v in data.shared)):
            if driver in attachments.absent:
                mask |= attachments.absent[driver] & attachments.counts(plugin)
        return mask

    def fork(self, data: Brought, state: "State", i: int, n: int) -> _Fork:
        """Return what is attached to the node of the drivers that matter."""
        assert state.volumes is not None
        attachments = attachments_of(self.cluster)
        own: dict[str, int] = {}
        for driver, plugin, count in data.own:
            if attachments.counts_on(plugin, n):
                own[driver] = own.get(driver, 0) + count
        shared = tuple(volume for volume in data.shared if attachments.counts_on(volume.plugin, n))
        drivers = own.keys() | {volume.driver for volume in shared}
        return _Fork(
            node=n,
            absent=attachments.lacking(data, n),
            own=own,
            shared=shared,
            counts={driver: int(state.volumes.counts[driver][n]) for driver in drivers},
            limits={driver: int(attachments.limits[driver][n]) for driver in drivers},
            attached=state.volumes.attached,
            changed={},
        )

    def concerned(self, data: Brought) -> "Bools":
        """Say which pods have volumes."""
        return with_volumes(self.cluster)

    def add(self, fork: _Fork, j: int) -> None:
        """Attach what pod j brings."""
        for volume, before in self._moving(fork, j):
            fork.changed[volume.identity] = before + 1
            if not before and not attachments_of(self.cluster).is_held(volume, fork.node):
                fork.counts[volume.driver] += 1

    def remove(self, fork: _Fork, j: int) -> None:
        """Detach what only pod j used."""
        for volume, before in self._moving(fork, j):
            fork.changed[volume.identity] = before - 1
            if before == 1 and not attachments_of(self.cluster).is_held(volume, fork.node):
                fork.counts[volume.driver] -= 1

    def _moving(self, fork: _Fork, j: int) -> list[tuple[Attached, int]]:
        """Return pod j's volumes of the drivers that matter, with how many pods of the node use each."""
        attachments = attachments_of(self.cluster)
        return [
            (volume, fork.users(volume))
            for volume in attachments.of(j)
            if volume.driver in fork.counts and attachments.counts_on(volume.plugin, fork.node)
        ]

    def check(self, fork: _Fork) -> int:
        """Judge the node."""
        if fork.absent:
            return _ABSENT
        full = any(fork.counts[driver] + new > fork.limits[driver] for driver, new in self._new(fork).items())
        return _FULL if full else 0

    def _new(self, fork: _Fork) -> dict[str, int]:
        """Return how many volumes of each driver no pod of the node uses yet."""
        new = dict(fork.own)
        for volume in fork.shared:
            if not fork.users(volume):
                new[volume.driver] = new.get(volume.driver, 0) + 1
        return new

    def missing(self, fork: _Fork, verdict: int, state: "State", i: int) -> tuple[Missing, ...]:
        """Return for each driver how many volumes are too many, or the drivers that are not there."""
        if verdict == _ABSENT:
            return tuple(
                Missing(driver, f"the driver {driver} is not installed here", facts={"driver": driver})
                for driver in fork.absent
            )
        found: list[Missing] = []
        for driver, count in sorted(self._new(fork).items()):
            attached, limit = fork.counts[driver], fork.limits[driver]
            over = attached + count - limit
            if over > 0:
                text = f"{count} more volumes of {driver}, {attached} of {limit} attached: {over} too many"
                facts = {"driver": driver, "wanted": count, "attached": attached, "limit": limit}
                found.append(Missing(driver, text, over / count, facts))
        return tuple(found)

    def reasons(self, fork: _Fork, verdict: int) -> tuple[str, ...]:
        """Return the reason: the node is full, or a driver is not there."""
        return (REASON,) if verdict == _FULL else (ABSENT.format(driver=fork.absent[0]),)
