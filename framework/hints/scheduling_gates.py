"""SchedulingGates: a pod waits until its last gate is removed.

Source: kube-scheduler 1.34.1 plugins/schedulinggates.
"""

from typing import ClassVar

from ...models.pod import Pod
from ..events.changes import identity
from ..events.events import Action, ClusterEvent, Resource
from ..vocabulary import names
from .base import HintPlugin, QueueingHint, Registration, queue, skip


class SchedulingGates(HintPlugin):
    """Wakes a pod when its own gates are gone."""

    name: ClassVar[str] = names.SCHEDULING_GATES

    def events_to_register(self) -> tuple[Registration, ...]:
        """Register the removal of the last gate."""
        gone = ClusterEvent(Resource.POD, Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
        return (Registration(gone, self._after_gates),)

    def _after_gates(self, pod: Pod, old: Pod | None, new: Pod) -> QueueingHint:
        if identity(new) != identity(pod):
            return skip("the gates of another pod")
        return queue("the pod's own gates are gone")
