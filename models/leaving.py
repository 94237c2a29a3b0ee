"""What becomes of a cluster when pods leave: their claims, and those that their controllers make again.

A pod that is made again has the same name and specification, without a node. Claims that were made for it
alone are made again, too, and so are its ephemeral volumes; a claim that others share is released, and has no
devices any more where it was the last one that held it.

Sources: kubernetes pkg/controller/{podgc,resourceclaim,volume/ephemeral}.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from .annotations import BIND_COMPLETED, SELECTED_NODE
from .daemons import is_mirror
from .remade import made_again
from .resource_api import ResourceClaim, ResourceClaimStatus
from .storage import PersistentVolumeClaim, PersistentVolumeClaimStatus

if TYPE_CHECKING:
    from collections.abc import Collection

    from .meta import KubeObject
    from .pod import Pod
    from .snapshot import Snapshot

_OF_BOUND: Final = frozenset((BIND_COMPLETED, SELECTED_NODE))


def without_pods(snapshot: Snapshot, gone: Collection[str], again: Collection[str]) -> Snapshot:
    """Return a snapshot whose pods in `gone` (keys) have left and those in `again` are pending anew."""
    if not gone and not again:
        return snapshot
    leaving = {pod.key: pod for pod in snapshot.pods if pod.key in gone or pod.key in again}
    owners = {(pod.namespace, pod.name, pod.metadata.uid): key in again for key, pod in leaving.items()}
    volumes = _Volumes(snapshot, owners)
    return replace(
        snapshot,
        pods=tuple(
            made_again(pod, snapshot.now) if pod.key in again else pod
            for pod in snapshot.pods
            if pod.key not in gone
        ),
        resource_claims=_claims(snapshot, leaving, owners),
        persistent_volume_claims=volumes.claims,
        persistent_volumes=tuple(
            item for item in snapshot.persistent_volumes if item.name not in volumes.released
        ),
    )


def fate_of(pod: Pod) -> Literal["again", "lost", "removed"]:
    """Return what becomes of a pod that leaves: made again, lost, or gone without loss."""
    owner = pod.metadata.controller
    # Only a StatefulSet waits until a pod is gone before it makes the next one.
    replaced = pod.is_terminating and (owner is None or owner.kind != "StatefulSet")
    if pod.is_terminal or is_mirror(pod) or replaced:
        return "removed"
    return "lost" if owner is None else "again"


_Owners = dict[tuple[str, str, str], bool]
"""Namespace, name and uid of a pod that leaves: whether it is made again."""


def _owner(item: KubeObject, owners: _Owners) -> bool | None:
    """Return whether the pod that an object was made for is made again; None where it does not leave."""
    owner = item.metadata.controller
    if owner is None or owner.kind != "Pod":
        return None
    return owners.get((item.namespace, owner.name, owner.uid))


def _claims(snapshot: Snapshot, leaving: dict[str, Pod], owners: _Owners) -> tuple[ResourceClaim, ...]:
    """Release the claims of devices; those that the scheduler made for a pod go with it."""
    users = {(pod.namespace, pod.metadata.uid or pod.name) for pod in leaving.values()}
    special = {
        f"{pod.namespace}/{status.resource_claim_name}"
        for pod in leaving.values()
        if (status := pod.status.extended_resource_claim_status) is not None
    }
    kept: list[ResourceClaim] = []
    for claim in snapshot.resource_claims:
        again = _owner(claim, owners)
        if claim.key in special or again is False:
            continue
        reserved = tuple(
            each
            for each in claim.status.reserved_for
            if each.resource != "pods" or (claim.namespace, each.uid or each.name) not in users
        )
        if again:
            claim = claim.model_copy(update={"status": ResourceClaimStatus()})
        elif len(reserved) < len(claim.status.reserved_for):
            update = {"reserved_for": reserved, **({} if reserved else {"allocation": None})}
            claim = claim.model_copy(update={"status": claim.status.model_copy(update=update)})
        kept.append(claim)
    return tuple(kept)


class _Volumes:
    """The claims of volumes after pods have left, and the volumes that go with ephemeral ones."""

    def __init__(self, snapshot: Snapshot, owners: _Owners) -> None:
        self.released: set[str] = set()
        kept: list[PersistentVolumeClaim] = []
        for claim in snapshot.persistent_volume_claims:
            again = _owner(claim, owners)
            if again is not None and claim.spec.volume_name:
                self.released.add(claim.spec.volume_name)
            if again is not False:
                kept.append(_unbound(claim) if again else claim)
        self.claims = tuple(kept)


def _unbound(claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
    left = {name: text for name, text in claim.metadata.annotations.items() if name not in _OF_BOUND}
    return claim.model_copy(
        update={
            "metadata": claim.metadata.model_copy(update={"annotations": left}),
            "spec": claim.spec.model_copy(update={"volume_name": None}),
            "status": PersistentVolumeClaimStatus(phase="Pending"),
        }
    )
