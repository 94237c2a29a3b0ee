"""How many volumes of a CSI driver a node may attach, and which volumes a pod brings.

A volume is the same wherever the driver and its handle are; a claim that is not bound counts for its class's
provisioner under its own name. Volumes of in-tree plugins count for the driver that took over, where it has.

A driver whose CSIDriver says `preventPodSchedulingIfMissing` must be on the node (KEP-5030).

Source: kube-scheduler plugins/nodevolumelimits/csi.go.
"""

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ...models.storage import CSINode, PersistentVolumeClaim
from ..vocabulary.arrays import Bools, Ints
from .migration import PLUGINS, counts_on, handle_of, plugin_of
from .storage import storage_of
from .uses import belongs_to, uses_of

if TYPE_CHECKING:
    from ..index.cluster import Cluster

UNLIMITED: Final = np.iinfo(np.int64).max


class Attached(NamedTuple):
    """A volume that a driver attaches.

    Attributes
    ----------
    driver : str
    handle : str
    plugin : str
        The in-tree plugin behind it, empty for none: it only counts on nodes where the driver took over.
    """

    driver: str
    handle: str
    plugin: str = ""

    @property
    def identity(self) -> tuple[str, str]:
        """Equal for the same volume."""
        return self.driver, self.handle


class Brought(NamedTuple):
    """What a pod brings; the same for every pod of its class.

    Attributes
    ----------
    own : tuple of (str, str, int)
        Driver, in-tree plugin and number of the volumes that are this pod's alone.
    shared : tuple of Attached
        Those that other pods use too, or that a VolumeAttachment names.
    """

    own: tuple[tuple[str, str, int], ...]
    shared: tuple[Attached, ...]


