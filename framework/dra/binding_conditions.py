"""What becomes of a claim whose devices bind under conditions (KEP-5007).

A device may name conditions of its claim's status that have to be true before a pod with it is bound, and
others of which none may be.  Waiting for them is PreBind's and takes time; a round sees what has come of it:
an allocation that failed, or that has waited too long, is as good as out of reach from every node, so that
PostFilter may give its devices back.

Source: kube-scheduler 1.36.2 plugins/dynamicresources (isClaimReadyForBinding, isClaimTimeout).
"""

from datetime import datetime, timedelta
from typing import Final

from ...models import resource_api as api

BINDING_TIMEOUT: Final = timedelta(seconds=600)
"""How long an allocation may wait for its conditions: the default of DynamicResources' `bindingTimeout`."""


def has_failed(claim: api.ResourceClaim, now: datetime) -> bool:
    """Whether an allocated claim failed to bind, or waited too long for it."""
    allocation = claim.status.allocation
    if allocation is None:
        return False
    known = {(item.driver, item.pool, item.device, item.share_id): item for item in claim.status.devices}
    for result in allocation.devices.results:
        if not result.binding_conditions:
            continue
        status = known.get((result.driver, result.pool, result.device, result.share_id))
        true = set() if status is None else {c.type for c in status.conditions if c.status == "True"}
        if not true.isdisjoint(result.binding_failure_conditions):
            return True
        if not true.issuperset(result.binding_conditions):
            since = allocation.allocation_timestamp
            return since is not None and since + BINDING_TIMEOUT < now
    return False
