"""Resource claims through time: created from templates, allocated, reserved and released.

Sources: KEP-4381; kubernetes pkg/controller/resourceclaim.
"""

from collections.abc import Mapping

from ..framework.dra.allocation import Allocation
from ..framework.events.changes import identity
from ..models.meta import KubeObject, ObjectMeta, OwnerReference
from ..models.pod import Pod, PodResourceClaimStatus
from ..models.resource_api import (
    AllocationResult,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimTemplate,
)
from .agenda import LATE
from .world import World


class ClaimController:
    """The claim controller, and what a scheduler writes into claims.

    Parameters
    ----------
    world : World
    """

    def __init__(self, world: World) -> None:
        self._world = world
        world.listeners.add(self._changed, "Pod", claiming=True)

    def _changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        item = new if new is not None else old
        if not isinstance(item, Pod) or not item.spec.resource_claims:
            return
        if old is None:
            self._world.agenda.after(0, lambda: self._make(item.key), LATE)
        elif new is None or (isinstance(new, Pod) and new.is_terminal):
            self._release(item)

    def _make(self, key: str) -> None:
        """Create the claims of a pod from their templates."""
        pod = self._world.pod(key)
        if pod is None:
            return
        known = {status.name for status in pod.status.resource_claim_statuses}
        made = list(pod.status.resource_claim_statuses)
        for wanted in pod.spec.resource_claims:
            template = self._world.objects.get(
                ResourceClaimTemplate, f"{pod.namespace}/{wanted.resource_claim_template_name}"
            )
            if template is None or wanted.name in known:
                continue
            owner = OwnerReference(
                api_version="v1", kind="Pod", name=pod.name, uid=pod.metadata.uid, controller=True
            )
            meta = ObjectMeta(
                name=f"{pod.name}-{wanted.name}",
                namespace=pod.namespace,
                uid=f"{identity(pod)}/{wanted.name}",
                labels=template.spec.metadata.labels,
                owner_references=(owner,),
            )
            self._world.put(ResourceClaim(metadata=meta, spec=template.spec.spec))
            made.append(PodResourceClaimStatus(name=wanted.name, resource_claim_name=meta.name))
        self._world.edit(pod, resource_claim_statuses=tuple(made))

    def allocate(self, key: str, allocation: Allocation) -> bool:
        """Write an allocation into a claim; return whether the claim is there."""
        claim = self._world.objects.get(ResourceClaim, key)
        if claim is None:
            return False
        written = AllocationResult.model_validate({"devices": {"results": allocation.document()}})
        written = written.model_copy(update={"node_selector": allocation.selector})
        status = claim.status.model_copy(update={"allocation": written})
        self._world.change(claim, claim.model_copy(update={"status": status}))
        return True

    def prepare(self, key: str, allocation: Allocation) -> None:
        """Allocate a claim, as a driver does that was asked to; one that is allocated by now stays so."""
        claim = self._world.objects.get(ResourceClaim, key)
        if claim is not None and claim.status.allocation is None:
            self.allocate(key, allocation)

    def reserve(self, pod: Pod, allocations: Mapping[str, Allocation]) -> None:
        """Allocate claims for a pod that is about to be bound, and reserve all its claims for it."""
        kept = {key: found for key, found in allocations.items() if not self.allocate(key, found)}
        self._world.follower.bring(pod.key, kept)
        reference = ResourceClaimConsumerReference(resource="pods", name=pod.name, uid=pod.metadata.uid)
        for claim in self.of(pod):
            if reference not in claim.status.reserved_for:
                reserved = (*claim.status.reserved_for, reference)
                status = claim.status.model_copy(update={"reserved_for": reserved})
                self._world.change(claim, claim.model_copy(update={"status": status}))

    def deallocate(self, key: str) -> None:
        """Take a claim's devices back."""
        claim = self._world.objects.get(ResourceClaim, key)
        if claim is not None:
            status = claim.status.model_copy(update={"allocation": None, "reserved_for": ()})
            self._world.change(claim, claim.model_copy(update={"status": status}))

    def of(self, pod: Pod) -> list[ResourceClaim]:
        """Return the claims of a pod that are there."""
        names = [entry.resource_claim_name for entry in pod.spec.resource_claims]
        names += [status.resource_claim_name for status in pod.status.resource_claim_statuses]
        found = (self._world.objects.get(ResourceClaim, f"{pod.namespace}/{name}") for name in names if name)
        return [claim for claim in found if claim is not None]

    def _release(self, pod: Pod) -> None:
        """Delete a pod's own claims, and deallocate others that no pod needs any more."""
        for claim in self.of(pod):
            owner = claim.metadata.controller
            if owner is not None and (owner.kind, owner.uid) == ("Pod", pod.metadata.uid):
                self.deallocate(claim.key)
                left = self._world.objects.get(ResourceClaim, claim.key)
                self._world.change(left, None)
                continue
            reserved = tuple(r for r in claim.status.reserved_for if r.uid != pod.metadata.uid)
            if reserved == claim.status.reserved_for:
                continue
            update: dict[str, object] = {"reserved_for": reserved}
            if not reserved:
                update["allocation"] = None
            status = claim.status.model_copy(update=update)
            self._world.change(claim, claim.model_copy(update={"status": status}))
