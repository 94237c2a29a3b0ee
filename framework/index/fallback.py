"""KEP-3990: which fallback criteria hold for a pod, evaluated once on the statuses in the input.

A `DoNotSchedule` constraint all of whose `fallbackCriteria` hold is soft in this round.

- `PreemptionFailed`: condition PodScheduled is False with reason Unschedulable, and no node is nominated. (A
  gated pod's PodScheduled is False too, with reason SchedulingGated: nothing was tried for it yet.)
- `NodeProvisioningFailed`: condition NodeProvisioningInProgress is False; or it is absent and
  `nodeProvisioningTimeout` has passed since the scheduler rejected the pod (PodScheduled's
  lastTransitionTime; a pod that was not tried yet, or that is gated, waits for no node).
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from ...models.config import PodTopologySpreadArgs
from ...models.pod import Pod


def preemption_failed(pod: Pod) -> bool:
    """Whether criterion `PreemptionFailed` holds."""
    scheduled = pod.condition("PodScheduled")
    return (
        scheduled is not None
        and scheduled.status == "False"
        and scheduled.reason == "Unschedulable"
        and not pod.status.nominated_node_name
    )


def provisioning_failed(pod: Pod, now: datetime, timeout: float | None) -> bool:
    """Whether criterion `NodeProvisioningFailed` holds; `timeout` is in seconds."""
    progress = pod.condition("NodeProvisioningInProgress")
    if progress is not None:
        return progress.status == "False"
    if timeout is None:
        return False
    scheduled = pod.condition("PodScheduled")
    if scheduled is None or scheduled.status != "False" or scheduled.reason == "SchedulingGated":
        return False
    since = scheduled.last_transition_time
    return since is not None and now - since >= timedelta(seconds=timeout)


def may_fall_back(pod: Pod, args: PodTopologySpreadArgs | None) -> bool:
    """Whether any constraint of a pod, or a default one where it has none, names criteria."""
    defaults = args.default_constraints if args is not None else ()
    return any(c.is_hard and c.fallback_criteria for c in pod.spec.topology_spread_constraints or defaults)


def criteria_held(pod: Pod, args: PodTopologySpreadArgs | None, now: datetime) -> frozenset[str]:
    """Return which of the criteria that a pod's constraints name hold for it.

    Parameters
    ----------
    pod : Pod
    args : PodTopologySpreadArgs or None
        The arguments of its profile: default constraints (for a pod without any of its own) and the timeout.
    now : datetime
        The time of the round.
    """
    defaults = args.default_constraints if args is not None else ()
    named = {
        name
        for constraint in (pod.spec.topology_spread_constraints or defaults)
        if constraint.is_hard
        for name in constraint.fallback_criteria
    }
    if not named:
        return frozenset()
    timeout = args.node_provisioning_timeout if args is not None else None
    held = {
        "PreemptionFailed": preemption_failed(pod),
        "NodeProvisioningFailed": provisioning_failed(pod, now, timeout),
    }
    return frozenset(name for name in named if held[name])


def falls_back(criteria: Sequence[str], held: frozenset[str]) -> bool:
    """Whether a constraint with these criteria is soft: it has some, and all of them hold."""
    return bool(criteria) and held.issuperset(criteria)
