"""Volumes: what is written before a pod with claims is bound, and the wait until they have their volumes.

Source: kube-scheduler plugins/volumebinding/binder.go (BindPodVolumes), component-helpers
storage/volume/pv_helpers.go (GetBindVolumeToClaim).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .forms import JSON_PATCH, awaited, patched
from .places import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..models.plan_objects import TouchedVolumeClaim
    from .request import Request

_SELECTED_NODE = "volume.kubernetes.io/selected-node"


def volumes_bound(number: int, claims: tuple[TouchedVolumeClaim, ...]) -> Iterator[Request]:
    """Give each claim its volume or the node for which one is made, then wait for all of them."""
    for claim in claims:
        yield _reserved(number, claim) if claim.volume is not None else _selected(number, claim)
    for claim in claims:
        place = Place.of("persistentvolumeclaims", claim.claim)
        yield awaited(number, f"wait until volume claim {claim.claim} is bound", place, "bound", claim.uid)


def _reserved(number: int, claim: TouchedVolumeClaim) -> Request:
    """Reserve a volume for a claim, if nobody else has it by now."""
    assert claim.volume is not None
    place, owner = (
        Place.of("persistentvolumes", claim.volume),
        Place.of("persistentvolumeclaims", claim.claim),
    )
    reference = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": owner.namespace,
        "name": owner.name,
        "uid": claim.uid,
    }
    names = ("namespace", "name")
    held = (
        [{"op": "test", "path": f"/spec/claimRef/{name}", "value": reference[name]} for name in names]
        if claim.reserved
        else [{"op": "test", "path": "/spec/claimRef", "value": None}]
    )
    body = [
        {"op": "test", "path": "/metadata/uid", "value": claim.volume_uid},
        *held,
        {"op": "add", "path": "/spec/claimRef", "value": reference},
    ]
    words = f"reserve volume {claim.volume} for volume claim {claim.claim}"
    return patched(number, "reserve", words, place, body, content_type=JSON_PATCH)


def _selected(number: int, claim: TouchedVolumeClaim) -> Request:
    place = Place.of("persistentvolumeclaims", claim.claim)
    words = f"have a volume made for volume claim {claim.claim} on node {claim.node}"
    body = {"metadata": {"uid": claim.uid, "annotations": {_SELECTED_NODE: claim.node}}}
    return patched(number, "provision", words, place, body)
