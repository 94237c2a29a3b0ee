"""What KEP-3990 adds to PodTopologySpread's hints: the pod's own status, and time.

Upstream's hints do not know of it. With the gate PodTopologySpreadFallbackMode off there is nothing more than
upstream has.
"""

from collections.abc import Hashable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from ...models.pod import Pod, TopologySpreadConstraint
from ..events.changes import identity
from ..events.events import Action, ClusterEvent, Resource
from ..events.moment import TIME_PASSED, Moment
from ..index.fallback import criteria_held, falls_back, may_fall_back
from .base import QueueingHint, Registration, queue, skip
from .pod_topology_spread import PodTopologySpread

if TYPE_CHECKING:
    from ...models.config import PodTopologySpreadArgs


class FallbackSpread(PodTopologySpread):
    """Also wakes a pod when a constraint of it, or a default one, starts to fall back."""

    def events_to_register(self) -> tuple[Registration, ...]:
        """Register what upstream does, the pod's own status, and time where there is a timeout."""
        events = super().events_to_register()
        if not self.gates.enabled("PodTopologySpreadFallbackMode"):
            return events
        own = ClusterEvent(Resource.UNSCHEDULABLE_POD, Action.UPDATE)
        events = (*events, Registration(own, self._after_status, concerns=self._may_fall_back))
        if self._args.node_provisioning_timeout is not None:
            waits = Registration(TIME_PASSED, self._after_time, concerns=self._may_fall_back)
            events = (*events, waits)
        return events

    def traits(self, pod: Pod) -> Hashable:
        """Return what the hints read: of a pod that can fall back, its status and age, too."""
        if self._may_fall_back(pod):
            return identity(pod)
        return super().traits(pod)

    def _may_fall_back(self, pod: Pod) -> bool:
        return self.gates.enabled("PodTopologySpreadFallbackMode") and may_fall_back(pod, self._args)

    @property
    def _args(self) -> "PodTopologySpreadArgs":
        return cast("PodTopologySpreadArgs", self.args)

    def _soft(self, pod: Pod, now: datetime | None) -> set[int]:
        """Return the places of the constraints that fall back; without a time, by statuses alone."""
        args = self._args
        if now is None:
            args = args.model_copy(update={"node_provisioning_timeout": None})
        held = criteria_held(pod, args, now or datetime.max.replace(tzinfo=UTC))
        constraints: tuple[TopologySpreadConstraint, ...] = (
            pod.spec.topology_spread_constraints or args.default_constraints
        )
        return {k for k, c in enumerate(constraints) if c.is_hard and falls_back(c.fallback_criteria, held)}

    def _after_status(self, pod: Pod, old: Pod | None, new: Pod | None) -> QueueingHint:
        if old is None or new is None or identity(new) != identity(pod):
            return skip("another pod's status")
        if self._soft(new, None) - self._soft(old, None):
            return queue("a constraint starts to fall back")
        return skip("no constraint starts to fall back")

    def _after_time(self, pod: Pod, old: object, new: Moment) -> QueueingHint:
        if self._soft(pod, new.now) - self._soft(pod, None):
            return queue("nobody has provided a node in time")
        return skip("there is still time to provide a node")
