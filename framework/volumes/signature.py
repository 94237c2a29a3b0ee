"""Which pods' volumes are the same to every filter, so that the pods may be one class.

A claim that only one pod uses needs no name: the replicas of a StatefulSet, each with a claim of its own, are
like each other as long as the claims ask for the same, or are bound to volumes within the same reach. What
several pods share, and what a message names, keeps its name.
"""

from collections.abc import Hashable
from typing import TYPE_CHECKING

from ...models.annotations import SELECTED_NODE
from ...models.storage import PersistentVolumeClaim
from .attachments import attachments_of
from .claims import claims_of
from .migration import plugin_of
from .offers import offers_of, wish_of
from .storage import is_bound, storage_of
from .uses import ClaimUse, uses_of
from .zones import zones_of

if TYPE_CHECKING:
    from ..index.cluster import Cluster


class VolumeSignatures:
    """Keys that are equal for pods whose volumes are alike, as pods that come and as pods that are there."""

    def __init__(self, cluster: "Cluster") -> None:
        self._uses = uses_of(cluster)
        self._storage = storage_of(cluster)
        self._claims = claims_of(cluster)
        self._attachments = attachments_of(cluster)
        self._offers = offers_of(cluster)

    def of(self, i: int) -> Hashable:
        """Return the key of pod i's volumes."""
        uses = self._uses.pods.get(i)
        if uses is None:
            return ()
        own = self._attachments.brought(i).own
        return tuple(self._claim(i, use) for use in uses.claims), own, uses.disks, uses.inline

    def _claim(self, i: int, use: ClaimUse) -> Hashable:
        claim = self._storage.claims.get(use.key)
        claims = self._claims.of(i)
        if claim is None or claims is None or claims.refusal or not self._is_own(use, claim):
            return use
        attached = self._attachments.of_claim(claim)
        if attached is not None and not self._attachments.is_own(attached):
            return use
        driver = None if attached is None else (attached.driver, attached.plugin)
        if is_bound(claim):
            v = self._storage.volume_number.get(claim.spec.volume_name or "")
            if v is None:
                return use
            volume = self._storage.volumes[v]
            affinity = volume.spec.node_affinity
            reach = affinity.required.compiled if affinity and affinity.required else None
            return "bound", use.ephemeral, reach, plugin_of(volume.spec), zones_of(volume), driver
        return "unbound", use.ephemeral, wish_of(self._storage, claim), driver

    def _is_own(self, use: ClaimUse, claim: PersistentVolumeClaim) -> bool:
        """Whether a claim belongs to one pod alone, and nothing else refers to its name."""
        return (
            len(self._uses.users[use.key]) == 1
            and "ReadWriteOncePod" not in claim.spec.access_modes
            and (is_bound(claim) or use.key not in self._offers.reserved)
            and SELECTED_NODE not in claim.metadata.annotations
        )
