"""Volumes that wait for a claim, and which claims they suit.

A claim takes the smallest volume that suits it and can be reached from the node; among equal ones that of the
smallest name. Volumes that the same nodes reach are one group: to judge a node is to look at its few groups.

Source: component-helpers storage/volume/pv_helpers.go (FindMatchingVolume).
"""

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...models.quantity import Quantity
from ...models.selectors import CompiledSelector
from ...models.storage import PersistentVolume, PersistentVolumeClaim
from .storage import Storage, capacity_of, class_of_volume, requested, storage_of

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..vocabulary.arrays import Bools

Groups = Mapping[int, tuple[int, ...]]
"""Group to the volumes of it that suit a wish, the one to take first first."""


class Wish(NamedTuple):
    """What an unbound claim asks for: all that decides which volumes suit it, and whether one can be made."""

    storage_class: str
    size: Quantity
    sized: bool
    access_modes: frozenset[str]
    volume_mode: str
    attributes: str
    selector: CompiledSelector | None

    def takes(self, volume: PersistentVolume) -> bool:
        """Whether a volume reserved for the claim will do: large enough, of the same class and mode."""
        spec = volume.spec
        return (
            class_of_volume(volume) == self.storage_class
            and capacity_of(volume) >= self.size
            and spec.volume_mode == self.volume_mode
            and (spec.volume_attributes_class_name or "") == self.attributes
            and volume.metadata.deletion_timestamp is None
        )

    def suits(self, volume: PersistentVolume) -> bool:
        """Whether a volume that is not reserved will do."""
        return (
            self.takes(volume)
            and self.access_modes <= set(volume.spec.access_modes)
            and (self.selector is None or self.selector.matches(volume.metadata.labels))
        )


def wish_of(storage: Storage, claim: PersistentVolumeClaim) -> Wish:
    """Return what a claim asks for."""
    spec = claim.spec
    return Wish(
        storage_class=storage.class_of(claim),
        size=requested(claim),
        sized="storage" in spec.resources.requests,
        access_modes=frozenset(spec.access_modes),
        volume_mode=spec.volume_mode,
        attributes=spec.volume_attributes_class_name or "",
        selector=None if spec.selector is None else spec.selector.compiled,
    )


class Offers:
    """The volumes of a cluster that are bound to no claim.

    Attributes
    ----------
    masks : list of bool[N]
        By group: from where its volumes can be reached.
    reserved : dict
        Claim's key to the volumes that are reserved for it (`claimRef`), in order of name.
    rank : list of int
        By volume: its place among all volumes by size, then name.
    """

    def __init__(self, cluster: "Cluster") -> None:
        self._storage = storage_of(cluster)
        self.n_nodes = cluster.n_nodes
        self.masks: list[Bools] = []
        self.reserved: dict[str, list[int]] = {}
        self._free: dict[str, list[tuple[int, int]]] = {}
        self._groups: dict[Wish, Groups] = {}
        self._on: list[list[int]] | None = None
        numbers: dict[Hashable, int] = {}
        order = sorted(
            range(len(self._storage.volumes)), key=lambda v: (capacity_of(self._storage.volumes[v]), v)
        )
        self.rank = [0] * len(order)
        for place, v in enumerate(order):
            self.rank[v] = place
        for v, volume in enumerate(self._storage.volumes):
            claim = volume.spec.claim_ref
            if claim is not None:
                self.reserved.setdefault(f"{claim.namespace}/{claim.name}", []).append(v)
            elif volume.status.phase in (None, "Available"):
                affinity = volume.spec.node_affinity
                key = affinity.required.compiled if affinity and affinity.required else None
                group = numbers.setdefault(key, len(numbers))
                if group == len(self.masks):
                    self.masks.append(self._storage.nodes_of(v))
                self._free.setdefault(class_of_volume(volume), []).append((v, group))

    def groups(self, wish: Wish) -> Groups:
        """Return the volumes that suit a wish, by group, the smallest first."""
        found = self._groups.get(wish)
        if found is None:
            volumes = self._storage.volumes
            suiting = [(v, g) for v, g in self._free.get(wish.storage_class, ()) if wish.suits(volumes[v])]
            suiting.sort(key=lambda item: self.rank[item[0]])
            groups: dict[int, list[int]] = {}
            for v, g in suiting:
                groups.setdefault(g, []).append(v)
            found = self._groups[wish] = {g: tuple(members) for g, members in groups.items()}
        return found

    def groups_on(self, n: int) -> list[int]:
        """Return the groups that node n reaches."""
        if self._on is None:
            self._on = [[] for _ in range(self.n_nodes)]
            for g, mask in enumerate(self.masks):
                for node in np.flatnonzero(mask).tolist():
                    self._on[node].append(g)
        return self._on[n]

    def reserved_for(self, claim: PersistentVolumeClaim, wish: Wish) -> int | None:
        """Return the volume that is reserved for a claim and will do; None where there is none."""
        volumes = self._storage.volumes
        for v in self.reserved.get(claim.key, ()):
            reference = volumes[v].spec.claim_ref
            uid = reference.uid if reference else ""
            if (not uid or uid == claim.metadata.uid or not claim.metadata.uid) and wish.takes(volumes[v]):
                return v
        return None


def offers_of(cluster: "Cluster") -> Offers:
    """Return the unbound volumes of a cluster."""
    return cluster.memo("volume offers", lambda: Offers(cluster))
