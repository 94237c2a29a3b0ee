"""Which pods expect room on which node, and how much room that is.

A pod has to leave room for the others that are nominated to a node and are of no lower priority than it is.
What they would take is kept by node for the priorities that were asked about, so that neither a change nor a
question costs a pass over all nominated pods.

Pods in flight are no longer in the queue: the others see each of them as an empty pod of priority 0, which
takes a slot and nothing else.

Sources: kube-scheduler 1.34.1 backend/queue/nominator.go, schedule_one.go (addGENominatedPods); 1.36.2
backend/queue/scheduling_queue.go (nominatedPodToInfo) for pods in flight.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ..vocabulary.arrays import Ints
from .dirty_nodes import DirtyNodes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..index.cluster import Cluster

_MOST_PRIORITIES: Final = 8
"""For how many priorities room is kept; the ones not asked for longest go first."""


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """What some nominated pods would take on each node.

    Attributes
    ----------
    usage : int[R, N]
        As `State.requested`.
    count : int64[N]
        How many pods they are.
    """

    usage: "NDArray[Any]"
    count: Ints

    def change(self, n: int, usage: "NDArray[Any]", by: int) -> None:
        """Add (by 1) or subtract (by -1) a pod with this usage (int[R]) on node n."""
        self.usage[:, n] += by * usage
        self.count[n] += by


class Beside(NamedTuple):
    """Whom a pod must leave room for on a node: pods, and how many empty ones."""

    pods: list[int]
    empty: int


class Nominations:
    """The nominated pods of one state.

    Attributes
    ----------
    node_of : dict
        Pod to node.
    in_flight : frozenset of int
        The pods that are no longer in the queue.
    dirty_nodes : DirtyNodes
        Where nominations have changed.
    """

    __slots__ = (
        "_at", "_expected", "_n_nodes", "_on", "_pods", "_usage", "dirty_nodes", "in_flight", "node_of",
    )  # fmt: skip

    def __init__(self, cluster: "Cluster") -> None:
        self._pods = cluster.pods
        self._usage = cluster.usage
        self._n_nodes = cluster.n_nodes
        self.node_of: dict[int, int] = {}
        self._on: dict[int, tuple[int, ...]] = {}
        self._at: NDArray[np.int32] = np.full(len(cluster.pods), -1, dtype=np.int32)
        self._expected: dict[int, Expected] = {}
        self.in_flight: frozenset[int] = frozenset()
        self.dirty_nodes = DirtyNodes()

    def fly(self, pods: Iterable[int]) -> None:
        """Let these pods be in flight, and no others."""
        self.in_flight = frozenset(pods)
        self._expected.clear()
        self.dirty_nodes = DirtyNodes()

    def nominate(self, i: int, n: int) -> None:
        """Nominate pod i to node n, and to no other."""
        self.withdraw(i)
        self.node_of[i] = n
        self._at[i] = n
        self._on[n] = (*self._on.get(n, ()), i)
        self._change(i, n, 1)

    def withdraw(self, i: int) -> bool:
        """Withdraw pod i's nomination; return whether there was one."""
        n = self.node_of.pop(i, None)
        if n is None:
            return False
        self._at[i] = -1
        left = tuple(j for j in self._on[n] if j != i)
        if left:
            self._on[n] = left
        else:
            del self._on[n]
        self._change(i, n, -1)
        return True

    def on(self, n: int) -> tuple[int, ...]:
        """Return the pods nominated to node n that are not in flight, in order of arrival."""
        there = self._on.get(n, ())
        return tuple(j for j in there if j not in self.in_flight) if self.in_flight else there

    def beside(self, i: int, n: int) -> Beside:
        """Return whom pod i must leave room for on node n: others nominated to it, of no lower priority."""
        return self._beside(i, self._on.get(n, ()), self.in_flight)

    def beside_now(self, i: int, nodes: Iterable[int]) -> Callable[[int], Beside]:
        """Return what answers as `beside` does now, also later on; for some nodes only."""
        on, flying = {n: self._on[n] for n in nodes}, self.in_flight
        return lambda n: self._beside(i, on.get(n, ()), flying)

    def _beside(self, i: int, there: Sequence[int], flying: frozenset[int]) -> Beside:
        pods, least = self._pods, self._pods[i].priority
        named = [j for j in there if j != i and pods[j].priority >= least and j not in flying]
        empty = sum(j != i and j in flying for j in there) if flying and least <= 0 else 0
        return Beside(named, empty)

    def all_beside(self, i: int) -> dict[int, list[int]]:
        """Return the pods of `beside` for every node where there are any, by node in input order."""
        return {n: found for n in sorted(self._on) if (found := self.beside(i, n).pods)}

    def among(self, i: int, pods: Ints) -> tuple[Ints, Ints]:
        """Return which of some pods are among those of `beside`, and the node of each; int64[K] both."""
        infos, least, flying = self._pods, self._pods[i].priority, self.in_flight
        found = [
            j
            for j in pods[self._at[pods] >= 0].tolist()
            if j != i and infos[j].priority >= least and j not in flying
        ]
        named = np.array(found, dtype=np.int64)
        return named, self._at[named].astype(np.int64)

    def expected(self, i: int) -> Expected:
        """Return what the pods of `beside` would take; of this moment, not to be written to."""
        least = self._pods[i].priority
        found = self._expected.pop(least, None)
        if found is None:
            found = self._count(least)
            if len(self._expected) >= _MOST_PRIORITIES:
                del self._expected[next(iter(self._expected))]
        self._expected[least] = found
        if i in self.node_of and self._priority(i) >= least:
            found = Expected(found.usage.copy(), found.count.copy())
            found.change(self.node_of[i], self._takes(i), -1)
        return found

    def _priority(self, j: int) -> int:
        return 0 if j in self.in_flight else self._pods[j].priority

    def _takes(self, j: int) -> "NDArray[Any]":
        usage: NDArray[Any] = self._usage[j]
        return np.zeros_like(usage) if j in self.in_flight else usage

    def _count(self, least: int) -> Expected:
        usage = np.zeros((self._usage.shape[1], self._n_nodes), dtype=self._usage.dtype)
        expected = Expected(usage, np.zeros(self._n_nodes, dtype=np.int64))
        for j, n in self.node_of.items():
            if self._priority(j) >= least:
                expected.change(n, self._takes(j), 1)
        return expected

    def _change(self, i: int, n: int, by: int) -> None:
        self.dirty_nodes.note(n)
        for least, expected in self._expected.items():
            if self._priority(i) >= least:
                expected.change(n, self._takes(i), by)

    def copy(self) -> "Nominations":
        """Return an independent copy."""
        other = object.__new__(type(self))
        other._pods, other._usage, other._n_nodes = self._pods, self._usage, self._n_nodes
        other.node_of = dict(self.node_of)
        other._on = dict(self._on)
        other._at = self._at.copy()
        other._expected = {}  # most copies are never asked
        other.in_flight = self.in_flight
        other.dirty_nodes = DirtyNodes()
        return other
