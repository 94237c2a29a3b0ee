"""What each pod's claims are to VolumeBinding: bound, to be bound with the pod, or a reason to refuse it.

Source: kube-scheduler 1.34.1 plugins/volumebinding: podHasPVCs and GetPodVolumeClaims.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ...models.annotations import SELECTED_NODE
from ...models.storage import PersistentVolumeClaim
from ..vocabulary.arrays import Bools
from .attachments import attachments_of
from .migration import PLUGINS, announces, plugin_of, translated_affinity
from .offers import Wish, offers_of, wish_of
from .storage import is_bound, reachable, storage_of
from .uses import ClaimUse, belongs_to, uses_of

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..index.podinfo import PodInfo

MISSING: Final = -1
"""In place of a volume that does not exist."""
ANY_NODE: Final = -1
NO_NODE: Final = -2
"""In place of a selected node: none was selected; one was that does not exist."""

IMMEDIATE: Final = "pod has unbound immediate PersistentVolumeClaims"


@dataclass(frozen=True, slots=True)
class Unbound:
    """A claim that is bound together with the pod (WaitForFirstConsumer).

    Attributes
    ----------
    key : str
    wish : Wish
    selected : int
        The node for which its volume is being made, `ANY_NODE` or `NO_NODE`.
    reserved : int or None
        The volume that is reserved for it.
    shared : bool
        Whether another pod uses it too.
    """

    key: str
    wish: Wish
    selected: int
    reserved: int | None
    shared: bool


@dataclass(frozen=True, slots=True)
class PodClaims:
    """A pod's claims in its order.

    Attributes
    ----------
    refusal : str
        Why the pod can be nowhere, empty where nothing is in the way.
    bound : tuple of int
        The volumes of bound claims, by number in `Storage.volumes`, or `MISSING`.
    unbound : tuple of Unbound
    """

    refusal: str = ""
    bound: tuple[int, ...] = ()
    unbound: tuple[Unbound, ...] = ()


class Claims:
    """The claims of a cluster's pods, read when first asked for.

    Attributes
    ----------
    storage : Storage
    """

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster
        self.storage = storage_of(cluster)
        self._of_pod: dict[int, PodClaims | None] = {}
        self._reach: dict[int, Bools] = {}

    def of(self, i: int) -> PodClaims | None:
        """Return the claims of pod i, None where it uses none."""
        if i not in self._of_pod:
            uses = uses_of(self._cluster).of(i).claims
            self._of_pod[i] = self._read(self._cluster.pods[i], uses) if uses else None
        return self._of_pod[i]

    def reach(self, v: int) -> Bools:
        """Return from which nodes the volume of a bound claim is reached; bool[N], shared.

        On nodes that announce the migration of its in-tree plugin its affinity counts as translated.
        """
        mask = self._reach.get(v)
        if mask is None:
            mask = self.storage.nodes_of(v)
            volume = self.storage.volumes[v]
            plugin = plugin_of(volume.spec) if volume.spec.csi is None else ""
            if plugin and PLUGINS[plugin].counted:
                attachments = attachments_of(self._cluster)
                moved = [announces(attachments.node(n), plugin) for n in range(self._cluster.n_nodes)]
                if any(moved):
                    mask = np.where(moved, reachable(self._cluster, translated_affinity(volume)), mask)
            self._reach[v] = mask
        return mask

    def _read(self, info: "PodInfo", uses: tuple[ClaimUse, ...]) -> PodClaims:
        found: list[PersistentVolumeClaim] = []
        for use in uses:
            claim = self.storage.claims.get(use.key)
            if claim is None:
                if use.ephemeral:
                    what = "waiting for ephemeral volume controller to create the persistentvolumeclaim"
                    return PodClaims(f'{what} "{use.name}"')
                return PodClaims(not_found(use.name))
            quoted = f'persistentvolumeclaim "{use.name}"'
            if claim.status.phase == "Lost":
                lost = claim.spec.volume_name or ""
                return PodClaims(f'{quoted} bound to non-existent persistentvolume "{lost}"')
            if claim.metadata.deletion_timestamp is not None:
                return PodClaims(f"{quoted} is being deleted")
            if use.ephemeral and not belongs_to(claim, info.pod):
                return PodClaims(f"PVC {use.key} was not created for pod {info.key} (pod is not owner)")
            found.append(claim)
        return self._sort(found)

    def _sort(self, found: list[PersistentVolumeClaim]) -> PodClaims:
        bound: list[int] = []
        unbound: list[Unbound] = []
        for claim in found:
            if is_bound(claim):
                bound.append(self.storage.volume_number.get(claim.spec.volume_name or "", MISSING))
            elif claim.spec.volume_name or not self.storage.waits_for_consumer(claim):
                return PodClaims(IMMEDIATE)
            else:
                unbound.append(self._unbound(claim))
        return PodClaims("", tuple(bound), tuple(unbound))

    def _unbound(self, claim: PersistentVolumeClaim) -> Unbound:
        wish = wish_of(self.storage, claim)
        selected = ANY_NODE
        if SELECTED_NODE in claim.metadata.annotations:
            selected = self._cluster.node_index.get(claim.metadata.annotations[SELECTED_NODE], NO_NODE)
        return Unbound(
            key=claim.key,
            wish=wish,
            selected=selected,
            reserved=offers_of(self._cluster).reserved_for(claim, wish),
            shared=len(uses_of(self._cluster).users.get(claim.key, ())) > 1,
        )


def claims_of(cluster: "Cluster") -> Claims:
    """Return the claims of a cluster's pods."""
    return cluster.memo("pod claims", lambda: Claims(cluster))


def not_found(name: str) -> str:
    """Write that a claim does not exist, as the API says it."""
    return f'persistentvolumeclaim "{name}" not found'
