"""Which pod uses which claims, disks and in-tree volumes.

Source: component-helpers storage/ephemeral/ephemeral.go for the claims of ephemeral volumes.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ...models.pod import Pod
from ...models.storage import PersistentVolumeClaim
from ..vocabulary.arrays import Bools
from .disks import Disk, disks
from .migration import PLUGINS, handle_of, plugin_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..index.cluster import Cluster
    from ..index.podinfo import PodInfo


class ClaimUse(NamedTuple):
    """A claim that a pod uses; the claim of an ephemeral volume must be the pod's own."""

    key: str
    name: str
    ephemeral: bool


class InlineVolume(NamedTuple):
    """An in-tree volume that a pod names itself, counted for the driver that took over."""

    plugin: str
    handle: str


@dataclass(frozen=True, slots=True)
class PodVolumes:
    """What of a pod's volumes scheduling looks at, each in the pod's order; a claim may be used twice."""

    claims: tuple[ClaimUse, ...] = ()
    disks: tuple[Disk, ...] = ()
    inline: tuple[InlineVolume, ...] = ()

    @property
    def named_claims(self) -> tuple[ClaimUse, ...]:
        """The claims that the pod names, without those of ephemeral volumes."""
        return tuple(use for use in self.claims if not use.ephemeral)


NOTHING: Final = PodVolumes()


class Uses:
    """The volumes of every pod that has any.

    Attributes
    ----------
    pods : dict
        Pod to its volumes.
    users : dict
        Claim's key to the pods that use it, each once.
    """

    def __init__(self, infos: "Iterable[PodInfo]") -> None:
        self.pods: dict[int, PodVolumes] = {}
        self.users: dict[str, list[int]] = {}
        for info in infos:
            if not info.pod.spec.volumes:
                continue
            found = volumes_of_pod(info.pod)
            if found != NOTHING:
                self.pods[info.index] = found
                for key in dict.fromkeys(use.key for use in found.claims):
                    self.users.setdefault(key, []).append(info.index)

    def of(self, i: int) -> PodVolumes:
        """Return the volumes of pod i."""
        return self.pods.get(i, NOTHING)


def with_volumes(cluster: "Cluster") -> Bools:
    """Return which pods have volumes that scheduling looks at; bool[P], shared."""

    def judge() -> Bools:
        mask = np.zeros(len(cluster.pods), dtype=np.bool_)
        mask[list(uses_of(cluster).pods)] = True
        return mask

    return cluster.memo("pods with volumes", judge)


def uses_of(cluster: "Cluster") -> Uses:
    """Return which pod of a cluster uses what."""
    return cluster.memo("volume uses", lambda: Uses(cluster.pods))


def volumes_of_pod(pod: Pod) -> PodVolumes:
    """Read what scheduling looks at of a pod's volumes."""
    claims: list[ClaimUse] = []
    inline: list[InlineVolume] = []
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            name = volume.persistent_volume_claim.claim_name
            claims.append(ClaimUse(f"{pod.namespace}/{name}", name, ephemeral=False))
        elif volume.ephemeral is not None:
            name = f"{pod.name}-{volume.name}"
            claims.append(ClaimUse(f"{pod.namespace}/{name}", name, ephemeral=True))
        elif (plugin := plugin_of(volume)) and PLUGINS[plugin].counted:
            handle = handle_of(volume, None)
            if handle:
                inline.append(InlineVolume(plugin, handle))
    return PodVolumes(tuple(claims), disks(pod.spec.volumes), tuple(inline))


def belongs_to(claim: PersistentVolumeClaim, pod: Pod) -> bool:
    """Whether a claim was made for an ephemeral volume of this pod: the pod is its controller."""
    owner = claim.metadata.controller
    return owner is not None and owner.uid == pod.metadata.uid
