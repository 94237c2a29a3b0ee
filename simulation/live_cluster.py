"""A cluster index and a state that follow a cluster through time.

`Cluster` is made for one instant. Here its nodes can be exchanged in place, at the cost of arrays over nodes;
what was computed for the old ones is dropped. Pods are *slots*: the pod in a slot can change as long as no
filter and no score can tell the two apart.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from ..framework.cycle.budget_ledger import Ledger
from ..framework.cycle.runtime import Framework
from ..framework.index.cluster import Cluster
from ..framework.index.taints import HARD_EFFECTS
from ..framework.state.counters import Counters
from ..framework.state.dirty_nodes import DirtyNodes
from ..framework.state.nominations import Nominations
from ..framework.state.state import State
from ..framework.vocabulary import names
from ..framework.vocabulary.arrays import Ints
from ..models.base import KubeModel
from ..models.config import PodTopologySpreadArgs
from ..models.node import Node, Taint
from ..models.requests import in_units

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EXACT_IN_64_BITS = 2**55
_ABSENT = object()
_OF_PODS = (
    "volume uses",
    "pods with volumes",
    "device index",
    "resources that devices serve",
    "budgets",
    "budget of",
    "groups",
    "group of pod",
)
"""What is kept by cluster and depends on pods and budgets alone."""

_NOT_OF_TAINTS: Final = frozenset(
    (
        *_OF_PODS,
        "framework",
        "image score",
        "groups about",
        "importance",
        "node selector",
        "node term",
        "nodes with keys",
        "required nodes",
        "scaled image sizes",
        "soft taints",
        "spread",
        "term groups",
        "wanted room",
    )
)
"""What is kept by cluster and does not depend on hard taints and cordons, or is told of them."""

_NOT_OF_EACH_POD: Final = _NOT_OF_TAINTS - {*_OF_PODS, "importance"} | {"tolerated", "eligible"}
"""What is kept by cluster and says nothing of single pods, only of their classes."""


class LiveCluster(Cluster):
    """A cluster whose nodes can be exchanged."""

    def takes(self, nodes: Iterable[Node]) -> bool:
        """Whether nodes can join without a change of dtype: their amounts are exact in 64 bits."""
        if self.dtype is object:
            return True
        return all(
            amount < _EXACT_IN_64_BITS
            for node in nodes
            if (n := self.node_index.get(node.name)) is None
            or self.nodes[n].status.allocatable is not node.status.allocatable
            for amount in in_units(node.status.allocatable).values()
        )

    def set_nodes(self, nodes: tuple[Node, ...]) -> None:
        """Exchange the nodes; those that are the same objects as before cost little."""
        before = {id(node): n for n, node in enumerate(self.nodes)}
        allocatable: NDArray[Any] = np.zeros((len(self.resources), len(nodes)), dtype=self.dtype)
        allowed = np.zeros(len(nodes), dtype=np.int64)
        old: list[int] = []
        new: list[int] = []
        for n, node in enumerate(nodes):
            known = before.get(id(node))
            if known is not None:
                old.append(known)
                new.append(n)
                continue
            offered = in_units(node.status.allocatable)
            allocatable[:, n] = [offered.get(name, 0) for name in self.resources]
            allowed[n] = offered.get("pods", 0)
        allocatable[:, new] = self.allocatable[:, old]
        allowed[new] = self.allowed_pods[old]
        self.allocatable, self.allowed_pods = allocatable, allowed
        self.nodes = nodes
        self.node_names = tuple(node.name for node in nodes)
        self.node_index = {name: n for n, name in enumerate(self.node_names)}
        self.n_nodes = len(nodes)
        self._forget_nodes()

    def change_nodes(self, changed: Mapping[int, Node]) -> bool:
        """Replace some nodes, by number, by their new versions; return whether pods are to be counted anew.

        Nodes are cordoned and tainted more often than anything else happens to them, and few things depend
        on it: then the rest of what is known about nodes stays.
        """
        if self._only_closed(changed):
            self._recast(changed)
            return False
        nodes = list(self.nodes)
        labels = False
        self.allocatable, self.allowed_pods = self.allocatable.copy(), self.allowed_pods.copy()
        for n, node in changed.items():
            labels |= node.metadata.labels != nodes[n].metadata.labels
            nodes[n] = node
            offered = in_units(node.status.allocatable)
            self.allocatable[:, n] = [offered.get(name, 0) for name in self.resources]
            self.allowed_pods[n] = offered.get("pods", 0)
        self.nodes = tuple(nodes)
        domains, ranks = self._domains, self.name_ranks
        self._forget_nodes()
        vars(self)["name_ranks"] = ranks
        if not labels:
            self._domains = domains
        return True

    def take(self, n: int, requests: Mapping[str, int]) -> None:
        """Let a node offer so much less, and one pod less, than its object says."""
        for name, amount in requests.items():
            r = self.resource_index.get(name)
            if r is not None:
                self.allocatable[r, n] = max(self.allocatable[r, n] - amount, 0)
        self.allowed_pods[n] -= 1

    def grow(self, sources: Sequence[int]) -> bool:
        """Add a slot for each of these, for pods like those in them; say whether that was possible."""
        usage = np.concatenate([self.usage, self.usage[sources]])
        nonzero = np.concatenate([self.nonzero, self.nonzero[sources]])
        if self.dtype is not object and float(usage.sum() + nonzero.sum()) >= _EXACT_IN_64_BITS / 2:
            return False
        first = len(self.pods)
        more = [self.pods[i].again() for i in sources]
        for index, info in enumerate(more, start=first):
            info.index = index
        self.pods = (*self.pods, *more)
        self.usage, self.nonzero = usage, nonzero
        self.unit_of = np.concatenate([self.unit_of, self.unit_of[sources]])
        vars(self).pop("guards", None)
        self._memo = {key: found for key, found in self._memo.items() if _topic(key) in _NOT_OF_EACH_POD}
        for framework in self._frameworks():
            framework.forget_pods()
        return True

    def _only_closed(self, changed: Mapping[int, Node]) -> bool:
        """Whether nodes differ from their old versions in hard taints and cordons only, for all pods."""
        return not self._counts_by_taints and all(
            _differ_in_closing_only(self.nodes[n], node) for n, node in changed.items()
        )

    @cached_property
    def _counts_by_taints(self) -> bool:
        """Whether a spread constraint may leave nodes out of its count because of their taints."""
        own = (c for info in self.pods for c in info.pod.spec.topology_spread_constraints)
        defaults = (
            c
            for profile in self.profiles.values()
            if isinstance(args := profile.args(names.POD_TOPOLOGY_SPREAD), PodTopologySpreadArgs)
            for c in args.default_constraints
        )
        return any(c.node_taints_policy == "Honor" for c in (*own, *defaults))

    def _recast(self, changed: Mapping[int, Node]) -> None:
        known = vars(self)
        tainted = {
            n: node.spec.taints
            for n, node in changed.items()
            if self.nodes[n].spec.taints != node.spec.taints
        }
        # In place: copies touch every node of a large cluster to exchange one.
        nodes = self.nodes = self.nodes if isinstance(self.nodes, list) else list(self.nodes)
        for n, node in changed.items():
            nodes[n] = node
        if "taints" in known and tainted:
            known["taints"] = self.taints.exchanged(tainted)
        if "cordoned" in known:
            cordoned = known["cordoned"] = self.cordoned.copy()
            for n, node in changed.items():
                cordoned[n] = node.spec.unschedulable
        memo = self._memo
        for key in [k for k in memo if (k[0] if isinstance(k, tuple) else k) not in _NOT_OF_TAINTS]:
            del memo[key]
        numbers = np.array(sorted(changed), dtype=np.int64)
        for framework in self._frameworks():
            framework.follow_taints(numbers)

    def _frameworks(self) -> list[Framework]:
        """Return the frameworks that there are, one for each profile at most."""
        found = (self._memo.get(("framework", name)) for name in self.profiles)
        return [framework for framework in found if framework is not None]

    def _forget_nodes(self) -> None:
        # What does not depend on nodes stays; which of them reach a device does, if there are any devices.
        self._memo = {
            key: found for key in _OF_PODS if (found := self._memo.get(key, _ABSENT)) is not _ABSENT
        }
        if self._memo.get("device index") is not None:
            del self._memo["device index"]
        self._domains = {}
        for name in ("name_ranks", "taints", "cordoned"):
            vars(self).pop(name, None)

    def fork(self) -> Self:
        """Return a cluster of the same pods whose nodes can be exchanged without effect on this one."""
        other = copy(self)
        other.nodes = tuple(self.nodes)
        other._forget_nodes()  # noqa: SLF001 (another of this class)
        return other

    def forget_starts(self) -> None:
        """Forget what was worked out from the pods' starts."""
        self._memo.pop("importance", None)


