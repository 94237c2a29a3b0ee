"""The storage objects of a cluster by name: claims, volumes, classes, and what CSI drivers say about nodes.

Sources: component-helpers storage/volume/pv_helpers.go and helpers.go; kube-scheduler 1.34.1
plugins/volumebinding/binder.go.
"""

from typing import TYPE_CHECKING, Final

import numpy as np

from ...models.annotations import BETA_CLASS, BIND_COMPLETED, IS_DEFAULT_CLASS
from ...models.quantity import Quantity
from ...models.storage import CSIStorageCapacity, PersistentVolume, PersistentVolumeClaim, StorageClass
from ..index.node_selection import requirement_mask, selector_mask
from ..vocabulary.arrays import Bools

if TYPE_CHECKING:
    from ...models.selectors import CompiledNodeSelector, CompiledTerm
    from ..index.cluster import Cluster

NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"
_ZERO: Final = Quantity(0)


class Storage:
    """The storage objects of one cluster.

    Attributes
    ----------
    claims : dict
        `namespace/name` to claim.
    volumes : tuple of PersistentVolume
        In order of name, so that ties between equal volumes go to the smallest name.
    volume_number : dict
        Name to place in `volumes`.
    classes : dict
        Name to storage class.
    drivers : dict
        CSI driver's name to whether it publishes its storage capacity.
    capacities : dict
        Storage class's name to what its driver says about free storage.
    """

    def __init__(self, cluster: "Cluster") -> None:
        snapshot = cluster.snapshot
        self._cluster = cluster
        self.claims: dict[str, PersistentVolumeClaim] = {
            claim.key: claim for claim in snapshot.persistent_volume_claims
        }
        self.volumes: tuple[PersistentVolume, ...] = tuple(
            sorted(snapshot.persistent_volumes, key=lambda volume: volume.name)
        )
        self.volume_number = {volume.name: v for v, volume in enumerate(self.volumes)}
        self.classes: dict[str, StorageClass] = {item.name: item for item in snapshot.storage_classes}
        self.drivers = {driver.name: driver.spec.storage_capacity for driver in snapshot.csi_drivers}
        self.capacities: dict[str, list[CSIStorageCapacity]] = {}
        for capacity in snapshot.csi_storage_capacities:
            self.capacities.setdefault(capacity.storage_class_name, []).append(capacity)
        self._default_class = _default_class(snapshot.storage_classes)
        self._nodes: dict[int, Bools] = {}

    def class_of(self, claim: PersistentVolumeClaim) -> str:
        """Return the name of a claim's storage class, empty for none.

        A claim that names no class at all gets the default one, as the API server gives it.
        """
        old = claim.metadata.annotations.get(BETA_CLASS)
        if old is not None:
            return old
        name = claim.spec.storage_class_name
        if name is None:
            return "" if claim.spec.volume_name else self._default_class
        return name

    def waits_for_consumer(self, claim: PersistentVolumeClaim) -> bool:
        """Whether the scheduler is to bind a claim, once a pod needs it (WaitForFirstConsumer)."""
        found = self.classes.get(self.class_of(claim))
        return found is not None and found.volume_binding_mode == "WaitForFirstConsumer"

    def nodes_of(self, v: int) -> Bools:
        """Return from which nodes volume number v is reached; bool[N], shared between equal affinities."""
        mask = self._nodes.get(v)
        if mask is None:
            affinity = self.volumes[v].spec.node_affinity
            required = affinity.required if affinity else None
            mask = self._nodes[v] = reachable(self._cluster, None if required is None else required.compiled)
        return mask


def storage_of(cluster: "Cluster") -> Storage:
    """Return the storage objects of a cluster."""
    return cluster.memo("storage", lambda: Storage(cluster))


def class_of_volume(volume: PersistentVolume) -> str:
    """Return the name of a volume's storage class, empty for none."""
    return volume.metadata.annotations.get(BETA_CLASS, volume.spec.storage_class_name)


def is_bound(claim: PersistentVolumeClaim) -> bool:
    """Whether a claim is bound for good: it names its volume, and the binding is complete."""
    return bool(claim.spec.volume_name) and BIND_COMPLETED in claim.metadata.annotations


def requested(claim: PersistentVolumeClaim) -> Quantity:
    """Return how many bytes a claim asks for."""
    return claim.spec.resources.requests.get("storage", _ZERO)


def capacity_of(volume: PersistentVolume) -> Quantity:
    """Return how many bytes a volume holds."""
    return volume.spec.capacity.get("storage", _ZERO)


def reachable(cluster: "Cluster", selector: "CompiledNodeSelector | None") -> Bools:
    """Return which nodes a volume's node affinity takes; bool[N], shared between equal affinities.

    Only labels are compared: upstream asks with a node without a name, which leaves conditions on fields out.
    """
    if selector is None:
        return cluster.memo("every node", lambda: np.ones(cluster.n_nodes, dtype=np.bool_))
    if not any(term.fields for term in selector.terms):
        return selector_mask(cluster, selector)

    def judge() -> Bools:
        mask = np.zeros(cluster.n_nodes, dtype=np.bool_)
        for term in selector.terms:
            mask |= _labels_only(cluster, term)
        return mask

    return cluster.memo(("volume's nodes", selector), judge)


def _labels_only(cluster: "Cluster", term: "CompiledTerm") -> Bools:
    if term.unparsable or not (term.labels or term.fields):
        return np.zeros(cluster.n_nodes, dtype=np.bool_)
    mask = np.ones(cluster.n_nodes, dtype=np.bool_)
    for item in term.labels:
        mask &= requirement_mask(cluster, item)
    return mask


def _default_class(classes: tuple[StorageClass, ...]) -> str:
    """Return the newest default class, the smallest name among equals; empty where there is none."""
    defaults = [item for item in classes if item.metadata.annotations.get(IS_DEFAULT_CLASS) == "true"]
    if not defaults:
        return ""
    dated = [item for item in defaults if item.metadata.creation_timestamp is not None]
    newest = max(
        (item.metadata.creation_timestamp for item in dated if item.metadata.creation_timestamp), default=None
    )
    return min(item.name for item in defaults if item.metadata.creation_timestamp == newest)
