"""The scheduling queue on a virtual clock.

A pod is in exactly one place: activeQ (to be tried next), backoffQ (paying for a failed attempt), among the
unschedulable pods (waiting for an event, or kept out by PreEnqueue), or in flight (being scheduled).

Source: kube-scheduler 1.34.1 backend/queue/scheduling_queue.go; KEP-4247, KEP-5142.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from ...models.config import KubeSchedulerConfiguration
from ...models.features import FeatureGates
from ...models.kube_version import DEFAULT_KUBE_VERSION, KubeVersion
from ...models.pod import Pod
from ..events import events
from ..events.changes import Occurrence, identity, pod_events, schedulable_change
from ..events.events import ClusterEvent
from ..events.moment import TIME_PASSED, time_event
from ..events.objects import ObjectStore
from ..hints.registry import HintMap
from ..vocabulary.profile import profiles_of
from ..vocabulary.releases import RELEASES
from . import counts as labels
from .backoff import BackoffQueue
from .clock import SECOND, VirtualClock, floor_to_second
from .counts import ACTIVE, UNSCHEDULABLE, QueueCounts
from .gangs import Gangs
from .in_flight import InFlight
from .nominator import Nominator
from .pre_enqueue import PreEnqueue
from .queued_pod import QueuedPod
from .requeue import Judge, Strategy
from .transitions import Transitions
from .unschedulable import UnschedulablePods

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ADDED: Final = str(events.POD_ADD)
FLUSH_EVERY: Final = 30 * SECOND
TIME_EVENTS_EVERY: Final = 30 * SECOND
"""KEP-3990: how often the passing of time is offered to waiting pods."""

MAX_IN_UNSCHEDULABLE: Final = 300 * SECOND
"""After this time without an event a pod is tried again anyway."""


@dataclass(frozen=True, slots=True)
class Popped:
    """A pod to be scheduled now, and whether it was taken from backoffQ before its time."""

    item: QueuedPod
    early: bool


class SchedulingQueue:
    """All pods that wait to be scheduled.

    Parameters
    ----------
    objects : ObjectStore
        The cluster as the scheduler sees it. The caller changes it before telling the queue of the change.
    clock : VirtualClock
        Moved by the caller, never backwards.
    configuration : KubeSchedulerConfiguration, optional
        Profiles and backoffs; upstream's defaults without it.
    gates : FeatureGates, optional
        `SchedulerQueueingHints`, `SchedulerPopFromBackoffQ`, `SchedulerAsyncPreemption` and the gates of the
        fields that hints and PreEnqueue read; all on by default.
    version : KubeVersion
        Whose plugins register events.
    max_in_unschedulable : int
        Upstream's flag `pod-max-in-unschedulable-pods-duration` (nanoseconds).
    start : datetime
        The time of day at 0, by which pods wait for time (KEP-3990's timeout).

    Attributes
    ----------
    gates : FeatureGates
        Those of the release.
    nominator : Nominator
    counts : QueueCounts
    trees : GroupTrees
        The trees of groups, members of which are tried together.
    preempting : set of str
        The identities (`changes.identity`) of pods whose victims are being deleted, which PreEnqueue keeps
        out; the caller adds and removes them.
    cycle : int
        How many pods have been popped.
    """

    def __init__(
        self,
        objects: ObjectStore,
        clock: VirtualClock,
        *,
        configuration: KubeSchedulerConfiguration | None = None,
        gates: FeatureGates | None = None,
        version: KubeVersion = DEFAULT_KUBE_VERSION,
        max_in_unschedulable: int = MAX_IN_UNSCHEDULABLE,
        start: datetime = EPOCH,
    ) -> None:
        configuration = configuration or KubeSchedulerConfiguration()
        gates = (gates or FeatureGates()).known_to(version)
        self.objects = objects
        self.gates = gates
        self.clock = clock
        self.hints_enabled = gates.enabled("SchedulerQueueingHints")
        self.max_in_unschedulable = max_in_unschedulable
        self.start = start
        self.nominator = Nominator()
        self.counts = QueueCounts()
        self.preempting: set[str] = set()
        self.cycle = 0
        self._pop_early = gates.enabled("SchedulerPopFromBackoffQ")
        self._sequence = 0
        self._move_request_cycle = -1
        profiles = profiles_of(configuration, RELEASES[version], gates)
        hints = {name: HintMap(profile, objects, gates) for name, profile in profiles.items()}
        self._judge = Judge(hints, self.counts)
        self._timed = any(each.registers(TIME_PASSED) for each in hints.values())
        gangs = Gangs(objects, gates, profiles, RELEASES[version].workload_cycle)
        self.trees = gangs.trees
        self._pre_enqueue = PreEnqueue(profiles, objects, gates, self.preempting, gangs)
        self._in_flight = InFlight()
        backoff = BackoffQueue(
            configuration.pod_initial_backoff_seconds * SECOND,
            configuration.pod_max_backoff_seconds * SECOND,
            windows=self._pop_early,
        )
        self._transitions = Transitions(
            clock,
            backoff,
            UnschedulablePods(hints),
            self._pre_enqueue,
            self.nominator,
            self.counts,
            pop_early=self._pop_early,
        )

    # -- pods come, change and go ------------------------------------------------------------

    def responsible_for(self, pod: Pod) -> bool:
        """Whether a pod's schedulerName is one of the profiles."""
        return pod.spec.scheduler_name in self._judge.hints

    def add(self, pod: Pod) -> None:
        """Take in a pod that is new."""
        self._transitions.to_active(self._new(pod), _ADDED)

    def update(self, old: Pod, new: Pod) -> None:
        """Record a waiting pod's new version, which may be what it waits for."""
        happened = [Occurrence(event, old, new) for event in pod_events(old, new)]
        if self.hints_enabled and identity(new) in self._in_flight:
            for occurrence in happened:
                self._in_flight.record(occurrence)
            return
        item = self._transitions.active.get(new.key) or self._transitions.backoff.get(new.key)
        if item is not None:
            item.pod = new
            self.nominator.update(old, new)
            return
        item = self._transitions.unschedulable.get(new.key)
        if item is None:
            self._transitions.to_active(self._new(new), str(events.POD_UPDATE))
            return
        item.pod = new
        self._transitions.unschedulable.put(item)
        self.nominator.update(old, new)
        if not self.hints_enabled:
            if schedulable_change(old, new):
                self._transitions.requeue(item, Strategy.AFTER_BACKOFF, str(events.POD_UPDATE))
            return
        for occurrence in happened:
            strategy = self._judge.worth(item, occurrence)
            if strategy and self._transitions.requeue(item, strategy, str(occurrence.event)) != UNSCHEDULABLE:
                return

    def delete(self, pod: Pod) -> None:
        """Forget a pod that is gone or bound by another component; one in flight stays so until done."""
        self.nominator.delete(pod)
        self._transitions.remove(pod.key)

    def activate(self, pods: Iterable[Pod]) -> None:
        """Retry pods without backoff; one in flight is retried after its backoff if it fails."""
        for pod in pods:
            waiting = self._transitions.unschedulable.get(pod.key)
            backing_off = None if waiting is not None else self._transitions.backoff.remove(pod.key)
            item = waiting or backing_off
            if item is not None:
                self._transitions.to_active(item, labels.FORCE_ACTIVATE, from_backoff=backing_off is not None)
                continue
            if self.hints_enabled and identity(pod) in self._in_flight:
                self._in_flight.record(Occurrence(events.FORCE_ACTIVATE, None, pod))
            self._move_request_cycle = self.cycle

    def punish(self, pod: Pod) -> None:
        """Have a waiting pod tried again, but as after an error: what was begun for it has failed.

        Its backoff counts from now, and nobody takes it out of backoffQ early. One in flight is retried after
        its backoff if it fails.
        """
        item = self._transitions.unschedulable.get(pod.key) or self._transitions.backoff.get(pod.key)
        if item is None:
            self.activate([pod])
            return
        self._transitions.remove(pod.key)
        item.unschedulable_plugins.clear()
        item.pending_plugins.clear()
        self._sequence += 1
        item.timestamp, item.sequence, item.expiration = self.clock.now, self._sequence, None
        self._transitions.requeue(item, Strategy.AFTER_BACKOFF, labels.FORCE_ACTIVATE)

    # -- attempts ------------------------------------------------------------

    def pop(self) -> Popped | None:
        """Take the pod that is to be scheduled next; None if there is none.

        An empty activeQ makes it take the first of the rejected pods in backoffQ (gate
        SchedulerPopFromBackoffQ), never one whose attempt was an error.
        """
        waiting = self._transitions
        early = False
        if waiting.active.by_key:
            item = waiting.active.pop()
        elif self._pop_early and waiting.backoff.rejected.by_key:
            item, early = waiting.backoff.pop_early(), True
        else:
            return None  # as most often in a simulation
        if item is None:
            return None
        if early:
            self.counts.incoming[ACTIVE, labels.POP_FROM_BACKOFF] += 1
        self._start(item)
        return Popped(item, early)

    def pull_group(self, item: QueuedPod) -> list[QueuedPod]:
        """Take the other members of a popped pod's group or tree from wherever they wait: it is tried as one.

        Upstream does so whatever they wait for, their backoff included (PopSpecificPod); those that a gate
        keeps out stay.
        """
        unit = self.trees.unit(item.pod)
        if unit is None:
            return []
        others = [pod.key for pod in self.trees.members(unit) if pod.key != item.key]
        return [pulled for key in others if (pulled := self._pull(key)) is not None]

    def _pull(self, key: str) -> QueuedPod | None:
        waiting = self._transitions
        item = waiting.active.get(key) or waiting.backoff.get(key) or waiting.unschedulable.get(key)
        if item is None or item.gated:
            return None
        waiting.remove(key)
        self._start(item)
        return item

    def _start(self, item: QueuedPod) -> None:
        self.cycle += 1
        item.attempts += 1
        item.expiration = None
        item.unschedulable_plugins.clear()
        item.pending_plugins.clear()
        self._in_flight.start(item)

    def fail(self, item: QueuedPod, plugins: Collection[str] = (), pending: Collection[str] = ()) -> None:
        """Take back a pod whose attempt failed.

        Parameters
        ----------
        item : QueuedPod
            Popped and not given back since.
        plugins, pending : collections of str
            The plugins that rejected it, and those that did so with the status Pending. None means an
            internal error.
        """
        latest = self.objects.get(Pod, item.key)
        gone = latest is None or identity(latest) != item.uid or bool(latest.spec.node_name)
        if latest is None or gone or item.key in self._transitions:
            self.done(item)
            return
        item.pod = latest
        item.unschedulable_plugins = set(plugins)
        item.pending_plugins = set(pending)
        if item.rejectors:
            item.unschedulable_count += 1
            item.consecutive_errors = 0
        else:
            item.consecutive_errors += 1
        self._sequence += 1
        item.timestamp, item.sequence, item.expiration = self.clock.now, self._sequence, None
        self._judge.know(item)
        self._transitions.requeue(item, self._after_attempt(item), labels.SCHEDULE_ATTEMPT_FAILURE)
        self.done(item)

    def done(self, item: QueuedPod) -> None:
        """End a pod's time in flight: it is bound, or back in the queue."""
        self._in_flight.done(item.uid)

    def _new(self, pod: Pod) -> QueuedPod:
        self._sequence += 1
        return QueuedPod(pod, self.clock.now, self._sequence)

    def _after_attempt(self, item: QueuedPod) -> Strategy:
        """Return how a pod goes back, by what happened while it was in flight."""
        if not item.rejectors:
            return Strategy.AFTER_BACKOFF
        if not self.hints_enabled:
            # Any event since the last pod was popped, whichever pod that was, may have been the one.
            return Strategy.AFTER_BACKOFF if self._move_request_cycle >= self.cycle else Strategy.SKIP
        best = Strategy.SKIP
        for happened in self._in_flight.events_for(item.uid):
            best = max(best, self._judge.worth(item, happened))
            if best is Strategy.IMMEDIATELY or (best and not item.pending_plugins):
                break
        return best

    # -- events ------------------------------------------------------------

    def is_of_interest(self, event: ClusterEvent) -> bool:
        """Whether any plugin waits for an event; any other moves no pod."""
        return self._judge.of_interest(event)

    def heeds(self, event: ClusterEvent) -> bool:
        """Whether an event is offered to a pod now, or kept for one in flight; any other changes nothing."""
        if not self.hints_enabled:
            return True  # the cycle in which it came is kept
        concerned = self._in_flight.pods_by_uid or self._transitions.unschedulable.by_key
        return bool(concerned) and self._judge.of_interest(event)

    def move_all(self, happened: Occurrence, among: Iterable[QueuedPod] | None = None) -> None:
        """Wake the pods that an event may help.

        Parameters
        ----------
        happened : Occurrence
        among : iterable of QueuedPod, optional
            Only these unschedulable pods are asked about. Without it all are.
        """
        if not self._judge.of_interest(happened.event):
            return
        if among is None:
            woken = self._judge.woken(self._transitions.unschedulable, happened)
        else:
            hints = self._judge.hints
            woken = {
                item: self._judge.worth(item, happened)
                for item in among
                if not item.gated or hints[item.scheduler].waits(item.gating_plugin, happened.event)
            }
        for item, strategy in woken.items():
            if strategy:
                self._transitions.requeue(item, strategy, str(happened.event))
        self._move_request_cycle = self.cycle
        if self.hints_enabled:
            self._in_flight.record(happened)

    # -- time ------------------------------------------------------------

    def tick(self) -> None:
        """Move the pods whose backoff is over to activeQ; upstream does it at every whole second."""
        for item in self._transitions.backoff.pop_completed(self.clock.now):
            self._transitions.to_active(item, labels.BACKOFF_COMPLETE, from_backoff=True)

    def flush(self) -> None:
        """Retry the pods that waited too long; upstream does it every 30 seconds."""
        old = self._transitions.unschedulable.older_than(self.clock.now - self.max_in_unschedulable)
        if old:
            self.move_all(Occurrence(events.UNSCHEDULABLE_TIMEOUT, None, None), old)

    def pass_time(self) -> None:
        """Offer the passing of time to the pods that wait for it (KEP-3990)."""
        self.move_all(time_event(self.start + timedelta(microseconds=self.clock.now // 1000)))

    @property
    def has_waiting(self) -> bool:
        """Whether any pod backs off or waits for an event or a gate."""
        waiting = self._transitions
        backoff = waiting.backoff
        return bool(waiting.unschedulable.by_key or backoff.rejected.by_key or backoff.errors.by_key)

    def next_tick(self) -> int | None:
        """Return the next whole second at which a tick moves a pod, None without pods in backoffQ."""
        completion = self._transitions.backoff.next_completion()
        # What was due by now has been seen to.
        return None if completion is None else max(completion, floor_to_second(self.clock.now) + SECOND)

    def next_flush(self) -> int | None:
        """Return the next multiple of 30 seconds at which a flush retries a pod, None if none waits."""
        oldest = self._transitions.unschedulable.oldest()
        if oldest is None:
            return None
        return (max(oldest + self.max_in_unschedulable, self.clock.now) // FLUSH_EVERY + 1) * FLUSH_EVERY

    def next_time(self) -> int | None:
        """Return the next multiple of 30 seconds, None where no waiting pod can wait for time."""
        waiting = self._transitions.unschedulable
        if not self._timed or len(waiting) == waiting.n_gated:
            return None
        return (self.clock.now // TIME_EVENTS_EVERY + 1) * TIME_EVENTS_EVERY

    # -- what is where ------------------------------------------------------------

    @property
    def active(self) -> list[QueuedPod]:
        """The pods of activeQ, first to be popped first."""
        return self._transitions.active.pods()

    @property
    def backoff(self) -> list[QueuedPod]:
        """The pods of backoffQ, first to leave first, those with errors last."""
        return self._transitions.backoff.pods()

    @property
    def unschedulable(self) -> list[QueuedPod]:
        """The pods that wait for an event, gated ones included."""
        return self._transitions.unschedulable.pods()

    @property
    def in_flight(self) -> list[QueuedPod]:
        """The pods that are being scheduled."""
        return self._in_flight.pods()

    @property
    def n_in_flight_events(self) -> int:
        """How many events are kept for pods in flight (`scheduler_inflight_events`)."""
        return self._in_flight.n_events

    def in_flight_events(self) -> Counter[str]:
        """Return how many events are kept for pods in flight, by event."""
        return self._in_flight.by_event()

    def lengths(self) -> dict[str, int]:
        """Return how many pods are in each place, as `scheduler_pending_pods` names the places."""
        gated = self._transitions.unschedulable.n_gated
        return {
            "active": len(self._transitions.active),
            "backoff": len(self._transitions.backoff),
            "unschedulable": len(self._transitions.unschedulable) - gated,
            "gated": gated,
        }

    def expiration(self, item: QueuedPod) -> int:
        """Return when a pod's backoff ends (nanoseconds)."""
        return self._transitions.backoff.expiration(item)

    def gate_reason(self, item: QueuedPod) -> str:
        """Return why PreEnqueue keeps a pod out; empty if it does not."""
        return self._pre_enqueue.reason(item)
