"""backoffQ: pods that pay for a failed attempt with time.

A pod that plugins rejected and a pod whose attempt was an error wait in heaps of their own. With the gate
SchedulerPopFromBackoffQ, backoffs end in windows of whole seconds and inside a window priority counts, so
that an idle scheduler can take the best pod early.

Source: kube-scheduler 1.34.1 backend/queue/backoff_queue.go, KEP-5142.
"""

from .clock import SECOND, floor_to_second
from .heap import PodHeap
from .queued_pod import QueuedPod


class BackoffQueue:
    """Both heaps, and how long a pod has to wait.

    Parameters
    ----------
    initial, longest : int
        The first backoff, which doubles with each failure, and its limit (nanoseconds); a limit of 0 means
        that no pod backs off.
    windows : bool
        The gate SchedulerPopFromBackoffQ.

    Attributes
    ----------
    rejected, errors : PodHeap
        Pods that plugins rejected, and those whose attempt was an error; not to be changed.
    """

    def __init__(self, initial: int, longest: int, *, windows: bool) -> None:
        self._initial = initial
        self._longest = longest
        self._windows = windows
        self.rejected = PodHeap(
            lambda item: (self.expiration(item), *(item.rank if windows else (item.sequence,)))
        )
        self.errors = PodHeap(lambda item: (self.expiration(item), item.sequence))

    def __len__(self) -> int:
        return len(self.rejected.by_key) + len(self.errors.by_key)

    def __contains__(self, key: object) -> bool:
        return key in self.rejected or key in self.errors

    def duration(self, item: QueuedPod) -> int:
        """Return how long a pod backs off, counted from its return into the queue (nanoseconds)."""
        failures = item.consecutive_errors or item.unschedulable_count
        if failures == 0 or self._longest == 0:
            return 0
        # More doublings than these pass any limit.
        return min(self._initial << min(failures - 1, 62), self._longest)

    def expiration(self, item: QueuedPod) -> int:
        """Return when a pod's backoff ends (nanoseconds), with windows the second in which it does."""
        if item.expiration is None:
            end = item.timestamp + self.duration(item)
            item.expiration = floor_to_second(end) if self._windows else end
        return item.expiration

    def backs_off(self, item: QueuedPod, now: int) -> bool:
        """Whether a pod still has to wait; the second in which its backoff ends counts as waiting."""
        if self.duration(item) == 0:
            return False
        return self.expiration(item) >= (floor_to_second(now) if self._windows else now)

    def push(self, item: QueuedPod) -> None:
        """Add a pod that backs off."""
        self.remove(item.key)
        (self.rejected if item.rejectors else self.errors).push(item)

    def get(self, key: str) -> QueuedPod | None:
        """Return a pod by its key, or None."""
        return self.rejected.get(key) or self.errors.get(key)

    def remove(self, key: str) -> QueuedPod | None:
        """Take a pod by its key; None if it is not here."""
        if not (self.rejected.by_key or self.errors.by_key):
            return None
        return self.rejected.remove(key) or self.errors.remove(key)

    def pop_early(self) -> QueuedPod | None:
        """Take the first of the rejected pods although it still backs off; None if there is none."""
        return self.rejected.pop()

    def pop_completed(self, now: int) -> list[QueuedPod]:
        """Take all pods whose backoff is over."""
        completed: list[QueuedPod] = []
        for heap in (self.rejected, self.errors):
            while (first := heap.peek()) is not None and not self.backs_off(first, now):
                heap.pop()
                completed.append(first)
        return completed

    def next_completion(self) -> int | None:
        """Return the whole second at which the first backoff is seen to be over (nanoseconds), or None."""
        firsts = [first for heap in (self.rejected, self.errors) if (first := heap.peek()) is not None]
        if not firsts:
            return None
        return floor_to_second(min(self.expiration(first) for first in firsts)) + SECOND

    def pods(self) -> list[QueuedPod]:
        """Return all pods, those with errors last."""
        return [*self.rejected.pods(), *self.errors.pods()]