class Attachments:
    """Limits of every node and volumes of every pod.

    Attributes
    ----------
    limits : dict
        Driver to int64[N]: how many volumes a node may attach, `UNLIMITED` where nothing is said; also for
        drivers that must be there.
    absent : dict
        Driver that must be there (`preventPodSchedulingIfMissing`) to bool[N]: the nodes that lack it.
    held : dict
        Driver to node to the handles that VolumeAttachment objects name.
    """

    def __init__(self, cluster: "Cluster") -> None:
        snapshot = cluster.snapshot
        self._cluster = cluster
        self._storage = storage_of(cluster)
        by_name = {item.name: item for item in snapshot.csi_nodes}
        self._nodes: list[CSINode | None] = [by_name.get(name) for name in cluster.node_names]
        self.limits: dict[str, Ints] = {}
        for n, node in enumerate(self._nodes):
            for driver in node.spec.drivers if node else ():
                if driver.allocatable is not None and driver.allocatable.count is not None:
                    everywhere = np.full(cluster.n_nodes, UNLIMITED, dtype=np.int64)
                    self.limits.setdefault(driver.name, everywhere)[n] = driver.allocatable.count
        self.absent: dict[str, Bools] = {}
        if cluster.gates.enabled("VolumeLimitScaling"):
            for item in snapshot.csi_drivers:
                if item.spec.prevent_pod_scheduling_if_missing:
                    there = [node is not None and _has(node, item.name) for node in self._nodes]
                    self.absent[item.name] = ~np.array(there, dtype=np.bool_)
                    everywhere = np.full(cluster.n_nodes, UNLIMITED, dtype=np.int64)
                    self.limits.setdefault(item.name, everywhere)
        self.held: dict[str, dict[int, set[str]]] = {}
        for attachment in snapshot.volume_attachments:
            n = cluster.node_index.get(attachment.spec.node_name, -1)
            v = self._storage.volume_number.get(attachment.spec.source.persistent_volume_name or "", -1)
            source = self._storage.volumes[v].spec.csi if v >= 0 else None
            attacher = attachment.spec.attacher
            if n >= 0 and attacher and source is not None:
                self.held.setdefault(attacher, {}).setdefault(n, set()).add(source.volume_handle)
        self._known = {
            (driver, handle)
            for driver, nodes in self.held.items()
            for handles in nodes.values()
            for handle in handles
        }
        self._counts: dict[str, Bools] = {}
        self._holders: Counter[tuple[str, str]] | None = None
        self._of_pod: dict[int, tuple[Attached, ...]] = {}

    def of(self, i: int) -> tuple[Attached, ...]:
        """Return the volumes of limited drivers that pod i brings, each once.

        Claims that do not exist, and those of ephemeral volumes that are another pod's, do not count.
        """
        found = self._of_pod.get(i)
        if found is None:
            volumes: dict[tuple[str, str], Attached] = {}
            info, uses = self._cluster.pods[i], uses_of(self._cluster).of(i)
            for use in uses.claims:
                claim = self._storage.claims.get(use.key)
                if claim is not None and not (use.ephemeral and not belongs_to(claim, info.pod)):
                    attached = self.of_claim(claim)
                    if attached is not None:
                        volumes.setdefault(attached.identity, attached)
            for inline in uses.inline:
                attached = Attached(PLUGINS[inline.plugin].driver, inline.handle, inline.plugin)
                volumes.setdefault(attached.identity, attached)
            found = self._of_pod[i] = tuple(item for item in volumes.values() if item.driver in self.limits)
        return found

    def already_held(self, driver: str) -> Ints:
        """Return how many of a driver's volumes VolumeAttachments name by node; int64[N], the caller's."""
        counts = np.zeros(self._cluster.n_nodes, dtype=np.int64)
        for n, handles in self.held.get(driver, {}).items():
            counts[n] = len(handles)
        return counts

    def is_held(self, volume: Attached, n: int) -> bool:
        """Whether a VolumeAttachment names a volume on node n."""
        return volume.handle in self.held.get(volume.driver, {}).get(n, ())

    def is_known(self, volume: Attached) -> bool:
        """Whether a VolumeAttachment names a volume, on whatever node."""
        return volume.identity in self._known

    def counts_on(self, plugin: str, n: int) -> bool:
        """Whether volumes of an in-tree plugin, or of none, count on node n."""
        return not plugin or bool(self.counts(plugin)[n])

    def counts(self, plugin: str) -> Bools:
        """Return on which nodes volumes of an in-tree plugin, or of none, count; bool[N], shared."""
        mask = self._counts.get(plugin)
        if mask is None:
            judged = [not plugin or counts_on(node, plugin) for node in self._nodes]
            mask = self._counts[plugin] = np.array(judged, dtype=np.bool_)
        return mask

    def is_own(self, volume: Attached) -> bool:
        """Whether only one pod uses a volume."""
        if self._holders is None:
            self._holders = Counter(v.identity for i in uses_of(self._cluster).pods for v in self.of(i))
        return self._holders[volume.identity] <= 1 and volume.identity not in self._known

    def brought(self, i: int) -> Brought:
        """Return what pod i brings."""
        volumes = self.of(i)
        own = Counter((volume.driver, volume.plugin) for volume in volumes if self.is_own(volume))
        return Brought(
            tuple((driver, plugin, count) for (driver, plugin), count in own.items()),
            tuple(volume for volume in volumes if not self.is_own(volume)),
        )

    def lacking(self, brought: Brought, n: int) -> list[str]:
        """Return the drivers that a pod with these volumes must find on node n and does not, by name."""
        plugins = {(driver, plugin) for driver, plugin, _ in brought.own}
        plugins |= {(volume.driver, volume.plugin) for volume in brought.shared}
        found = {d for d, p in plugins if d in self.absent and self.absent[d][n] and self.counts_on(p, n)}
        return sorted(found)

    def node(self, n: int) -> CSINode | None:
        """Return what drivers say about node n."""
        return self._nodes[n]

    def of_claim(self, claim: PersistentVolumeClaim) -> Attached | None:
        """Return the volume of a claim; None where it has none that a driver with a limit attaches."""
        attached = self._of_claim(claim)
        return attached if attached.handle and attached.driver in self.limits else None

    def _of_claim(self, claim: PersistentVolumeClaim) -> Attached:
        v = self._storage.volume_number.get(claim.spec.volume_name or "", -1)
        if v < 0:
            return self._of_class(claim)
        volume = self._storage.volumes[v]
        if volume.spec.csi is not None:
            return Attached(volume.spec.csi.driver, volume.spec.csi.volume_handle)
        plugin = plugin_of(volume.spec)
        if not plugin or not PLUGINS[plugin].counted:
            return Attached("", "")
        return Attached(PLUGINS[plugin].driver, handle_of(volume.spec, volume.metadata.labels), plugin)

    def _of_class(self, claim: PersistentVolumeClaim) -> Attached:
        found = self._storage.classes.get(self._storage.class_of(claim))
        if found is None:
            return Attached("", "")
        # No driver's handle begins so: a claim that gets bound meanwhile counts as another volume.
        handle = f"claim {claim.key}"
        if found.provisioner in PLUGINS:
            return Attached(PLUGINS[found.provisioner].driver, handle, found.provisioner)
        return Attached(found.provisioner, handle)


def _has(node: CSINode, driver: str) -> bool:
    return any(item.name == driver for item in node.spec.drivers)


def attachments_of(cluster: "Cluster") -> Attachments:
    """Return the limits of a cluster's nodes and what its pods bring."""
    return cluster.memo("attachments", lambda: Attachments(cluster))
