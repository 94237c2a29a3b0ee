"""Transitions of waiting pods between the queues of kube-scheduler.

A pod is tried next (active), pays for a failed attempt (backoff), or waits for an event or a gate
(unschedulable). PreEnqueue is asked on the way.

Source: kube-scheduler 1.34.1 backend/queue/scheduling_queue.go (moveToActiveQ, moveToBackoffQ).
"""

from typing import Final

from ..events import events
from .backoff import BackoffQueue
from .clock import VirtualClock
from .counts import ACTIVE, BACKOFF, UNSCHEDULABLE, QueueCounts
from .heap import PodHeap
from .nominator import Nominator
from .pre_enqueue import PreEnqueue
from .queued_pod import QueuedPod
from .requeue import Strategy
from .unschedulable import UnschedulablePods

_ENTRIES: Final = (str(events.POD_ADD), str(events.POD_UPDATE))


class Transitions:
    """Moves pods between the three queues; a pod is in one of them at most.

    Parameters
    ----------
    clock : VirtualClock
    backoff : BackoffQueue
    unschedulable : UnschedulablePods
    pre_enqueue : PreEnqueue
    nominator : Nominator
        Learns of nominations when a pod enters activeQ.
    counts : QueueCounts
    pop_early : bool
        The gate SchedulerPopFromBackoffQ: PreEnqueue is asked on entry to backoffQ, not on leaving it.
    """

    def __init__(
        self,
        clock: VirtualClock,
        backoff: BackoffQueue,
        unschedulable: UnschedulablePods,
        pre_enqueue: PreEnqueue,
        nominator: Nominator,
        counts: QueueCounts,
        *,
        pop_early: bool,
    ) -> None:
        self.active = PodHeap(lambda item: item.rank)
        self.backoff = backoff
        self.unschedulable = unschedulable
        self._clock = clock
        self._pre_enqueue = pre_enqueue
        self._nominator = nominator
        self._counts = counts
        self._pop_early = pop_early

    def __contains__(self, key: object) -> bool:
        return key in self.active or key in self.backoff or key in self.unschedulable

    def remove(self, key: str) -> None:
        """Forget a pod, wherever it is."""
        if key in self.active.by_key:
            self.active.remove(key)
        elif key in self.unschedulable.by_key:
            self.unschedulable.remove(key)
        else:
            self.backoff.remove(key)

    def requeue(self, item: QueuedPod, strategy: Strategy, event: str) -> str:
        """Put a pod where it belongs now.

        Parameters
        ----------
        item : QueuedPod
        strategy : Strategy
        event : str
            Why, for the counts.

        Returns
        -------
        str
            The place: `active`, `backoff` or `unschedulable`.
        """
        if strategy is Strategy.SKIP:
            return self.to_unschedulable(item, event)
        if strategy is Strategy.AFTER_BACKOFF and self.backoff.backs_off(item, self._clock.now):
            return self.to_backoff(item, event)
        return self.to_active(item, event)

    def to_unschedulable(self, item: QueuedPod, event: str) -> str:
        """Move a pod to the unschedulable pods, where it waits for an event."""
        if item.key not in self.unschedulable:
            self._counts.incoming[UNSCHEDULABLE, event] += 1
        self.unschedulable.put(item)
        return UNSCHEDULABLE

    def to_backoff(self, item: QueuedPod, event: str) -> str:
        """Move a pod to backoffQ, or let it wait if PreEnqueue keeps it out."""
        # It may be popped from there without passing activeQ.
        if self._pop_early and not self._pre_enqueue.run(item):
            return self.to_unschedulable(item, event)
        self.unschedulable.remove(item.key)
        self.backoff.push(item)
        self._counts.incoming[BACKOFF, event] += 1
        return BACKOFF

    def to_active(self, item: QueuedPod, event: str, *, from_backoff: bool = False) -> str:
        """Move a pod to activeQ, or let it wait if PreEnqueue keeps it out."""
        asked_before = from_backoff and self._pop_early
        if not asked_before and not self._pre_enqueue.run(item):
            return self.to_unschedulable(item, event)
        if item.initial_attempt is None:
            item.initial_attempt = self._clock.now
        if item.key in self.unschedulable.by_key:
            self.unschedulable.remove(item.key)
        self.active.push(item)
        self._counts.incoming[ACTIVE, event] += 1
        if event in _ENTRIES:
            self._nominator.add(item.pod)
        return ACTIVE
