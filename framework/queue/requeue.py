"""The pods that an event makes worth another attempt.

Source: kube-scheduler 1.34.1 backend/queue/scheduling_queue.go (isPodWorthRequeuing), KEP-4247.
"""

from collections import Counter
from collections.abc import Mapping
from enum import IntEnum

from ...models.pod import Pod
from ..events.changes import Audience, Occurrence, identity
from ..events.events import ClusterEvent
from ..hints.base import Registration, ask
from ..hints.registry import HintMap
from .counts import QueueCounts
from .queued_pod import QueuedPod
from .unschedulable import Group, UnschedulablePods


class Strategy(IntEnum):
    """How a pod goes back into the queue."""

    SKIP = 0
    """It stays where it is."""
    AFTER_BACKOFF = 1
    IMMEDIATELY = 2
    """Its last attempt was not wasted: the plugin that now says Queue had answered Pending."""


class Judge:
    """Asks the hints.

    Parameters
    ----------
    hints : mapping
        The hints of each profile by schedulerName.
    counts : QueueCounts
        Where questions are counted.
    """

    def __init__(self, hints: Mapping[str, HintMap], counts: QueueCounts) -> None:
        self.hints = hints
        self._counts = counts
        self._interest: dict[ClusterEvent, bool] = {}

    def know(self, item: QueuedPod) -> None:
        """Make sure that every rejector of a pod is known; one without hints waits for everything."""
        hints = self.hints[item.scheduler]
        for plugin in item.rejectors:
            if hints.know(plugin):
                self._interest.clear()

    def of_interest(self, event: ClusterEvent) -> bool:
        """Whether any plugin waits for an event."""
        found = self._interest.get(event)
        if found is None:
            found = event.is_wildcard or any(hints.matching(event) for hints in self.hints.values())
            self._interest[event] = found
        return found

    def ask(
        self, plugin: str, registration: Registration, item: QueuedPod, happened: Occurrence, pods: int = 1
    ) -> bool:
        """Call one hint for a pod that represents several; return whether it answers Queue."""
        answer, failed = ask(registration.function, item.pod, happened.old, happened.new)
        verdict = "Error" if failed else answer.text
        self._counts.hints[plugin, str(happened.event), verdict] += pods
        self._counts.evaluations += 1
        return answer.queue

    def worth(self, item: QueuedPod, happened: Occurrence) -> Strategy:
        """Return how one pod goes back into the queue because of an event."""
        rejectors = item.rejectors
        if not rejectors:
            return Strategy.AFTER_BACKOFF
        if happened.event.is_wildcard:
            # One that names a pod is meant for that pod.
            other = isinstance(happened.new, Pod) and identity(happened.new) != item.uid
            return Strategy.SKIP if other else Strategy.AFTER_BACKOFF
        strategy = Strategy.SKIP
        for plugin, registration in self.hints[item.scheduler].matching(happened.event):
            if plugin in rejectors and self.ask(plugin, registration, item, happened):
                if plugin in item.pending_plugins:
                    return Strategy.IMMEDIATELY
                if not item.pending_plugins:
                    return Strategy.AFTER_BACKOFF
                strategy = Strategy.AFTER_BACKOFF
        return strategy

    def woken(self, waiting: UnschedulablePods, happened: Occurrence) -> dict[QueuedPod, Strategy]:
        """Find all waiting pods that an event wakes.

        Only the groups of plugins that wait for the event are looked at, and each is asked about once.

        Returns
        -------
        dict
            Pods and how they go back; pods that are left out stay.
        """
        if not len(waiting):
            return {}
        survey = _Survey(self, waiting, happened)
        event = happened.event
        highest: int | None = None
        if happened.audience is Audience.LOWER_OR_EQUAL and isinstance(happened.old, Pod):
            highest = happened.old.priority
        for scheduler, hints in self.hints.items():
            for plugin, registration in hints.matching(event):
                for group in waiting.groups(scheduler, plugin):
                    if highest is not None and group.priority > highest:
                        continue
                    if group.gating_plugin and not hints.waits(group.gating_plugin, event):
                        continue
                    survey.ask(plugin, registration, group)
        return survey.found


class _Survey:
    """One event, asked about group by group. A settled pod has its answer and is not asked about again."""

    def __init__(self, judge: Judge, waiting: UnschedulablePods, happened: Occurrence) -> None:
        self.found: dict[QueuedPod, Strategy] = {}
        self._judge = judge
        self._waiting = waiting
        self._happened = happened
        self._settled: set[QueuedPod] = set()
        self._n_settled: Counter[Group] = Counter()
        changed = happened.new if happened.new is not None else happened.old
        self._own = changed.key if isinstance(changed, Pod) else ""

    def ask(self, plugin: str, registration: Registration, group: Group) -> None:
        """Ask about the changed pod alone and about all others of a group at once."""
        own = group.pods.get(self._own)
        if own is not None and own in self._settled:
            own = None
        others = len(group.pods) - self._n_settled[group] - (own is not None)
        if own is not None and self._judge.ask(plugin, registration, own, self._happened):
            self._wake(own, plugin)
        if others:
            one = next(item for item in group.pods.values() if item.key != self._own)
            if self._judge.ask(plugin, registration, one, self._happened, others):
                for item in group.pods.values():
                    if item.key != self._own and item not in self._settled:
                        self._wake(item, plugin)

    def _wake(self, item: QueuedPod, plugin: str) -> None:
        if plugin in item.pending_plugins:
            self.found[item] = Strategy.IMMEDIATELY
        else:
            self.found.setdefault(item, Strategy.AFTER_BACKOFF)
            if item.pending_plugins:
                return  # one of those may still let it skip its backoff
        self._settled.add(item)
        for group in self._waiting.groups_of(item):
            self._n_settled[group] += 1
