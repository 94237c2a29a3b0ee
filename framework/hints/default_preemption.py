"""DefaultPreemption: holds a pod back while the victims of its preemption are being deleted.

It waits for deletions only so that its PreEnqueue is asked again; the plugin that rejected the pod decides.

Source: kube-scheduler 1.34.1 plugins/defaultpreemption.
"""

from typing import ClassVar

from ...models.pod import Pod
from ..events.events import Action, ClusterEvent, Resource
from ..vocabulary import names
from .base import HintPlugin, QueueingHint, Registration, skip


class DefaultPreemption(HintPlugin):
    """Never wakes a pod by itself."""

    name: ClassVar[str] = names.DEFAULT_PREEMPTION

    def events_to_register(self) -> tuple[Registration, ...]:
        """Register pods that go."""
        return (Registration(ClusterEvent(Resource.POD, Action.DELETE), self._after_deletion),)

    def _after_deletion(self, pod: Pod, old: Pod, new: None) -> QueueingHint:
        return skip("preemption alone wakes nobody")
