"""Handlers: from a change in the cluster to calls of the queue.

Source: kube-scheduler 1.34.1 eventhandlers.go.
"""

from collections.abc import Iterable

from ...models.controllers import Namespace
from ...models.meta import KubeObject
from ...models.node import Node
from ...models.pod import Pod
from ...models.scheduling import CompositePodGroup
from ..events import events
from ..events.changes import Audience, Occurrence, occurrences
from ..events.events import Action, ClusterEvent, Resource
from ..index.affinity import parse_terms
from ..index.group_names import group_name
from ..vocabulary import names
from .node_check import may_fit
from .queued_pod import QueuedPod
from .scheduling_queue import SchedulingQueue


class EventHandlers:
    """Changes the queue's object store and tells the queue.

    Parameters
    ----------
    queue : SchedulingQueue
    """

    def __init__(self, queue: SchedulingQueue) -> None:
        self._queue = queue

    def change(self, old: KubeObject | None, new: KubeObject | None) -> tuple[Occurrence, ...]:
        """Handle the addition, change or deletion of an object.

        Parameters
        ----------
        old, new : KubeObject or None
            The versions before and after.

        Returns
        -------
        tuple of Occurrence
            The events that the change makes, whether or not any pod waits for them.
        """
        self._queue.objects.apply(old, new)
        happened = occurrences(old, new)
        if not happened:
            return ()
        if not self._queue.trees.known and isinstance(new or old, CompositePodGroup):
            return ()  # such a scheduler does not watch them
        updated = False
        for occurrence in happened:
            event, audience = occurrence.event, occurrence.audience
            if audience is Audience.OWN:
                # One update may be several events; the queue derives them itself.
                if not updated:
                    self._update(occurrence)
                updated = True
                continue
            if event is events.POD_ADD or event is events.POD_DELETE:
                self._come_or_go(occurrence)
            if audience is not Audience.NOBODY:
                self._move(occurrence)
        return happened

    # What `change` finds out of most changes of pods, for those who know it beforehand.

    def came(self, pod: Pod) -> None:
        """Handle the addition of a pod that waits."""
        queue = self._queue
        queue.objects.put_pod(pod)
        if queue.responsible_for(pod):
            queue.add(pod)
        if group_name(pod) is not None:
            self._offer(events.POD_ADD, None, pod)

    def bound(self, old: Pod, new: Pod) -> None:
        """Handle the binding of a pod that waited."""
        queue = self._queue
        queue.objects.put_pod(new)
        self._offer(events.ASSIGNED_POD_ADD, None, new)
        if queue.responsible_for(old):
            queue.delete(old)
        if old.status.nominated_node_name:
            self._move(Occurrence(events.ASSIGNED_POD_DELETE, old, None, Audience.LOWER_OR_EQUAL))

    def ran(self, old: Pod, new: Pod) -> None:
        """Handle an update of a pod on a node of which no event tells more."""
        self._queue.objects.put_pod(new)
        self._offer(events.ASSIGNED_POD_UPDATE, old, new)

    def gone(self, pod: Pod) -> None:
        """Handle the end of a pod on a node."""
        self._queue.objects.remove(pod)
        self._offer(events.ASSIGNED_POD_DELETE, pod, None)

    def _offer(self, event: ClusterEvent, old: Pod | None, new: Pod | None) -> None:
        queue = self._queue
        if not queue.heeds(event):
            return
        happened = Occurrence(event, old, new)
        if queue.hints_enabled:
            queue.move_all(happened)
        else:
            self._move(happened)

    def _update(self, occurrence: Occurrence) -> None:
        old, new = occurrence.old, occurrence.new
        if isinstance(old, Pod) and isinstance(new, Pod) and self._queue.responsible_for(old):
            self._queue.update(old, new)

    def _come_or_go(self, occurrence: Occurrence) -> None:
        pod = occurrence.new or occurrence.old
        if not isinstance(pod, Pod) or not self._queue.responsible_for(pod):
            return
        if occurrence.event is events.POD_ADD:
            self._queue.add(pod)
        else:
            self._queue.delete(pod)

    def _move(self, occurrence: Occurrence) -> None:
        if not self._queue.is_of_interest(occurrence.event):
            return
        if occurrence.audience is Audience.LOWER_OR_EQUAL and not (
            isinstance(occurrence.old, Pod) and self._queue.responsible_for(occurrence.old)
        ):
            return
        if self._queue.hints_enabled:
            self._queue.move_all(occurrence)
        else:
            self._queue.move_all(occurrence, self._preselected(occurrence))

    def _preselected(self, occurrence: Occurrence) -> Iterable[QueuedPod] | None:
        """Return the pods that are asked about without hints; None for all.

        A node that comes or changes is held against each pod first, and pods that come or change are only of
        interest to pods that look at other pods.
        """
        waiting = self._queue.unschedulable
        changed = occurrence.new
        if isinstance(changed, Node):
            objects = self._queue.objects
            return [item for item in waiting if may_fit(item.pod, changed, objects, self._queue.gates)]
        event = occurrence.event
        scaled = event.action == Action.UPDATE_POD_SCALE_DOWN
        if isinstance(changed, Pod) and event.resource is Resource.ASSIGNED_POD and not scaled:
            return [item for item in waiting if self._looks_at(item, changed)]
        if occurrence.audience is Audience.LOWER_OR_EQUAL:
            return [item for item in waiting if occurrence.offered(item.pod)]
        return None

    def _looks_at(self, item: QueuedPod, other: Pod) -> bool:
        if names.POD_TOPOLOGY_SPREAD in item.unschedulable_plugins and item.pod.namespace == other.namespace:
            return True
        namespace = self._queue.objects.get(Namespace, other.namespace)
        namespaces = {other.namespace: namespace.metadata.labels if namespace is not None else {}}
        terms = parse_terms(item.pod, namespaces).required_affinity
        return any(term.accepts(other.namespace, other.metadata.labels, namespaces) for term in terms)
