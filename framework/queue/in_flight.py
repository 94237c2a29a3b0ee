"""Pods that are being scheduled, and the events that came meanwhile.

An event is kept as long as a pod is in flight that already was when it came: that pod has not seen it yet,
and when it comes back rejected the event may be just what it needs.

Source: kube-scheduler 1.34.1 backend/queue/active_queue.go, KEP-4247.
"""

from collections import Counter, deque
from collections.abc import Iterator
from itertools import dropwhile

from ..events.changes import Occurrence
from .queued_pod import QueuedPod


class InFlight:
    """One ordered list of pods and events; an event concerns the pods in front of it.

    Attributes
    ----------
    pods_by_uid : dict
        The pods with their places in the list; not to be changed.
    """

    def __init__(self) -> None:
        self.pods_by_uid: dict[str, tuple[int, QueuedPod]] = {}
        self._events: deque[tuple[int, Occurrence]] = deque()
        self._position = 0

    def __contains__(self, uid: object) -> bool:
        return uid in self.pods_by_uid

    def __bool__(self) -> bool:
        return bool(self.pods_by_uid)

    @property
    def n_events(self) -> int:
        """How many events are kept."""
        return len(self._events)

    def by_event(self) -> Counter[str]:
        """Return how many events are kept, by event."""
        return Counter(str(happened.event) for _, happened in self._events)

    def start(self, item: QueuedPod) -> None:
        """Put a pod at the end of the list."""
        self._position += 1
        self.pods_by_uid[item.uid] = (self._position, item)

    def record(self, happened: Occurrence) -> None:
        """Put an event at the end of the list, if any pod needs it."""
        if self.pods_by_uid:
            self._position += 1
            self._events.append((self._position, happened))

    def events_for(self, uid: str) -> Iterator[Occurrence]:
        """Yield the events that came since a pod was popped, in order."""
        start = self.pods_by_uid[uid][0]
        for _, happened in dropwhile(lambda entry: entry[0] < start, self._events):
            yield happened

    def done(self, uid: str) -> None:
        """Take a pod off the list, with the events that no pod needs any more."""
        if self.pods_by_uid.pop(uid, None) is None:
            return
        if not self._events:
            return
        # Pods are in the order of their positions, since they only ever come at the end.
        oldest = next(iter(self.pods_by_uid.values()))[0] if self.pods_by_uid else self._position + 1
        while self._events and self._events[0][0] < oldest:
            self._events.popleft()

    def pods(self) -> list[QueuedPod]:
        """Return the pods, first popped first."""
        return [item for _, item in self.pods_by_uid.values()]
