"""The simulated cluster: its objects, its time, and the listeners to its changes."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final

from ..framework.events.changes import identity
from ..framework.events.objects import ObjectStore
from ..framework.queue.clock import VirtualClock
from ..framework.queue.handlers import EventHandlers
from ..framework.queue.scheduling_queue import SchedulingQueue
from ..models.meta import Condition, KubeObject
from ..models.node import Node
from ..models.pod import Pod, PodSpec, PodStatus
from ..models.scenario import Scenario
from ..models.scheduling import CompositePodGroup, PodGroup
from .admission import Admission
from .agenda import Agenda
from .follower import Follower, Step
from .listeners import GONE, ON_NODE, WAITING, Listeners
from .record import Record
from .snapshots import objects_of

_MOST_BOUND: Final = 2**14


class World:
    """All that simulated components share.

    Parameters
    ----------
    scenario : Scenario

    Attributes
    ----------
    clock : VirtualClock
    agenda : Agenda
    objects : ObjectStore
    queue : SchedulingQueue
    follower : Follower
        The scheduler's index of the cluster.
    record : Record
        What is written down.
    listeners : Listeners
        Who is told of changes.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.pace = scenario.pace
        self.gates = scenario.snapshot.feature_gates.known_to(scenario.snapshot.kube_version)
        self.clock = VirtualClock()
        self.agenda = Agenda(self.clock)
        self.objects = ObjectStore()
        self.queue = SchedulingQueue(
            self.objects,
            self.clock,
            configuration=scenario.snapshot.configuration,
            gates=self.gates,
            version=scenario.snapshot.kube_version,
            start=scenario.snapshot.now,
        )
        self.follower = Follower(self.objects, scenario.snapshot, lambda: self.now)
        self.record = Record(self.clock)
        self.listeners = Listeners()
        self._handlers = EventHandlers(self.queue)
        self._pods, self._nodes = self.objects.by_key(Pod), self.objects.by_key(Node)
        self._told = (0, scenario.snapshot.now)
        self._admission = Admission(scenario.name, self.gates, self.objects, lambda: self.now)
        self._bound_specs: dict[tuple[int, str], tuple[PodSpec, PodSpec]] = {}

    def start(self) -> None:
        """Add the objects of the scenario's cluster, those that others refer to first."""
        pods = []
        for item in objects_of(self.scenario.snapshot):
            if isinstance(item, Pod):
                pods.append(item)
            else:
                self.put(item)
        # Running pods are there before any pod that waits.
        for pod in sorted(pods, key=lambda pod: not pod.spec.node_name):
            self.put(pod)

    @property
    def now(self) -> datetime:
        """The time as timestamps have it, to the microsecond."""
        moment, told = self._told
        if moment != self.clock.now:
            moment = self.clock.now
            told = self.scenario.snapshot.now + timedelta(microseconds=moment // 1000)
            self._told = (moment, told)
        return told

    # -- changes ------------------------------------------------------------

    def change(self, old: KubeObject | None, new: KubeObject | None) -> None:
        """Make a change and notify all listeners."""
        item = new if new is not None else old
        if item is None:
            return
        if isinstance(item, Pod):
            assert old is None or isinstance(old, Pod)
            self._change_pod(old, item if new is not None else None)
            return
        self._handlers.change(old, new)
        self.follower.note(old, new)
        if item.kind == "PriorityClass":
            self._admission.forget_classes()
        self.record.changed(old, new)
        for listener in self.listeners.of(item):
            listener(old, new)

    def _change_pod(self, old: Pod | None, new: Pod | None) -> None:
        self._handlers.change(old, new)
        if new is not None:
            item, whereabouts = new, ON_NODE if new.spec.node_name else WAITING
        else:
            assert old is not None
            item, whereabouts = old, GONE
        self.follower.note_pod(item.metadata.key, Step.OTHER)
        self.record.pod_changed(old, new)
        for listener in self.listeners.of_pod(item, whereabouts):
            listener(old, new)

    def put(self, item: KubeObject) -> None:
        """Add an object, or replace the one of its kind and key; a new pod is admitted."""
        old = self.objects.get(type(item), item.key)
        if isinstance(item, Pod) and old is None:
            item = self._admission.pod(item)
        elif isinstance(item, PodGroup) and old is None:
            item = self._admission.group(item)
        elif isinstance(item, CompositePodGroup) and old is None:
            item = self._admission.composite(item)
        if item is not old:
            self.change(old, item)

    def create(self, template: Pod, name: str, annotations: dict[str, str]) -> None:
        """Add a pod that is like another but for its name and annotations."""
        key = f"{template.metadata.namespace}/{name}"
        old = self.objects.pod(key)
        if old is not None:
            meta = template.metadata.model_copy(update={"name": name, "annotations": annotations})
            self.change(old, template.model_copy(update={"metadata": meta}))
            return
        pod = self._admission.arrival(template, name, key, annotations)
        if pod.spec.node_name or pod.is_terminal:
            self._change_pod(None, pod)
            return
        self._handlers.came(pod)
        self.follower.note_pod(key, Step.CAME)
        self.record.came(pod)
        for listener in self.listeners.of_pod(pod, WAITING):
            listener(None, pod)

    # -- pods ------------------------------------------------------------

    def pod(self, key: str, uid: str = "") -> Pod | None:
        """Return a pod as it is now, None where it has gone (with a uid: it, and no later one)."""
        found = self._pods.get(key)
        if found is None or not uid or found.metadata.uid == uid:
            return found  # as most often
        return found if identity(found) == uid else None

    def edit(
        self,
        pod: Pod,
        *,
        conditions: Iterable[Condition] = (),
        meta: dict[str, Any] | None = None,
        **status: Any,
    ) -> Pod:
        """Change a pod's status or metadata; nothing happens where all is so already."""
        before = pod.status
        merged = before.conditions
        for condition in conditions:
            merged = with_condition(merged, condition, self.now)
        if merged is not before.conditions:
            status["conditions"] = merged
        changes = {name: value for name, value in status.items() if getattr(before, name) != value}
        update: dict[str, Any] = {}
        if changes:
            update["status"] = before.model_copy(update=changes)
        if meta:
            update["metadata"] = pod.metadata.model_copy(update=meta)
        if not update:
            return pod
        new = pod.model_copy(update=update)
        self._change_pod(pod, new)
        return new

    def bind(self, pod: Pod, node: str, condition: Condition) -> None:
        """Bind a pod that waits, and set a condition of it; it expects room nowhere any more."""
        before = pod.status
        conditions = with_condition(before.conditions, condition, self.now)
        changes: dict[str, Any] = {}
        if conditions is not before.conditions:
            changes["conditions"] = conditions
        if before.nominated_node_name is not None:
            changes["nominated_node_name"] = None
        update: dict[str, Any] = {"spec": self._bound(pod.spec, node)}
        if changes:
            update["status"] = before.model_copy(update=changes)
        new = pod.model_copy(update=update)
        self._handlers.bound(pod, new)
        self.follower.note_pod(new.metadata.key, Step.BOUND)
        self.record.was_bound(pod, new)
        for listener in self.listeners.of_pod(new, ON_NODE):
            listener(pod, new)

    def run(self, pod: Pod) -> None:
        """Let a pod run that is on a node; nothing happens where it runs already."""
        before = pod.status
        changes: dict[str, Any] = {}
        if before.phase != "Running":
            changes["phase"] = "Running"
        if before.start_time is None:
            changes["start_time"] = self.now
        if changes:
            new = pod.model_copy(update={"status": before.model_copy(update=changes)})
            self._handlers.ran(pod, new)
            self.follower.note_pod(new.metadata.key, Step.RAN)
            self.record.ran(pod, new)
            for listener in self.listeners.of_pod(new, ON_NODE):
                listener(pod, new)

    def finish(self, pod: Pod) -> None:
        """Let a pod finish that is on a node, and remove it: its controller has counted it then."""
        if pod.metadata.owner_references or pod.spec.resource_claims:
            self.remove_pod(self.edit(pod, phase="Succeeded"))
            return
        # For all others the second of these changes means nothing.
        self._handlers.gone(pod)
        self.follower.note_pod(pod.metadata.key, Step.GONE)
        self.record.finished(pod)
        for listener in self.listeners.of_pod(pod, GONE):
            listener(pod, None)

    def _bound(self, spec: PodSpec, node: str) -> PodSpec:
        """Return a specification on a node: one for all pods that share it, as before they were bound."""
        known = self._bound_specs.get((id(spec), node))
        if known is None:
            if len(self._bound_specs) >= _MOST_BOUND:
                self._bound_specs.clear()
            known = (spec, spec.model_copy(update={"node_name": node}))
            self._bound_specs[id(spec), node] = known
        return known[1]

    def remove_pod(self, pod: Pod) -> None:
        """Remove a pod's object."""
        self._change_pod(pod, None)

    def node(self, name: str) -> Node | None:
        """Return a node, None where there is none of this name."""
        return self._nodes.get(name)


def fresh(pod: Pod) -> Pod:
    """Return a pod as a user creates it: without a status."""
    return pod.model_copy(update={"status": PodStatus(phase="Pending")})


def with_condition(conditions: tuple[Condition, ...], new: Condition, now: datetime) -> tuple[Condition, ...]:
    """Return conditions with one set; its time of transition stays where its status does."""
    if not conditions:
        return (new.model_copy(update={"last_transition_time": now}),)
    for k, old in enumerate(conditions):
        if old.type == new.type:
            if (old.status, old.reason, old.message) == (new.status, new.reason, new.message):
                return conditions
            # A pod that is rejected after its gates are gone was not rejected before (KEP-3990's timeout).
            same = old.status == new.status and old.reason != "SchedulingGated"
            since = old.last_transition_time if same else now
            return (
                *conditions[:k],
                new.model_copy(update={"last_transition_time": since}),
                *conditions[k + 1 :],
            )
    return (*conditions, new.model_copy(update={"last_transition_time": now}))
