"""Devices: the status of resource claims, written before the pod that needs them is bound.

Source: kube-scheduler plugins/dynamicresources (bindClaim, PostFilter); pkg/controller/resourceclaim, which
frees what nobody needs any more.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from ..models.meta import generated_name
from .forms import awaited, patched, status_patched, status_tested
from .places import Place
from .request import Request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..models.plan_objects import PlanObjects, Reservation, TouchedClaim, TouchedPod

_FINALIZER = "resource.kubernetes.io/delete-protection"
_EXTENDED = "resource.kubernetes.io/extended-resource-claim"


class Claims:
    """Follows the resource claims of a plan through its steps."""

    def __init__(self, objects: PlanObjects) -> None:
        self._claims = {claim.claim: claim for claim in objects.claims}
        self._consumers = {claim.claim: list(claim.consumers) for claim in objects.claims}
        self._allocated = {claim.claim for claim in objects.claims if claim.allocated}

    def left(self, number: int, pod: TouchedPod) -> Iterator[Request]:
        """Wait until the claims that a pod was the last to use have no devices."""
        for key, consumers in self._consumers.items():
            if not any(consumer.get("uid") == pod.uid for consumer in consumers):
                continue
            consumers[:] = [consumer for consumer in consumers if consumer.get("uid") != pod.uid]
            if not consumers and key in self._allocated:
                self._allocated.discard(key)
                words = f"wait until resource claim {key} has no devices"
                yield awaited(number, words, self._place(key), "deallocated", self._claims[key].uid)

    def deallocated(self, number: int, key: str) -> Iterator[Request]:
        """Take the devices of an idle claim back, if it is reserved for those that the round saw."""
        place, consumers = self._place(key), self._consumers[key]
        removed = ["allocation", *(["reservedFor"] if consumers else [])]
        body: list[dict[str, Any]] = [
            {"op": "test", "path": "/metadata/uid", "value": self._claims[key].uid},
            {"op": "test", "path": "/status/reservedFor", "value": consumers or None},
            *({"op": "remove", "path": f"/status/{field}"} for field in removed),
        ]
        self._consumers[key] = []
        self._allocated.discard(key)
        words = f"take the devices of resource claim {key} back"
        yield status_tested(number, "deallocate", words, place, body)

    def bound(self, number: int, pod: TouchedPod) -> Iterator[Request]:
        """Allocate and reserve the claims of a pod that is about to be bound."""
        for reservation in pod.reservations:
            claim = self._claims[reservation.claim]
            if claim.spec is not None:
                yield from self._made(number, claim, reservation, pod)
                continue
            allocates = claim.allocation is not None and claim.claim not in self._allocated
            reserves = reservation.consumer not in self._consumers[claim.claim]
            if not (allocates or reserves):
                continue
            place = self._place(claim.claim)
            if allocates:
                self._allocated.add(claim.claim)
                words = f"protect resource claim {claim.claim} while it has devices"
                body = {"metadata": {"uid": claim.uid, "finalizers": [_FINALIZER]}}
                yield patched(number, "protect", words, place, body)
            yield self._status(number, place, claim, reservation, allocates)
            self._consumers[claim.claim].append(reservation.consumer)

    def _status(
        self,
        number: int,
        place: Place,
        claim: TouchedClaim,
        reservation: Reservation,
        allocates: bool,
    ) -> Request:
        status: dict[str, Any] = {"allocation": claim.allocation} if allocates else {}
        status["reservedFor"] = [reservation.consumer]
        action, words = ("allocate", "give devices to") if allocates else ("reserve", "reserve")
        about = f"{words} resource claim {place.namespace}/{place.name}"
        return status_patched(number, action, about, place, claim.uid, status)

    def _made(
        self, number: int, claim: TouchedClaim, reservation: Reservation, pod: TouchedPod
    ) -> Iterator[Request]:
        """Make the claim for a pod's extended resources, and tell the pod of it (KEP-5004)."""
        owner = Place.of("pods", pod.pod)
        name = generated_name(f"{owner.name}-extended-resources-", zlib.crc32(pod.uid.encode()))
        place = Place(claim.api_version, "resourceclaims", owner.namespace, name)
        reference = {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": owner.name,
            "uid": pod.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }
        metadata = {
            "name": name,
            "namespace": owner.namespace,
            "annotations": {_EXTENDED: "true"},
            "finalizers": [_FINALIZER],
            "ownerReferences": [reference],
        }
        document = {"apiVersion": claim.api_version, "kind": "ResourceClaim", "metadata": metadata}
        yield Request(
            step=number,
            action="create",
            about=f"create resource claim {owner.namespace}/{name} for extended resources of pod {pod.pod}",
            verb="create",
            path=place.collection,
            content_type="application/json",
            body={**document, "spec": claim.spec},
            place=place,
        )
        yield self._status(number, place, claim, reservation, allocates=True)
        told = {"resourceClaimName": name, "requestMappings": list(claim.request_mappings)}
        status = {"extendedResourceClaimStatus": told}
        yield status_patched(number, "tell", f"tell pod {pod.pod} of that claim", owner, pod.uid, status)

    def _place(self, key: str) -> Place:
        return Place.of("resourceclaims", key, self._claims[key].api_version)
