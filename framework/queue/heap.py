"""A heap of pods from which any pod can be taken by its key."""

import heapq
from collections.abc import Callable

from .queued_pod import QueuedPod

Order = tuple[int, ...]


class PodHeap:
    """Pods by a fixed order; a pod's place is settled when it is pushed.

    Parameters
    ----------
    order : callable
        A pod's place; never equal for two pods.

    Attributes
    ----------
    by_key : dict
        The pods with their places; not to be changed.
    """

    def __init__(self, order: Callable[[QueuedPod], Order]) -> None:
        self._order = order
        self._heap: list[tuple[Order, str]] = []
        self.by_key: dict[str, tuple[Order, QueuedPod]] = {}

    def __len__(self) -> int:
        return len(self.by_key)

    def __contains__(self, key: object) -> bool:
        return key in self.by_key

    def push(self, item: QueuedPod) -> None:
        """Add a pod, or move it to where it belongs now."""
        order = self._order(item)
        self.by_key[item.key] = (order, item)
        heapq.heappush(self._heap, (order, item.key))

    def get(self, key: str) -> QueuedPod | None:
        """Return a pod by its key, or None."""
        found = self.by_key.get(key)
        return None if found is None else found[1]

    def peek(self) -> QueuedPod | None:
        """Return the first pod without taking it, or None."""
        while self._heap:
            order, key = self._heap[0]
            found = self.by_key.get(key)
            if found is not None and found[0] == order:
                return found[1]
            heapq.heappop(self._heap)  # taken by its key, or moved
        return None

    def pop(self) -> QueuedPod | None:
        """Take the first pod, or None."""
        if not self.by_key:
            return None
        first = self.peek()
        if first is not None:
            heapq.heappop(self._heap)
            del self.by_key[first.key]
        return first

    def remove(self, key: str) -> QueuedPod | None:
        """Take a pod by its key; None if it is not here."""
        found = self.by_key.pop(key, None)
        return None if found is None else found[1]

    def pods(self) -> list[QueuedPod]:
        """Return all pods in their order."""
        return [item for _, item in sorted(self.by_key.values(), key=lambda entry: entry[0])]
