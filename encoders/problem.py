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

from ..framework.cycle.runtime import framework_for
from ..framework.dra.extended import offered, requested
from ..framework.index.signature import signature
from ..framework.plugins.node_resources_fit import wanted_room
from ..framework.rules.belonging import belonging_level
from ..framework.rules.budgets import Budget, budgets
from ..framework.state.state import State
from ..framework.vocabulary import names
from ..framework.volumes.signature import VolumeSignatures
from .devices.build import device_problem
from .devices.problem import DeviceProblem, may_merge

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from ..framework.index.cluster import Cluster
    from ..framework.vocabulary.arrays import Bools, Ints

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
    """

    index: int
    node: int
    pods: tuple[int, ...]
    priority: int
    usage: Ints
    free: bool
    guard: int | None
    charges: tuple[int, ...]

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
    """All that encoders read: `cluster`, its initial `state`, the classes and the budgets."""

    cluster: Cluster
    state: State
    classes: tuple[PodClass, ...]
    victims: tuple[VictimClass, ...]
    budgets: tuple[Budget, ...]
    levels: tuple[int, ...]
    devices: DeviceProblem | None = None
    victims_on: dict[int, tuple[VictimClass, ...]] = field(default_factory=dict)
    _memo: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    def memo(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make()` returned the first time this key was asked for."""
        if key not in self._memo:
            self._memo[key] = make()
        return cast("T", self._memo[key])

    def belongs_to(self, priority: int, guard: int | None = None) -> int | None:
        """Give the level that pays for a victim, with its guard for one that breaks its budget; or None."""
        return belonging_level(self.levels, priority, guard)

    def asking(self, plugin: str, classes: Iterable[PodClass]) -> list[PodClass]:
        """Return the classes whose profile filters with a plugin."""
        return [c for c in classes if self.cluster.profile(c.pod).filters(plugin)]

    @cached_property
    def free_now(self) -> Ints:
        """Allocatable minus what runs, (R, N); negative where a node is over-committed."""
        return np.asarray(self.cluster.allocatable - self.state.requested)

    @cached_property
    def slots_now(self) -> Ints:
        """Free pod slots of each node, (N,)."""
        return np.asarray(self.cluster.allowed_pods - self.state.pod_count)

    @cached_property
    def _victim_pods(self) -> frozenset[int]:
        return frozenset(p for v in self.victims for p in v.pods)

    @cached_property
    def fixed_pods(self) -> tuple[int, ...]:
        """Running pods that no plan evicts."""
        return tuple(p for p in self.cluster.bound if p not in self._victim_pods)

    def by_labels(self, matches: Callable[[int], bool]) -> Callable[[int], bool]:
        """Remember a relation that depends only on a pod's namespace and labels."""
        verdict: dict[int, bool] = {}
        pods = self.cluster.pods

        def ask(i: int) -> bool:
            label_class = pods[i].label_cls
            if label_class not in verdict:
                verdict[label_class] = matches(i)
            return verdict[label_class]

        return ask

    def select(self, ask: Callable[[int], bool], *, terminating: bool = True) -> Matching:
        """Ask a relation that depends only on namespace and labels, once of each kind of labels.

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
    """Who stands in a relation: `fixed` running pods counted by node, victim classes, pending classes."""

    fixed: Ints
    victims: tuple[VictimClass, ...]
    classes: tuple[PodClass, ...]


def build_problem(cluster: Cluster) -> Problem:
    """Group the pods of a round into classes and find who may be evicted."""
    state = State.initial(cluster)
    all_budgets = tuple(budgets(cluster))
    devices = device_problem(cluster, state)
    alike = _alike(cluster, devices)
    groups: dict[Hashable, list[int]] = {}
    for i in cluster.pending:
        groups.setdefault(alike(i), []).append(i)
    static = {cls: framework_for(cluster, pods[0]).static_mask(pods[0]) for cls, pods in groups.items()}
    victims = _victim_classes(cluster, state, groups, static, all_budgets)
    victims_on: dict[int, list[VictimClass]] = {}
    for v in victims:
        victims_on.setdefault(v.node, []).append(v)

    room = np.asarray(cluster.allocatable - state.requested)
    slots = np.asarray(cluster.allowed_pods - state.pod_count)
    for v in victims:
        room[:, v.node] += v.usage * v.size
        slots[v.node] += v.size
    classes = tuple(
        _pod_class(cluster, index, tuple(pods), static[cls], room, slots, devices)
        for index, (cls, pods) in enumerate(groups.items())
    )
    return Problem(
        cluster=cluster,
        state=state,
        classes=classes,
        victims=victims,
        budgets=all_budgets,
        devices=devices,
        levels=cluster.levels,
        victims_on={n: tuple(vs) for n, vs in victims_on.items()},
    )


def _alike(cluster: Cluster, devices: DeviceProblem | None) -> Callable[[int], Hashable]:
    """Say which pods are one class: those of equal signature, and those that differ only in private claims.

    Private claims that ask for the same count together where that stays exact (`may_merge`, `apart`).
    """
    if devices is None or devices.apart:
        return lambda i: cluster.pods[i].cls
    volumes = VolumeSignatures(cluster)

    def key(i: int) -> Hashable:
        info = cluster.pods[i]
        private = devices.private[i]
        specs = tuple(devices.spec(claim) for claim in private)
        named = info.pod.spec.resource_claims
        if not private or len(private) != len(named) or not all(may_merge(spec) for spec in specs):
            return info.cls
        numbers = tuple(spec.number for spec in specs)
        return (info.unit, *signature(info, volumes.of(i), numbers))

    return key


def _pod_class(
    cluster: Cluster,
    index: int,
    pods: tuple[int, ...],
    static: Bools,
    room: Ints,
    slots: Ints,
    devices: DeviceProblem | None,
) -> PodClass:
    info = cluster.pods[pods[0]]
    limit = np.minimum(len(pods), np.maximum(slots, 0)).astype(np.int64)
    served = {
        cluster.resource_index[name]: ~offered(cluster, name) for name in requested(cluster, info.index)
    }
    wanted = wanted_room(cluster, info.index)
    request: Ints = np.array(wanted or [0] * len(cluster.resources), dtype=cluster.dtype)
    if wanted is None:
        limit = np.full(cluster.n_nodes, len(pods), dtype=np.int64)
    else:
        for r, asked in enumerate(request.tolist()):
            if asked > 0:
                fitting = np.maximum(room[r], 0) // asked
                if r in served:
                    fitting = np.where(served[r], limit, fitting)
                limit = np.minimum(limit, fitting).astype(np.int64)
    if info.ports and cluster.profile(info.index).filters(names.NODE_PORTS):
        limit = np.minimum(limit, 1)
    limit = np.where(static, limit, 0)
    if devices is not None and devices.index.needs_devices(info.index):
        limit = np.minimum(limit, devices.most(info.index, limit))
    return PodClass(
        index=index,
        pods=pods,
        priority=info.priority,
        preempts=info.preempts,
        request=request,
        bounded=wanted is not None,
        mask=limit > 0,
        limit=limit,
        served=served,
    )


def _victim_classes(
    cluster: Cluster,
    state: State,
    groups: dict[Hashable, list[int]],
    static: dict[Hashable, Bools],
    all_budgets: Sequence[Budget],
) -> tuple[VictimClass, ...]:
    """Running pods below a preemptor that could come to their node, grouped by what they cost and free."""
    reach: dict[int, Bools] = {}
    for cls, pods in groups.items():
        info = cluster.pods[pods[0]]
        if info.preempts:
            reach[info.priority] = reach.get(info.priority, np.zeros(cluster.n_nodes, bool)) | static[cls]
    highest = np.full(cluster.n_nodes, np.iinfo(np.int64).min, dtype=np.int64)
    for priority, nodes in reach.items():
        highest[nodes] = np.maximum(highest[nodes], priority)

    charges = _charges(cluster, all_budgets)
    claims = _claims_held(state)
    grouped: dict[tuple[object, ...], list[int]] = {}
    for i in cluster.bound:
        info = cluster.pods[i]
        node = int(state.node_of[i])
        if info.priority >= highest[node]:
            continue
        drawn = () if info.terminating else charges(i)
        held = claims.get(i, ())
        key = (node, info.cls, info.usage, info.guard, info.terminating, held, drawn)
        grouped.setdefault(key, []).append(i)
    return tuple(
        _victim_class(cluster, index, key, pods) for index, (key, pods) in enumerate(grouped.items())
    )


def _victim_class(cluster: Cluster, index: int, key: tuple[object, ...], pods: Iterable[int]) -> VictimClass:
    infos = [cluster.pods[i] for i in pods]
    infos.sort(key=lambda p: (p.start, p.index), reverse=True)
    node, drawn = key[0], key[-1]
    assert isinstance(node, int)
    assert isinstance(drawn, tuple)
    return VictimClass(
        index=index,
        node=node,
        pods=tuple(p.index for p in infos),
        priority=infos[0].priority,
        usage=cluster.usage[infos[0].index],
        free=infos[0].terminating,
        guard=infos[0].guard,
        charges=drawn,
    )


def _claims_held(state: State) -> dict[int, tuple[str, ...]]:
    """Running pod -> resource claims that are reserved for it: what devices its leaving gives back."""
    held: dict[int, tuple[str, ...]] = {}
    for key, consumers in state.claims.reserved.items() if state.claims is not None else ():
        for i in consumers:
            if isinstance(i, int):
                held[i] = (*held.get(i, ()), key)
    return held


def _charges(cluster: Cluster, all_budgets: Sequence[Budget]) -> Callable[[int], tuple[int, ...]]:
    """For a running pod: the budgets that its eviction draws on (those that already list it are paid)."""

    def drawn(i: int) -> tuple[int, ...]:
        return tuple(b for b, budget in enumerate(all_budgets) if budget.charges(cluster, i))

    return drawn
