"""What pods on nodes hold of volumes, and what a round binds: the part of `State` for volumes.

Only pods with claims, disks or in-tree volumes are followed; a cluster without any has no such part.
"""

from collections.abc import Hashable
from typing import TYPE_CHECKING

from .assumed import Assumed
from .attachments import Attached, attachments_of
from .binding import Bindings, binder_of
from .claims import claims_of
from .uses import uses_of

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..vocabulary.arrays import Ints


class VolumeState:
    """Volumes held on nodes.

    Attributes
    ----------
    users : dict
        Claim's key to how many pods on nodes name it (not as an ephemeral volume).
    disks : dict
        Pod with disks to its node.
    attached : dict
        Driver and handle of an attached volume to node to how many pods there use it.
    counts : dict
        Driver to int64[N]: how many volumes are attached, for pods or by a VolumeAttachment.
    assumed : Assumed
    """

    __slots__ = ("_cluster", "_did", "assumed", "attached", "counts", "disks", "users")

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster
        self.users: dict[str, int] = {}
        self.disks: dict[int, int] = {}
        self.attached: dict[tuple[str, str], dict[int, int]] = {}
        attachments = attachments_of(cluster)
        self.counts: dict[str, Ints] = {
            driver: attachments.already_held(driver) for driver in attachments.limits
        }
        self.assumed = Assumed(cluster)
        self._did: dict[int, Bindings] = {}

    @classmethod
    def of(cls, cluster: "Cluster") -> "VolumeState | None":
        """Return the part for a cluster before any pod is placed; None where no pod has such a volume."""
        return cls(cluster) if uses_of(cluster).pods else None

    def place(self, i: int, n: int) -> None:
        """Add pod i on node n; a pod that waited binds its claims (Reserve)."""
        uses = uses_of(self._cluster).pods.get(i)
        if uses is None:
            return
        if self._binds(i):
            self._reserve(i, n)
        for key in {use.key for use in uses.named_claims}:
            self.users[key] = self.users.get(key, 0) + 1
        if uses.disks:
            self.disks[i] = n
        for volume in attachments_of(self._cluster).of(i):
            self._attach(volume, n)

    def remove(self, i: int, n: int) -> None:
        """Remove pod i from node n; claims that its placing bound stay bound."""
        uses = uses_of(self._cluster).pods.get(i)
        if uses is None:
            return
        self._did.pop(i, None)
        for key in {use.key for use in uses.named_claims}:
            self.users[key] -= 1
        if uses.disks:
            del self.disks[i]
        for volume in attachments_of(self._cluster).of(i):
            self._detach(volume, n)

    def take_back(self, i: int, n: int) -> None:
        """Undo the placing of pod i on node n, with what it bound."""
        did = self._did.get(i)
        self.remove(i, n)
        if did is not None:
            for key, v in did.taken:
                self.assumed.give_back(key, v)
            for key in did.made:
                del self.assumed.node_of[key]

    def bindings(self) -> Hashable:
        """Return what the round has bound so far, as far as it matters to pods to come."""
        assumed = self.assumed
        return (
            frozenset(assumed.taken),
            frozenset(item for item in assumed.volume_of.items() if self._is_shared(item[0])),
            frozenset(item for item in assumed.node_of.items() if self._is_shared(item[0])),
        )

    def copy(self) -> "VolumeState":
        """Return an independent copy."""
        other = type(self)(self._cluster)
        other.users = dict(self.users)
        other.disks = dict(self.disks)
        other.attached = {key: dict(nodes) for key, nodes in self.attached.items()}
        other.counts = {driver: counts.copy() for driver, counts in self.counts.items()}
        other.assumed = self.assumed.copy()
        other._did = dict(self._did)  # noqa: SLF001 (another of this class)
        return other

    def extended(self, cluster: "Cluster") -> "VolumeState":
        """Return a copy for a cluster that has the same pods, and more nodes behind those of this one."""
        other = self.copy()
        other._cluster = cluster  # noqa: SLF001 (another of this class)
        other.assumed = self.assumed.copy(cluster)
        other.counts = type(self)(cluster).counts
        for driver, counts in self.counts.items():
            other.counts[driver][: len(counts)] = counts
        return other

    def _is_shared(self, key: str) -> bool:
        return len(uses_of(self._cluster).users.get(key, ())) > 1

    def _binds(self, i: int) -> bool:
        info = self._cluster.pods[i]
        profile = self._cluster.profiles.get(info.scheduler)
        return info.initial_node < 0 and profile is not None and profile.binds_volumes

    def _reserve(self, i: int, n: int) -> None:
        claims = claims_of(self._cluster).of(i)
        if claims is None or claims.refusal or not claims.unbound:
            return
        binder, assumed = binder_of(self._cluster), self.assumed
        found = binder.bindings(binder.need(claims, assumed), n)
        did = Bindings(
            found.taken, tuple(key for key in dict.fromkeys(found.made) if key not in assumed.node_of)
        )
        for key, v in did.taken:
            assumed.take(key, v)
        assumed.node_of.update(dict.fromkeys(did.made, n))
        self._did[i] = did

    def _attach(self, volume: Attached, n: int) -> None:
        attachments = attachments_of(self._cluster)
        if not attachments.counts_on(volume.plugin, n):
            return
        nodes = self.attached.setdefault(volume.identity, {})
        nodes[n] = nodes.get(n, 0) + 1
        if nodes[n] == 1 and not attachments.is_held(volume, n):
            self.counts[volume.driver][n] += 1

    def _detach(self, volume: Attached, n: int) -> None:
        attachments = attachments_of(self._cluster)
        if not attachments.counts_on(volume.plugin, n):
            return
        nodes = self.attached[volume.identity]
        nodes[n] -= 1
        if not nodes[n]:
            del nodes[n]
            if not attachments.is_held(volume, n):
                self.counts[volume.driver][n] -= 1
