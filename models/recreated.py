"""Pods as their controllers make them again when they are moved, beside those that still run.

The new pod has the specification of the old one, without node and nomination: labels, priority, claims and
volumes are kept. Claims that were made for the old pod alone, from a template, are made anew. Its name is
made up, and it stands after all pods of the input.

Sources: kubernetes pkg/controller/{replicaset,resourceclaim,volume/ephemeral}.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final
from uuid import NAMESPACE_URL, uuid5

from .annotations import BIND_COMPLETED, SELECTED_NODE
from .meta import ObjectMeta, OwnerReference
from .pod import Pod, PodResourceClaimStatus, PodStatus
from .remade import made_again
from .resource_api import ResourceClaim
from .storage import PersistentVolumeClaim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from .snapshot import Snapshot

_SUFFIX: Final = "-moved"


@dataclass(frozen=True)
class WithReplacements:
    """A snapshot in which pods that may move stand beside the pods that would replace them.

    Attributes
    ----------
    snapshot : Snapshot
        The replacements are pending, after all pods of the input.
    replacement : mapping
        Key of a running pod -> key of the pod that replaces it.
    """

    snapshot: Snapshot
    replacement: Mapping[str, str] = field(default_factory=dict)


def with_replacements(snapshot: Snapshot, pods: Iterable[str]) -> WithReplacements:
    """Return a snapshot with the replacement of each of some pods (keys), in the order of the input."""
    wanted = frozenset(pods)
    taken = {pod.key for pod in snapshot.pods}
    resource_claims = {claim.key: claim for claim in snapshot.resource_claims}
    volume_claims = {claim.key: claim for claim in snapshot.persistent_volume_claims}
    made: list[Pod] = []
    claims: list[ResourceClaim] = []
    volumes: list[PersistentVolumeClaim] = []
    replacement: dict[str, str] = {}
    for pod in snapshot.pods:
        if pod.key not in wanted:
            continue
        name = _free_name(pod, taken)
        taken.add(f"{pod.namespace}/{name}")
        again = recreated(pod, name, snapshot.now)
        own = tuple(_claims_of(pod, again, resource_claims))
        claims += [claim for claim, _ in own if claim is not None]
        volumes += _volume_claims_of(pod, again, volume_claims)
        if own:
            statuses = tuple(status for _, status in own)
            status = again.status.model_copy(update={"resource_claim_statuses": statuses})
            again = again.model_copy(update={"status": status})
        made.append(again)
        replacement[pod.key] = again.key
    changed = replace(
        snapshot,
        pods=(*snapshot.pods, *made),
        resource_claims=(*snapshot.resource_claims, *claims),
        persistent_volume_claims=(*snapshot.persistent_volume_claims, *volumes),
    )
    return WithReplacements(changed, replacement)


def recreated(pod: Pod, name: str, now: datetime) -> Pod:
    """Return the pod that a controller makes in place of another, under a name of its own: it is pending.

    Claims that were made for the other pod are not among its claims' names yet (`with_replacements`).
    """
    again = made_again(pod, now)
    uid = str(uuid5(NAMESPACE_URL, f"kubestow:Pod/{pod.namespace}/{name}"))
    meta = again.metadata.model_copy(update={"name": name, "uid": uid})
    return again.model_copy(update={"metadata": meta, "status": _PENDING})


_PENDING: Final = PodStatus(phase="Pending")


def _free_name(pod: Pod, taken: set[str]) -> str:
    name, number = f"{pod.name}{_SUFFIX}", 1
    while f"{pod.namespace}/{name}" in taken:
        number += 1
        name = f"{pod.name}{_SUFFIX}-{number}"
    return name


def _owned(meta: ObjectMeta, kind: str, name: str, owner: Pod) -> ObjectMeta:
    reference = OwnerReference(
        api_version="v1", kind="Pod", name=owner.name, uid=owner.metadata.uid, controller=True
    )
    return meta.model_copy(
        update={
            "name": name,
            "uid": str(uuid5(NAMESPACE_URL, f"kubestow:{kind}/{meta.namespace}/{name}")),
            "annotations": {
                key: text
                for key, text in meta.annotations.items()
                if key not in (BIND_COMPLETED, SELECTED_NODE)
            },
            "owner_references": (reference,),
        }
    )


def _claims_of(
    pod: Pod, again: Pod, claims: Mapping[str, ResourceClaim]
) -> Iterator[tuple[ResourceClaim | None, PodResourceClaimStatus]]:
    """Yield a claim for each that was made for the old pod from a template; None where it needed none."""
    made = {item.name: item.resource_claim_name for item in pod.status.resource_claim_statuses}
    for entry in pod.spec.resource_claims:
        if entry.name in made and made[entry.name] is None:
            yield None, PodResourceClaimStatus(name=entry.name)
            continue
        claim = claims.get(f"{pod.namespace}/{made.get(entry.name)}")
        if entry.resource_claim_template_name is None or claim is None or not _made_for(claim, pod):
            continue
        name = f"{again.name}-{entry.name}"
        meta = _owned(claim.metadata, "ResourceClaim", name, again)
        yield (
            ResourceClaim(metadata=meta, spec=claim.spec),
            PodResourceClaimStatus(name=entry.name, resource_claim_name=name),
        )


def _made_for(claim: ResourceClaim | PersistentVolumeClaim, pod: Pod) -> bool:
    owner = claim.metadata.controller
    if owner is None or owner.kind != "Pod":
        return False
    return owner.uid == pod.metadata.uid if owner.uid and pod.metadata.uid else owner.name == pod.name


def _volume_claims_of(
    pod: Pod, again: Pod, claims: Mapping[str, PersistentVolumeClaim]
) -> Iterator[PersistentVolumeClaim]:
    """Yield a claim for each ephemeral volume whose claim the old pod has."""
    for volume in pod.spec.volumes:
        claim = claims.get(f"{pod.namespace}/{pod.name}-{volume.name}")
        if volume.ephemeral is None or claim is None or not _made_for(claim, pod):
            continue
        meta = _owned(claim.metadata, "PersistentVolumeClaim", f"{again.name}-{volume.name}", again)
        spec = claim.spec.model_copy(update={"volume_name": None})
        yield PersistentVolumeClaim(metadata=meta, spec=spec)
