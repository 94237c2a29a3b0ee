"""Which resource claims a pod uses, and whether they are all there.

Source: k8s.io/dynamic-resource-allocation/resourceclaim, kube-scheduler 1.34.1
plugins/dynamicresources (foreachPodResourceClaim).
"""

from ...models.pod import Pod
from ...models.resource_api import ResourceClaim
from ..changes import identity
from ..objects import ObjectStore


def pod_claims(pod: Pod, objects: ObjectStore) -> tuple[list[ResourceClaim], str]:
    """Return the claims that a pod uses.

    Returns
    -------
    list of ResourceClaim
        Those found before the first fault.
    str
        Why the pod cannot be scheduled: a claim is missing, goes, or is another pod's; empty if all is well.
    """
    made = {item.name: item.resource_claim_name for item in pod.status.resource_claim_statuses}
    found: list[ResourceClaim] = []
    for entry in pod.spec.resource_claims:
        name = entry.resource_claim_name
        generated = name is None
        if generated:
            if entry.name not in made:
                return found, f"the claim of {entry.name} is not made yet"
            name = made[entry.name]
            if name is None:
                continue
        claim = objects.get(ResourceClaim, f"{pod.namespace}/{name}")
        if claim is None:
            return found, f"the claim {name} is missing"
        if claim.metadata.deletion_timestamp is not None:
            return found, f"the claim {name} is being deleted"
        owner = claim.metadata.controller
        if generated and (owner is None or (owner.uid or f"{pod.namespace}/{owner.name}") != identity(pod)):
            return found, f"the claim {name} was not made for this pod"
        found.append(claim)
    return found, ""