def _topic(key: Hashable) -> Hashable:
    return key[0] if isinstance(key, tuple) else key


def _differ_in_closing_only(old: Node, new: Node) -> bool:
    """Whether all that plugins read of a node is as it was, apart from hard taints and cordons."""
    if old.metadata is not new.metadata and old.metadata.labels != new.metadata.labels:
        return False
    if old.spec.taints is not new.spec.taints and _soft_taints(old) != _soft_taints(new):
        return False
    return _alike_but(old.spec, new.spec, _CLOSING) and _alike_but(old.status, new.status, _UNHEARD)


_CLOSING: Final = frozenset({"taints", "unschedulable"})
_UNHEARD: Final = frozenset({"conditions"})


def _alike_but(old: KubeModel, new: KubeModel, fields: frozenset[str]) -> bool:
    """Whether two parts of an object are equal in all other fields than some."""
    if old is new:
        return True
    for name in type(old).__pydantic_fields__:
        if name not in fields:
            before, after = getattr(old, name), getattr(new, name)
            if before is not after and before != after:
                return False
    return True


def _soft_taints(node: Node) -> list[Taint]:
    return [taint for taint in node.spec.taints if taint.effect not in HARD_EFFECTS]


class LiveState(State):
    """A state that follows its cluster's nodes."""

    __slots__ = ()

    def renumber(self, sources: Ints) -> None:
        """Follow an exchange of nodes; pods of nodes that go have left before.

        Where there are volumes or devices, nodes may only come, behind the others.

        Parameters
        ----------
        sources : int64[N]
            The old number of each node, -1 for a new one.
        """
        kept = np.flatnonzero(sources >= 0)
        old = sources[kept]
        highest = max(len(self.pod_count), 1)
        numbers = np.full(highest + 1, -1, dtype=np.int32)  # the last place is that of -1
        numbers[old] = kept

        def moved(table: Ints) -> Ints:
            found: Ints = np.zeros((*table.shape[:-1], len(sources)), dtype=table.dtype)
            found[..., kept] = table[..., old]
            return found

        self.node_of = numbers[self.node_of]
        self.requested = moved(self.requested)
        self.nonzero = moved(self.nonzero)
        self.pod_count = moved(self.pod_count)
        before = self._pods_on
        self._pods_on = [before[source] if source >= 0 else {} for source in sources.tolist()]
        self._counters = Counters(self.cluster.unit_of, len(sources))
        self.dirty_nodes = DirtyNodes()
        nominated = dict(self.nominated)
        for i in nominated:
            self.withdraw(i)
        self.nominations = Nominations(self.cluster)
        for i, node in nominated.items():
            if numbers[node] >= 0:
                self.nominate(i, int(numbers[node]))
        if self.volumes is not None:
            self.volumes = self.volumes.extended(self.cluster)
        if self.claims is not None:
            self.claims = self.claims.extended(self.cluster)

    def grow(self, slots: int) -> None:
        """Follow the cluster: there are more slots, nobody in them."""
        self.node_of = np.concatenate([self.node_of, np.full(slots, -1, dtype=self.node_of.dtype)])
        self.terminating = np.concatenate([self.terminating, np.zeros(slots, dtype=np.bool_)])
        self._counters.follow(self.cluster.unit_of)
        nominated = dict(self.nominated)
        self.nominations = Nominations(self.cluster)
        for i, node in nominated.items():
            self.nominations.nominate(i, node)

    def forget_counts(self) -> None:
        """Count anew, and ask about every node anew: nodes have changed."""
        self._counters = Counters(self.cluster.unit_of, len(self.pod_count))
        self.dirty_nodes = DirtyNodes()

    def fork(self, cluster: LiveCluster) -> "LiveState":
        """Return an independent copy on a fork of the cluster."""
        other = self.copy()
        other.cluster = cluster
        assert isinstance(other, LiveState)
        return other


class LiveLedger(Ledger):
    """The budgets as they are now.

    Parameters
    ----------
    cluster : Cluster
    allowed : list of int
        What is left of each budget, by `Budget.index`.
    paid : iterable of int
        Pods whose disruption is paid for.
    """

    __slots__ = ()

    def __init__(self, cluster: Cluster, allowed: list[int], paid: Iterable[int]) -> None:
        super().__init__(cluster)
        self.allowed = allowed
        self._paid = set(paid)
