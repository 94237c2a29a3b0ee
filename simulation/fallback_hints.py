"""What KEP-3990 adds to PodTopologySpread's hints: the pod's own status, and time.

Upstream's hints do not know of it, so it is a plugin of its own that only the simulation uses.
"""

from collections.abc import Hashable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar, Final, cast

from ..framework.events.changes import Occurrence, identity
from ..framework.events.events import Action, ClusterEvent, Resource
from ..framework.hints.base import HintPlugin, QueueingHint, Registration, queue, skip
from ..framework.hints.pod_topology_spread import PodTopologySpread
from ..framework.hints.registry import HINT_PLUGINS
from ..framework.index.fallback import criteria_held, falls_back
from ..models.base import Timestamp
from ..models.meta import KubeObject
from ..models.pod import Pod

if TYPE_CHECKING:
    from ..models.config import PodTopologySpreadArgs

TIME_PASSED: Final = ClusterEvent(Resource.TIME, Action.UPDATE)


class Moment(KubeObject):
    """The time, as the object of a time event."""

    namespaced: ClassVar[bool] = False

    kind: str = "Time"
    now: Timestamp


def time_event(now: datetime) -> Occurrence:
    """Return the event that time has passed."""
    return Occurrence(TIME_PASSED, None, Moment(now=now))


class FallbackSpread(PodTopologySpread):
    """Also wakes a pod when a constraint of it starts to fall back."""

    def events_to_register(self) -> tuple[Registration, ...]:
        """Register what upstream does, the pod's own status, and time."""
        own = ClusterEvent(Resource.UNSCHEDULABLE_POD, Action.UPDATE)
        extra = (Registration(own, self._after_status), Registration(TIME_PASSED, self._after_time))
        return (*super().events_to_register(), *extra)

    def traits(self, pod: Pod) -> Hashable:
        """Return what the hints read: of a pod that can fall back, its status and age, too."""
        if any(c.fallback_criteria for c in pod.spec.topology_spread_constraints):
            return identity(pod)
        return super().traits(pod)

    def _soft(self, pod: Pod, now: datetime | None) -> set[int]:
        """Return the places of the constraints that fall back; without a time, by statuses alone."""
        args = cast("PodTopologySpreadArgs", self.args)
        if now is None:
            args = args.model_copy(update={"node_provisioning_timeout": None})
        held = criteria_held(pod, args, now or datetime.max.replace(tzinfo=UTC))
        constraints = pod.spec.topology_spread_constraints
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


PLUGINS: Final[dict[str, type[HintPlugin]]] = {**HINT_PLUGINS, FallbackSpread.name: FallbackSpread}
"""The hints of a simulated scheduler that knows the proposal."""
