"""The simulated cluster: its objects, its time, and the listeners to its changes."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any, Final

from ..framework.events.changes import identity
from ..framework.events.objects import ObjectStore
from ..framework.index.group_names import group_name
from ..framework.queue.clock import VirtualClock
from ..framework.queue.handlers import EventHandlers
from ..framework.queue.scheduling_queue import SchedulingQueue
from ..models.admission import PriorityClasses, admit
from ..models.errors import InputError
from ..models.meta import Condition, KubeObject
from ..models.node import Node
from ..models.pod import Pod, PodSpec, PodStatus
from ..models.scenario import Scenario
from ..models.scheduling import CompositePodGroup, PodGroup, PriorityClass
from .agenda import Agenda
from .follower import Follower
from .record import Record
from .snapshots import objects_of

_MOST_SPECS: Final = 1024
_MOST_BOUND: Final = 2**14

Listener = Callable[[KubeObject | None, KubeObject | None], None]


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
        self._listeners: list[tuple[Listener, tuple[str, ...], bool]] = []
        self._listening: dict[tuple[str, bool], tuple[Listener, ...]] = {}
        self._handlers = EventHandlers(self.queue)
        self._uids = 0
        self._told = (0, scenario.snapshot.now)
        self._classes: PriorityClasses | None = None
        self._admitted_specs: dict[int, tuple[PodSpec, PodSpec]] = {}
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

    def listen(self, listener: Listener, *kinds: str, owned: bool = False) -> None:
        """Have a callable called with every change of objects of some kinds, after it is made.

        Parameters
        ----------
        listener : callable
        *kinds : str
        owned : bool
            Only of those that another object owns.
        """
        self._listeners.append((listener, kinds, owned))
        self._listening.clear()

    def _who_listens(self, item: KubeObject) -> tuple[Listener, ...]:
        place = item.kind, bool(item.metadata.owner_references)
        kind, is_owned = place
        found = self._listening[place] = tuple(
            listener
            for listener, kinds, owned in self._listeners
            if kind in kinds and (is_owned or not owned)
        )
        return found

    def change(self, old: KubeObject | None, new: KubeObject | None) -> None:
        """Make a change and notify all listeners."""
        item = new if new is not None else old
        if item is None:
            return
        self._handlers.change(old, new)
        self.follower.note(old, new)
        if item.kind == "PriorityClass":
            self._classes = None
        self.record.changed(old, new)
        listening = self._listening.get((item.kind, bool(item.metadata.owner_references)))
        for listener in self._who_listens(item) if listening is None else listening:
            listener(old, new)

    def put(self, item: KubeObject) -> None:
        """Add an object, or replace the one of its kind and key; a new pod is admitted."""
        old = self.objects.get(type(item), item.key)
        if isinstance(item, Pod) and old is None:
            item = self._admitted(item)
        elif isinstance(item, PodGroup) and old is None:  # noqa: SIM114 (two types to the checker)
            item = admit(item, self._priorities(), self.scenario.name)
        elif isinstance(item, CompositePodGroup) and old is None:
            item = admit(item, self._priorities(), self.scenario.name)
        if item is not old:
            self.change(old, item)

    def create(self, template: Pod, name: str, annotations: dict[str, str]) -> None:
        """Add a pod that is like another but for its name and annotations."""
        key = f"{template.namespace}/{name}"
        old = self.objects.get(Pod, key)
        meta = {"name": name, "annotations": annotations}
        if old is None:
            self.change(None, self._admitted(template, meta))
        else:
            self.change(
                old, template.model_copy(update={"metadata": template.metadata.model_copy(update=meta)})
            )

    def _priorities(self) -> PriorityClasses:
        if self._classes is None:
            self._classes = PriorityClasses(self.objects.all(PriorityClass))
            self._admitted_specs.clear()
        return self._classes

    def _admitted(self, pod: Pod, meta: dict[str, Any] | None = None) -> Pod:
        """Return a new pod as the API server stores it, with other metadata where some is given."""
        if self.gates.enabled("GenericWorkload") and _is_old(pod):
            advice = "name a PodGroup in spec.schedulingGroup, or schedule members one by one "
            advice += "with --feature-gates GenericWorkload=false"
            text = f"groups of v1alpha1 are not simulated; {advice}"
            raise InputError(self.scenario.name, f"Pod {pod.key}", "spec.workloadRef", text)
        classes = self._priorities()
        # Pods of one template share its specification, and what is made of it, so that they are seen to be
        # alike at once.
        known = self._admitted_specs.get(id(pod.spec))
        if known is None:
            if len(self._admitted_specs) >= _MOST_SPECS:
                self._admitted_specs.clear()
            admitted = admit(pod, classes, self.scenario.name).spec
            known = self._admitted_specs[id(pod.spec)] = (pod.spec, admitted)
        update: dict[str, Any] = {"spec": known[1]}
        meta = dict(meta or {})
        if not pod.metadata.uid:
            self._uids += 1
            name = meta.get("name", pod.name)
            meta["uid"] = f"{pod.namespace}/{name}#{self._uids}"
        if pod.metadata.creation_timestamp is None:
            meta["creation_timestamp"] = self.now
        if meta:
            update["metadata"] = pod.metadata.model_copy(update=meta)
        return pod.model_copy(update=update)

    # -- pods ------------------------------------------------------------

    def pod(self, key: str, uid: str = "") -> Pod | None:
        """Return a pod as it is now, None where it has gone (with a uid: it, and no later one)."""
        found = self.objects.get(Pod, key)
        return found if found is not None and (not uid or identity(found) == uid) else None

    def edit(
        self,
        pod: Pod,
        *,
        conditions: Iterable[Condition] = (),
        node: str | None = None,
        meta: dict[str, Any] | None = None,
        **status: Any,
    ) -> Pod:
        """Change a pod's status or metadata, or bind it; nothing happens where all is so already."""
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
        if node is not None:
            update["spec"] = self._bound(pod.spec, node)
        if meta:
            update["metadata"] = pod.metadata.model_copy(update=meta)
        if not update:
            return pod
        new = pod.model_copy(update=update)
        self.change(pod, new)
        return new

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
        self.change(pod, None)

    def node(self, name: str) -> Node | None:
        """Return a node, None where there is none of this name."""
        return self.objects.get(Node, name)


def _is_old(pod: Pod) -> bool:
    """Whether a pod names a replica of a Workload's group: its members meet in Permit, not in a cycle."""
    name = group_name(pod)
    return name is not None and bool(name.workload)


def fresh(pod: Pod) -> Pod:
    """Return a pod as a user creates it: without a status."""
    return pod.model_copy(update={"status": PodStatus(phase="Pending")})


def with_condition(conditions: tuple[Condition, ...], new: Condition, now: datetime) -> tuple[Condition, ...]:
    """Return conditions with one set; its time of transition stays where its status does."""
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
