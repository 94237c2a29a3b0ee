"""The round as the encoders see it: classes of pending pods, classes of possible victims, budgets, numbers.

Classes, not pods: pending pods with one scheduling signature (`framework.index.cluster.PodInfo.cls`) are one
`PodClass` and a model counts them; running pods of one node that cost and free the same are one
`VictimClass`. Everything here is computed once from the framework's index and never changes during the
search.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from ..framework.rules.belonging import belonging_level

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from ..framework.index.cluster import Cluster
    from ..framework.rules.budgets import Budget
    from ..framework.state.state import State
    from ..framework.vocabulary.arrays import Bools, Ints
    from .dra.problem import DeviceProblem
    from .mobility import Mobility

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class PodClass:
    """Pending pods that no filter, score or objective can tell apart.

    Attributes
    ----------
    pods : tuple of int
        Members, in queue order.
    request : int array (R,)
        What one member asks for, in units of `Cluster.resources`; 0 for what its profile ignores.
    bounded : bool
        Whether its profile holds it to the room of nodes at all: resources and pod slots.
    mask : bool array (N,)
        Nodes where one member may stand in some end state: static filters pass and the node has the room once
        every possible victim has left.
    served : dict
        Resource row -> nodes where devices serve the request, since the node does not offer it (KEP-5004).
    limit : int array (N,)
        Most members that can stand on a node at once; 0 where `mask` is false.
    """

    index: int
    pods: tuple[int, ...]
    priority: int
    preempts: bool
    request: Ints
    bounded: bool
    mask: Bools
    limit: Ints
    served: dict[int, Bools]

    @property
    def pod(self) -> int:
        """A member that stands for all."""
        return self.pods[0]

    @property
    def size(self) -> int:
        """How many pods are pending in this class."""
        return len(self.pods)


@dataclass(frozen=True, eq=False)
class VictimClass:
    """Running pods of one node that a plan may evict and that cost and free the same.

    Attributes
    ----------
    pods : tuple of int
        Members, the least important first (kube-scheduler's importance: earlier start is more important).
    free : bool
        They terminate already in the input: using their room costs nothing.
    guard : int or None
        `allowDisruptionByPriorityGreaterThanOrEqual` (KEP-4664).
    charges : tuple of int
        Indices into `Problem.budgets` of the budgets that one eviction draws on.
    unit : int or None
        The group that is evicted whole, these members with it; None where each leaves by itself.
    """

    index: int
    node: int
    pods: tuple[int, ...]
    priority: int
    usage: Ints
    free: bool
    guard: int | None
    charges: tuple[int, ...]
    unit: int | None = None

    @property
    def pod(self) -> int:
        """A member that stands for all."""
        return self.pods[0]

    @property
    def size(self) -> int:
        """How many pods run in this class."""
        return len(self.pods)


@dataclass(frozen=True, eq=False)
class Problem:
    """All that encoders read: `cluster`, its initial `state`, the classes and the budgets.

    With `moving` running pods move instead of being evicted: the `victims` are who may move, and what their
    controllers make in their place is among the classes.

    Attributes
    ----------
    optional : frozenset of int
        Nodes that are there only where the solution buys them (`solver/provision`). Nothing runs on one but
        its DaemonSets' pods.
    """

    cluster: Cluster
    state: State
    classes: tuple[PodClass, ...]
    victims: tuple[VictimClass, ...]
    budgets: tuple[Budget, ...]
    levels: tuple[int, ...]
    devices: DeviceProblem | None = None
    mobility: Mobility | None = None
    victims_on: dict[int, tuple[VictimClass, ...]] = field(default_factory=dict)
    optional: frozenset[int] = frozenset()
    _memo: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    def memo(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make()` returned the first time this key was asked for."""
        if key not in self._memo:
            self._memo[key] = make()
        return cast("T", self._memo[key])

    def belongs_to(self, priority: int, guard: int | None = None) -> int | None:
        """Return the level at which a victim counts, given its guard if it violates; or None."""
        return belonging_level(self.levels, priority, guard)

    @cached_property
    def units(self) -> dict[int, tuple[VictimClass, ...]]:
        """Group that may be evicted whole -> its classes of victims, which leave together."""
        found: dict[int, list[VictimClass]] = {}
        for v in self.victims:
            if v.unit is not None:
                found.setdefault(v.unit, []).append(v)
        return {unit: tuple(victims) for unit, victims in found.items()}

    def asking(self, plugin: str, classes: Iterable[PodClass]) -> list[PodClass]:
        """Return the classes whose profile filters with a plugin."""
        return [c for c in classes if self.cluster.profile(c.pod).filters(plugin)]

    @property
    def fits_in_64_bits(self) -> bool:
        """Whether amounts of resources, and sums and products of them, are within 64 bits."""
        return self.cluster.dtype is np.int64

    @cached_property
    def free_now(self) -> Ints:
        """Allocatable minus what runs, (R, N); negative where a node is over-committed."""
        return np.asarray(self.cluster.allocatable - self.state.requested)

    @cached_property
    def slots_now(self) -> Ints:
        """Free pod slots of each node, (N,)."""
        return np.asarray(self.cluster.allowed_pods - self.state.pod_count)

    @cached_property
    def most_free(self) -> Ints:
        """What each node has free once every possible victim has left, (R, N); negative beyond that."""
        free = self.free_now.copy()
        for v in self.victims:
            free[:, v.node] += v.usage * v.size
        return free

    @cached_property
    def most_slots(self) -> Ints:
        """Pod slots of each node that are free once every possible victim has left, (N,)."""
        slots = self.slots_now.copy()
        for v in self.victims:
            slots[v.node] += v.size
        return slots

    @cached_property
    def _victim_pods(self) -> frozenset[int]:
        return frozenset(p for v in self.victims for p in v.pods)

    @cached_property
    def staying_pods(self) -> frozenset[int]:
        """The `fixed_pods` as a set."""
        return frozenset(self.fixed_pods)

    @cached_property
    def fixed_pods(self) -> tuple[int, ...]:
        """Running pods that no plan evicts."""
        return tuple(p for p in self.cluster.bound if p not in self._victim_pods)

    def by_labels(self, matches: Callable[[int], bool]) -> Callable[[int], bool]:
        """Memoise a relation that depends only on a pod's namespace and labels."""
        verdict: dict[int, bool] = {}
        pods = self.cluster.pods

        def ask(i: int) -> bool:
            label_class = pods[i].label_cls
            if label_class not in verdict:
                verdict[label_class] = matches(i)
            return verdict[label_class]

        return ask

    def select(self, ask: Callable[[int], bool], *, terminating: bool = True) -> Matching:
        """Evaluate a relation that depends only on namespace and labels, once for each set of labels.

        With ``terminating=False`` pods that terminate in the input are left out, as topology spread has it.
        """
        found = [group for group in self._by_label_class if ask(group.pod)]
        fixed = np.zeros(self.cluster.n_nodes, dtype=np.int64)
        for group in found:
            for node in (*group.staying_at, *(group.terminating_at if terminating else ())):
                fixed[node] += 1
        victims = sorted((v for group in found for v in group.victims), key=lambda v: v.index)
        return Matching(
            fixed=fixed,
            victims=tuple(v for v in victims if terminating or not v.free),
            classes=tuple(sorted((c for group in found for c in group.classes), key=lambda c: c.index)),
        )

    @cached_property
    def _by_label_class(self) -> tuple[_LabelGroup, ...]:
        pods, node_of = self.cluster.pods, self.state.node_of
        groups: dict[int, _LabelGroup] = {}

        def group_of(i: int) -> _LabelGroup:
            label_class = pods[i].label_cls
            if label_class not in groups:
                groups[label_class] = _LabelGroup(i)
            return groups[label_class]

        for p in self.fixed_pods:
            group = group_of(p)
            (group.terminating_at if pods[p].terminating else group.staying_at).append(int(node_of[p]))
        for v in self.victims:
            group_of(v.pod).victims.append(v)
        for c in self.classes:
            group_of(c.pod).classes.append(c)
        return tuple(groups.values())


@dataclass(eq=False)
class _LabelGroup:
    """Pods of one namespace with equal labels: the nodes of fixed ones, victim classes, pending classes."""

    pod: int
    staying_at: list[int] = field(default_factory=list)
    terminating_at: list[int] = field(default_factory=list)
    victims: list[VictimClass] = field(default_factory=list)
    classes: list[PodClass] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Matching:
    """The pods in a relation: `fixed` running pods counted by node, victim classes, pending classes."""

    fixed: Ints
    victims: tuple[VictimClass, ...]
    classes: tuple[PodClass, ...]
