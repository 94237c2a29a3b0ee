"""DynamicResources: a pod waits for its claims, or for devices.

Source: kube-scheduler 1.34.1 plugins/dynamicresources.
"""

from collections.abc import Hashable
from typing import ClassVar

from ...models.config import PluginArgs
from ...models.features import FeatureGates
from ...models.pod import Pod
from ...models.resource_api import ResourceClaim
from ..dra.pod_claims import ClaimProblem
from ..events.changes import identity
from ..events.events import Action, ClusterEvent, Resource
from ..events.objects import ObjectStore
from ..vocabulary import names
from .base import HintPlugin, QueueingHint, Registration, queue, skip
from .resource_claims import pod_claims


class DynamicResources(HintPlugin):
    """Wakes a pod when a claim of it changes or any is deallocated, and on changes of devices and nodes."""

    name: ClassVar[str] = names.DYNAMIC_RESOURCES

    def __init__(self, objects: ObjectStore, gates: FeatureGates, args: PluginArgs) -> None:
        super().__init__(objects, gates, args)
        self._claims = pod_claims(objects, gates)

    def events_to_register(self) -> tuple[Registration, ...]:
        """Register claims, the pod's note of claims made for it, nodes, slices and classes."""
        changed = Action.ADD | Action.UPDATE
        nodes = Action.ADD | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_ALLOCATABLE
        noted = ClusterEvent(Resource.POD, Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM)
        return (
            Registration(ClusterEvent(Resource.NODE, nodes)),
            Registration(ClusterEvent(Resource.RESOURCE_CLAIM, changed), self._after_claim),
            Registration(noted, self._after_note),
            Registration(ClusterEvent(Resource.DEVICE_CLASS, changed)),
            Registration(ClusterEvent(Resource.RESOURCE_SLICE, changed)),
        )

    def traits(self, pod: Pod) -> Hashable:
        """Return the names of the pod's claims; the pod itself where some are made for it."""
        claims = pod.spec.resource_claims
        if any(claim.resource_claim_name is None for claim in claims):
            return identity(pod)
        return (pod.namespace, tuple(claim.resource_claim_name for claim in claims))

    def _after_claim(self, pod: Pod, old: ResourceClaim | None, new: ResourceClaim) -> QueueingHint:
        try:
            claims = self._claims.of(pod)
        except ClaimProblem as problem:
            return skip(str(problem))
        if old is not None and old.status.allocation is not None and new.status.allocation is None:
            return queue("the devices of a claim are free")
        if not any(claim.key == new.key for claim in claims):
            return skip("no claim of the pod")
        if old is None:
            return queue("one of the pod's claims is there now")
        if old.status == new.status:
            return skip("the claim's status is as before")
        return queue("the status of one of the pod's claims changed")

    def _after_note(self, pod: Pod, old: Pod | None, new: Pod) -> QueueingHint:
        if identity(new) != identity(pod):
            return skip("the claims of another pod")
        try:
            self._claims.of(new)
        except ClaimProblem as problem:
            return skip(str(problem))
        return queue("all claims of the pod are there")
