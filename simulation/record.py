"""The record of a run: the event log, and the sums of the summary."""

from typing import TYPE_CHECKING, Any

from ..framework.events.changes import identity
from ..framework.queue.clock import SECOND, VirtualClock
from ..models.meta import KubeObject
from ..models.node import Node
from ..models.pod import Pod
from .metrics import Metrics

if TYPE_CHECKING:
    from collections.abc import Callable

Entry = dict[str, Any]


class Record:
    """The log of one run.

    Parameters
    ----------
    clock : VirtualClock

    Attributes
    ----------
    metrics : Metrics
    sink : callable or None
        Gets every entry of the log, as a document, when it is written.
    waits : list of int
        From creation to binding, of each pod that was bound (nanoseconds).
    created, deleted_unbound : int
        Pods that came unbound, and those of them that left before they were bound.
    wasted : int
        Attempts that bound nothing.
    evictions, violations, fallbacks : int
        Pods removed for others (or by drains), those beyond what a budget allowed, and pods bound with a
        constraint that fell back.
    notes : list of str
        What is to be known about the run, each once.
    """

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self.metrics = Metrics()
        self.sink: Callable[[Entry], None] | None = None
        self.waits: list[int] = []
        self.created = 0
        self.deleted_unbound = 0
        self.wasted = 0
        self.evictions = 0
        self.violations = 0
        self.fallbacks = 0
        self.rounds = 0
        self.notes: list[str] = []
        self._since: dict[str, int] = {}
        self._nodes = 0
        self._node_time = 0
        self._node_moment = 0

    def write(self, event: str, **what: Any) -> None:
        """Write an entry of the log."""
        if self.sink is not None:
            self.sink({"t": round(self._clock.now / SECOND, 9), "event": event, **what})

    def note(self, text: str) -> None:
        """Write down once what is to be known about the run, for its reader."""
        if text not in self.notes:
            self.notes.append(text)
            self.write("Note", what=text)

    def changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        """Write down what a change of an object that is no pod means, where it means anything."""
        item = new if new is not None else old
        if isinstance(item, Node):
            self._node(old, new)
        elif item is not None and self.sink is not None:
            what = "Added" if old is None else "Deleted" if new is None else "Changed"
            self.write(f"{item.kind}{what}", object=item.key)

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """Write down what a change of a pod means, where it means anything."""
        if old is None:
            if new is not None and not new.spec.node_name:
                self.came(new)
            return
        if new is None:
            if self._since.pop(identity(old), None) is not None:
                self.deleted_unbound += 1
            if not old.is_terminal:
                self.write("PodGone", pod=old.key, node=old.spec.node_name)
            return
        if new.spec is not old.spec and new.spec.node_name and not old.spec.node_name:
            self.was_bound(old, new)
        else:
            self.ran(old, new)

    # What `pod_changed` finds out of most changes of pods, for those who know it beforehand.

    def came(self, pod: Pod) -> None:
        """Write down that a new pod waits."""
        self.created += 1
        self._since[identity(pod)] = self._clock.now
        if self.sink is not None:
            self.write("PodCreated", pod=pod.key)

    def was_bound(self, old: Pod, new: Pod) -> None:
        """Write down that a pod that waited is on a node."""
        since = self._since.pop(identity(new), None)
        if since is not None:
            self.waits.append(self._clock.now - since)
        if self.sink is not None:
            self.write("PodBound", pod=new.key, node=new.spec.node_name)
            self._write_changes(old, new)

    def ran(self, old: Pod, new: Pod) -> None:
        """Write down that a pod on a node has another status."""
        if self.sink is not None:
            self._write_changes(old, new)

    def finished(self, pod: Pod) -> None:
        """Write down that a pod on a node has finished and is removed."""
        if self.sink is not None:
            self.write("PodFinished", pod=pod.key, node=pod.spec.node_name)

    def _write_changes(self, old: Pod, new: Pod) -> None:
        """Write down what has changed in a pod's status, and that it terminates."""
        before, after = old.status.nominated_node_name, new.status.nominated_node_name
        if before != after and not new.spec.node_name:
            self.write("PodNominated", pod=new.key, node=after)
        if new.is_terminating and not old.is_terminating:
            self.write("PodTerminating", pod=new.key, node=new.spec.node_name)
        if new.is_terminal and not old.is_terminal:
            self.write("PodFinished", pod=new.key, node=new.spec.node_name)
        if new.status.conditions is old.status.conditions:
            return
        for condition in new.status.conditions:
            was = old.condition(condition.type)
            if was is None or (was.status, was.reason) != (condition.status, condition.reason):
                self.write(
                    "PodCondition",
                    pod=new.key,
                    type=condition.type,
                    status=condition.status,
                    reason=condition.reason,
                )

    def _node(self, old: KubeObject | None, new: KubeObject | None) -> None:
        if old is None or new is None:
            self._count_nodes()
            self._nodes += 1 if old is None else -1
        item = new if new is not None else old
        assert isinstance(item, Node)
        what = "Added" if old is None else "Deleted" if new is None else "Changed"
        self.write(f"Node{what}", node=item.name)

    def _count_nodes(self) -> None:
        self._node_time += self._nodes * (self._clock.now - self._node_moment)
        self._node_moment = self._clock.now

    @property
    def node_hours(self) -> float:
        """Nodes that were there, in hours, until now."""
        self._count_nodes()
        return self._node_time / (3600 * SECOND)

    @property
    def waiting(self) -> int:
        """Pods that have not been bound."""
        return len(self._since)
