"""Which pod is where, and the sums over it: the only thing in a round that changes.

Sums are kept up to date by every change, so that a plugin's look at all nodes costs O(N) and never a pass
over pods.
"""

from collections.abc import Hashable, Iterable, Mapping
from itertools import count
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..dra.allocation import Allocation
from ..dra.state import ClaimState
from ..index.matchers import Matcher
from ..vocabulary.arrays import Bools, Ints
from ..vocabulary.domains import Bins
from ..volumes.state import VolumeState
from .counters import Counters
from .dirty_nodes import DirtyNodes
from .nominations import Nominations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..index.cluster import Cluster

_versions = count(1)

NO_ALLOCATIONS: Final[Mapping[str, Allocation]] = MappingProxyType({})


class State:
    """Pods on nodes.

    Attributes
    ----------
    cluster : Cluster
    node_of : int32[P]
        Each pod's node, -1 for none.
    terminating : bool[P]
        A terminating pod holds everything, but no longer counts for topology spread.
    requested : int[R, N], nonzero : int[2, N], pod_count : int64[N]
        Sums over the pods of each node; dtype as in `Cluster.allocatable`.
    volumes : VolumeState or None
        What pods hold of volumes, and what a round binds; None where no pod has any of interest.
    claims : ClaimState or None
        Which claims have which devices; None where nothing has to do with devices.
    nominations : Nominations
        Which pods expect room on which node; changed by `nominate` and `withdraw`.
    dirty_nodes : DirtyNodes
        Which nodes' pods have changed, in order.
    version, nominations_version : int
        Change with every change of where pods are, and of the nominations. States of equal version are equal
        in that.
    """

    __slots__ = (
        "_counters",
        "_pods_on",
        "claims",
        "cluster",
        "dirty_nodes",
        "node_of",
        "nominations",
        "nominations_version",
        "nonzero",
        "pod_count",
        "requested",
        "terminating",
        "version",
        "volumes",
    )

    def __init__(self, cluster: "Cluster") -> None:
        n, p = cluster.n_nodes, len(cluster.pods)
        self.cluster = cluster
        self.node_of: NDArray[np.int32] = np.full(p, -1, dtype=np.int32)
        self.terminating: Bools = np.zeros(p, dtype=np.bool_)
        self.requested: NDArray[Any] = np.zeros((len(cluster.resources), n), dtype=cluster.dtype)
        self.nonzero: NDArray[Any] = np.zeros((2, n), dtype=cluster.dtype)
        self.pod_count: Ints = np.zeros(n, dtype=np.int64)
        self.nominations = Nominations(cluster)
        self._pods_on: list[dict[int, None]] = [{} for _ in range(n)]
        self._counters = Counters(cluster.unit_of, n)
        self.dirty_nodes = DirtyNodes()
        self.volumes = VolumeState.of(cluster)
        self.claims = ClaimState.of(cluster)
        self.version = next(_versions)
        self.nominations_version = next(_versions)

    @classmethod
    def initial(cls, cluster: "Cluster", *, nominations: bool = False) -> "State":
        """Return the state of the input: bound pods in place, terminating ones marked.

        Parameters
        ----------
        cluster : Cluster
        nominations : bool
            Whether pending pods keep the nominated node of the input (where it exists), as in greedy cycles.
        """
        state = cluster.memo(("state of the input", cls), lambda: cls._of_input(cluster)).copy()
        if nominations:
            for i in cluster.pending:
                name = cluster.pods[i].nominated
                if name in cluster.node_index:
                    state.nominate(i, cluster.node_index[name])
        return state

    @classmethod
    def _of_input(cls, cluster: "Cluster") -> "State":
        state = cls(cluster)
        bound = np.array(cluster.bound, dtype=np.int64)
        nodes = np.array([cluster.pods[i].initial_node for i in cluster.bound], dtype=np.int64)
        state.node_of[bound] = nodes
        np.add.at(state.requested.T, nodes, cluster.usage[bound])
        np.add.at(state.nonzero.T, nodes, cluster.nonzero[bound])
        state.pod_count += np.bincount(nodes, minlength=cluster.n_nodes)
        state.terminating[bound] = [cluster.pods[i].terminating for i in cluster.bound]
        for i, n in zip(cluster.bound, nodes.tolist(), strict=True):
            state._pods_on[n][i] = None
            if state.volumes is not None:
                state.volumes.place(i, n)
        return state  # running pods have the devices that the input says, whatever they ask for

    def place(self, i: int, n: int, allocations: Mapping[str, Allocation] = NO_ALLOCATIONS) -> None:
        """Put pod i, which is on no node, on node n.

        Parameters
        ----------
        i, n : int
        allocations : mapping
            Devices for those of its claims that have none yet, by claim (`Framework.reserve`).
        """
        cluster = self.cluster
        self.node_of[i] = n
        self._pods_on[n][i] = None
        requested, nonzero = self.requested[:, n], self.nonzero[:, n]  # views: nothing is written back
        requested += cluster.usage[i]
        nonzero += cluster.nonzero[i]
        self.pod_count[n] += 1
        unit = cluster.pods[i].unit
        self._counters.change(unit, n, 1, alive=False)
        if not self.terminating[i]:
            self._counters.change(unit, n, 1, alive=True)
        if self.volumes is not None:
            self.volumes.place(i, n)
        if self.claims is not None:
            self.claims.place(i, allocations)
        self.dirty_nodes.note(n)
        self.version = next(_versions)

    def remove(self, i: int, *, devices: bool = True) -> None:
        """Remove pod i from its node; it is no longer terminating either.

        Volume claims that it bound stay bound.

        Parameters
        ----------
        i : int
        devices : bool
            Whether resource claims that no other pod needs give their devices back: preemption's dry runs do
            not see that they would.
        """
        n = self._leave(i)
        if devices and self.claims is not None:
            self.claims.remove(i)
        if self.volumes is not None:
            self.volumes.remove(i, n)

    def take_back(self, i: int) -> None:
        """Undo the last `place`, which was of pod i: as `remove`, but its claims are as they were before."""
        n = self._leave(i)
        if self.volumes is not None:
            self.volumes.take_back(i, n)
        if self.claims is not None:
            self.claims.take_back(i)

    def allocate(self, claim: str, allocation: Allocation) -> None:
        """Allocate a claim before any pod needs it."""
        assert self.claims is not None
        self.claims.allocate(claim, allocation)
        self.version = next(_versions)

    def deallocate(self, claim: str) -> None:
        """Deallocate a claim that no pod needs."""
        assert self.claims is not None
        self.claims.deallocate(claim)
        self.version = next(_versions)

    def _leave(self, i: int) -> int:
        """Take pod i off its node, which is returned."""
        cluster = self.cluster
        n = int(self.node_of[i])
        del self._pods_on[n][i]
        requested, nonzero = self.requested[:, n], self.nonzero[:, n]
        requested -= cluster.usage[i]
        nonzero -= cluster.nonzero[i]
        self.pod_count[n] -= 1
        unit = cluster.pods[i].unit
        self._counters.change(unit, n, -1, alive=False)
        if not self.terminating[i]:
            self._counters.change(unit, n, -1, alive=True)
        self.node_of[i] = -1
        self.terminating[i] = False
        self.dirty_nodes.note(n)
        self.version = next(_versions)
        return n

    def bindings(self) -> Hashable:
        """Return what placing pods has bound, beside where they are: equal means the same to pods to come."""
        return (
            () if self.volumes is None else self.volumes.bindings(),
            () if self.claims is None else self.claims.bindings(),
        )

    def mark(self, i: int) -> None:
        """Mark pod i as terminating; marking it again changes nothing."""
        self._set_terminating(i, terminating=True)

    def unmark(self, i: int) -> None:
        """Take a mark back."""
        self._set_terminating(i, terminating=False)

    def _set_terminating(self, i: int, *, terminating: bool) -> None:
        if bool(self.terminating[i]) == terminating:
            return
        self.terminating[i] = terminating
        n = int(self.node_of[i])
        if n >= 0:
            self._counters.change(self.cluster.pods[i].unit, n, -1 if terminating else 1, alive=True)
            self.dirty_nodes.note(n)
        self.version = next(_versions)

    @property
    def nominated(self) -> Mapping[int, int]:
        """Pod to node, for pods that expect room there."""
        return self.nominations.node_of

    def nominate(self, i: int, n: int) -> None:
        """Nominate pod i, which is on no node, to node n."""
        self.nominations.nominate(i, n)
        self.nominations_version = next(_versions)

    def withdraw(self, i: int) -> None:
        """Withdraw the nomination of pod i, if there is one."""
        if self.nominations.withdraw(i):
            self.nominations_version = next(_versions)

    def fly(self, pods: Iterable[int]) -> None:
        """Let pods be in flight, and no others: of their nominations others see no more than a slot each."""
        self.nominations.fly(pods)
        self.nominations_version = next(_versions)

    def pods_on(self, n: int) -> list[int]:
        """Return the pods of node n in order of arrival."""
        return list(self._pods_on[n])

    def counts(self, matcher: Matcher, *, alive: bool = False) -> Ints:
        """Return how much the pods of each node count for a matcher.

        Parameters
        ----------
        matcher : Matcher
            Of this cluster's `units`.
        alive : bool
            Whether terminating pods are left out (topology spread) or counted (everything else).

        Returns
        -------
        int64[N]
            Live: it follows later changes, and is not to be written to.
        """
        return self._counters.get(matcher, None, self.node_of, self.terminating if alive else None)

    def tally(self, matcher: Matcher, bins: Bins, *, alive: bool = False) -> Ints:
        """Return how much the pods of each domain count for a matcher.

        Parameters
        ----------
        matcher : Matcher
        bins : Bins
            The nodes that take part, by domain.
        alive : bool
            As in `counts`.

        Returns
        -------
        int64[bins.size]
            Of this moment, the caller's own.
        """
        terminating = self.terminating if alive else None
        return self._counters.get(matcher, bins, self.node_of, terminating)[:-1].copy()

    def copy(self) -> "State":
        """Return an independent copy."""
        other = object.__new__(type(self))
        other.cluster = self.cluster
        other.node_of = self.node_of.copy()
        other.terminating = self.terminating.copy()
        other.requested = self.requested.copy()
        other.nonzero = self.nonzero.copy()
        other.pod_count = self.pod_count.copy()
        other.nominations = self.nominations.copy()
        other._pods_on = [dict(pods) for pods in self._pods_on]
        other._counters = self._counters.copy()
        other.volumes = None if self.volumes is None else self.volumes.copy()
        other.claims = None if self.claims is None else self.claims.copy()
        other.dirty_nodes = DirtyNodes()
        # a version of its own: what plugins learnt about this state may hold its live counters
        other.version = next(_versions)
        other.nominations_version = self.nominations_version
        return other

    def without_nominations(self) -> "State":
        """Return a copy without nominations."""
        other = self.copy()
        for i in self.nominated:
            other.withdraw(i)
        return other
