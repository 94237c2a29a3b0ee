"""VolumeRestrictions: disks that one pod of a node can have, claims that one pod of the cluster can have.

A ReadWriteOncePod claim in use counts 1 however many pods use it, and the hooks compare the claims' names
alone, whatever the namespace: both are upstream's.

Source: kube-scheduler 1.34.1 plugins/volumerestrictions.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from ..index.missing import Missing, named
from ..vocabulary import names
from ..vocabulary.arrays import Bools
from ..vocabulary.status import Code, Status
from ..volumes.claims import not_found
from ..volumes.disks import Disk, conflict
from ..volumes.storage import storage_of
from ..volumes.uses import uses_of, with_volumes
from .base import FilterPlugin, Verdicts

if TYPE_CHECKING:
    from ..state.state import State

REASON_DISK: Final = "node(s) had no available disk"
_EXCLUSIVE: Final = "PersistentVolumeClaim with ReadWriteOncePod access mode"
REASON_IN_USE: Final = f"node(s) unavailable due to {_EXCLUSIVE} already in-use by another pod"

_DISK: Final = 1
_IN_USE: Final = 2


@dataclass(slots=True, eq=False)
class _Wanted:
    """The pod's disks and exclusive claims; `taken` is how many pods of a node stand in the disks' way."""

    disks: tuple[Disk, ...]
    names: frozenset[str]
    in_use: int
    taken: dict[int, int]


@dataclass(slots=True, eq=False)
class _Fork:
    wanted: _Wanted
    node: int
    taken: int
    in_use: int


class VolumeRestrictions(FilterPlugin):
    """See the module's docstring."""

    name: ClassVar[str] = names.VOLUME_RESTRICTIONS
    codes: ClassVar[tuple[Code, ...]] = (Code.SUCCESS, Code.UNSCHEDULABLE, Code.UNSCHEDULABLE)

    def is_settled(self, i: int) -> bool:
        """Whether the pod has no volumes."""
        return not self.cluster.pods[i].pod.spec.volumes

    def pre_filter(self, state: "State", i: int) -> _Wanted | Status | None:
        """Find who is in the way; skips a pod without disks whose exclusive claims nobody uses."""
        uses = uses_of(self.cluster).of(i)
        volumes = state.volumes
        if volumes is None or not (uses.disks or uses.claims):
            return None
        claims = storage_of(self.cluster).claims
        exclusive: set[str] = set()
        in_use = 0
        for use in dict.fromkeys(uses.named_claims):
            claim = claims.get(use.key)
            if claim is None:
                return Status(Code.UNRESOLVABLE, self.name, (not_found(use.name),))
            if "ReadWriteOncePod" in claim.spec.access_modes:
                exclusive.add(use.name)
                in_use += volumes.users.get(use.key, 0) > 0
        if not uses.disks and not in_use:
            return None
        taken: dict[int, int] = {}
        if uses.disks:
            for j, n in volumes.disks.items():
                taken[n] = taken.get(n, 0) + conflict(uses.disks, uses_of(self.cluster).of(j).disks)
        return _Wanted(uses.disks, frozenset(exclusive), in_use, taken)

    def refuses(self, i: int) -> bool:
        """Whether a claim of the pod does not exist."""
        claims = storage_of(self.cluster).claims
        return any(use.key not in claims for use in uses_of(self.cluster).of(i).named_claims)

    def filter_all(self, data: _Wanted, state: "State", i: int) -> Verdicts:
        """Judge every node."""
        verdicts: Verdicts = np.full(self.cluster.n_nodes, _IN_USE if data.in_use > 0 else 0, dtype=np.uint8)
        verdicts[[n for n, count in data.taken.items() if count]] = _DISK
        return verdicts

    def fork(self, data: _Wanted, state: "State", i: int, n: int) -> _Fork:
        """Return who is in the way on the node, and of the claims."""
        return _Fork(data, n, data.taken.get(n, 0), data.in_use)

    def concerned(self, data: _Wanted) -> Bools:
        """Say which pods have volumes."""
        return with_volumes(self.cluster)

    def add(self, fork: _Fork, j: int) -> None:
        """Count pod j."""
        self._change(fork, j, 1)

    def remove(self, fork: _Fork, j: int) -> None:
        """Count pod j no longer."""
        self._change(fork, j, -1)

    def _change(self, fork: _Fork, j: int, by: int) -> None:
        theirs = uses_of(self.cluster).of(j)
        fork.taken += by * conflict(fork.wanted.disks, theirs.disks)
        fork.in_use += by * sum(use.name in fork.wanted.names for use in theirs.named_claims)

    def check(self, fork: _Fork) -> int:
        """Judge the node, disks first."""
        if fork.taken:
            return _DISK
        return _IN_USE if fork.in_use > 0 else 0

    def missing(self, fork: _Fork, verdict: int, state: "State", i: int) -> tuple[Missing, ...]:
        """Name the pods that have the disks, or the claims that others use."""
        cluster, uses = self.cluster, uses_of(self.cluster)
        if verdict == _DISK:
            there = [j for j in state.pods_on(fork.node) if conflict(fork.wanted.disks, uses.of(j).disks)]
            facts = {"pods": [cluster.pods[j].key for j in there]}
            return (Missing("disk", f"a disk of the pod is held by {named(cluster, there)}", facts=facts),)
        wanted = dict.fromkeys(u.key for u in uses.of(i).named_claims if u.name in fork.wanted.names)
        return tuple(
            Missing(key, f"claim {key} is held by {named(cluster, holders)}", facts={"claim": key})
            for key in wanted
            for holders in ([j for j in uses.users.get(key, ()) if state.node_of[j] >= 0],)
            if holders
        )

    def reasons(self, fork: _Fork, verdict: int) -> tuple[str, ...]:
        """Say which of the two it was."""
        return (REASON_DISK if verdict == _DISK else REASON_IN_USE,)
