"""A plan that places a pod or a group, found without a search: by itself, by evictions, or after another pod.

The framework's own cycle says where a pod fits and whom it would evict. Where that is not enough, one of the
others that wait may come first: one that the pod wants beside it, or one that may evict whom it may not.
Nothing that is found here is believed before it is replayed, and nothing follows where nothing is found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...framework.cycle.budget_ledger import Ledger
from ...framework.cycle.cycle import schedule_one
from ...framework.cycle.preemption import dry_run
from ...framework.cycle.runtime import framework_for
from ...framework.rules.eviction_limits import spared
from ...framework.rules.groups import group_of
from ...framework.state.moves import Bind, Leave, Mark
from ...framework.state.state import State
from ...framework.vocabulary.status import Code, Status
from ..plans.nominations import derive_nominations

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ...framework.dra.allocation import Allocation
    from ...framework.index.cluster import Cluster
    from ...framework.rules.groups import Group
    from ...framework.state.moves import Move
    from ...framework.vocabulary.arrays import Bools, Ints
    from ..plans.outcome import Outcome

_CLASSES: Final = 12
_NODES: Final = 12
"""Classes of others, and nodes for each, that are tried before the pod."""
_DOMAINS: Final = 16
"""Domains that are tried for a group."""


def by_themselves(cluster: Cluster, unit: Sequence[int]) -> Iterator[Outcome]:
    """Yield plans in which pods go where they fit, one after another, after evictions where it needs them.

    Parameters
    ----------
    unit : sequence of int
        One pod, or the waiting members of one group; those that are asked about first.
    """
    initial = State.initial(cluster)
    trial = _Trial(cluster, initial)
    found = {group_of(cluster, i) for i in unit}
    group = found.pop()
    if found or (group is not None and group.parent):
        return
    everywhere = [np.ones(cluster.n_nodes, dtype=np.bool_)]
    for evicting in (False, True):
        free = cluster.allocatable - initial.requested
        if evicting:
            trial.add_freed(free, max(unit, key=lambda i: cluster.pods[i].priority))
        keyed = group is not None and bool(group.topology_keys)
        for inside in _domains(cluster, unit, group, free) if group is not None and keyed else everywhere:
            yield from trial.in_turn(unit, inside, evicting=evicting)


def _domains(cluster: Cluster, unit: Sequence[int], group: Group, free: Any) -> Iterator[Bools]:
    """Yield the common domains of a group's keys with room for the group in what is free; bool[N]."""
    ids = np.stack([cluster.domains(key).ids for key in group.topology_keys])
    free = np.maximum(free, 0)
    masks = [framework_for(cluster, i).static_mask(i) for i in unit]
    room = np.where(np.logical_or.reduce(masks), len(unit), 0).astype(np.int64)
    for r, wanted in enumerate(np.array([cluster.pods[i].request for i in unit]).min(axis=0)):
        if wanted > 0:
            room = np.minimum(room, (free[r] // wanted).astype(np.int64))
    places, of_node = np.unique(ids, axis=1, return_inverse=True)
    total = np.bincount(of_node.ravel(), weights=room, minlength=places.shape[1])
    least = max(1, (group.min_count or 1) - len(group.running))
    for place in np.argsort(-total, kind="stable")[:_DOMAINS]:
        if (places[:, place] >= 0).all() and total[place] >= least:
            yield np.asarray(of_node.ravel() == place)


def after_another(
    cluster: Cluster, pod: int, others: Iterable[int], wanted: Collection[int]
) -> Iterator[Outcome]:
    """Yield plans in which one of the others comes first, by itself or with evictions of its own.

    Parameters
    ----------
    others : iterable of int
        Pods of the queue that could help; one of each class is tried.
    wanted : collection of int
        Those of them that the pod's own rules look for: they come first.
    """
    initial = State.initial(cluster)
    kinds: dict[int, int] = {}
    for other in others:
        if group_of(cluster, other) is None:
            kinds.setdefault(cluster.pods[other].cls, other)
    tried = sorted(kinds.values(), key=lambda j: (j not in wanted, sum(cluster.pods[j].request), j))
    trial = _Trial(cluster, initial)
    for other in tried[:_CLASSES]:
        for node in framework_for(cluster, other).bindable(initial, other)[:_NODES].tolist():
            yield from trial.then_anywhere(other, node, pod)
    for other in sorted(tried, key=lambda j: -cluster.pods[j].priority)[:_CLASSES]:
        if cluster.pods[other].preempts:
            for node in trial.roomy_after(other, pod)[:_NODES]:
                yield from trial.on_one_node(other, pod, node)


class _Trial:
    """Steps that are tried one after the other, from the state of the input on."""

    def __init__(self, cluster: Cluster, initial: State) -> None:
        self._cluster = cluster
        self._initial = initial
        self._spared = spared(cluster)

    def with_steps(self, victims: Sequence[int], bindings: Sequence[tuple[int, int]]) -> Outcome | None:
        """Return the plan in which some leave and others come; None where one of them does not fit."""
        cluster, state = self._cluster, self._initial.copy()
        moves: list[Move] = []
        chosen: dict[str, Allocation] = {}
        for v in victims:
            if not state.terminating[v]:
                state.mark(v)
                moves.append(Mark(v))
            state.remove(v)
            moves.append(Leave(v))
        for pod, node in bindings:
            framework = framework_for(cluster, pod)
            if not framework.filter_node(state, pod, node).ok:
                return None
            brought = dict(framework.reserve(state, pod, node))
            state.place(pod, node, brought)
            chosen.update(brought)
            moves.append(Bind(pod, node))
        return derive_nominations(cluster, self._initial, moves, chosen)

    def in_turn(self, unit: Sequence[int], inside: Bools, *, evicting: bool) -> Iterator[Outcome]:
        """Yield the plan in which each pod goes where it fits after those before it, if any does."""
        cluster, state = self._cluster, self._initial.copy()
        ledger, gone, bindings = Ledger(cluster), list[int](), list[tuple[int, int]]()
        bound = set[int]()
        failed = set[tuple[int, int]]()
        for i in unit:
            alike = (cluster.pods[i].cls, state.version)
            if alike in failed:
                continue  # one like it found no node, and nothing has changed
            framework = framework_for(cluster, i)
            nodes = framework.bindable(state, i)
            nodes = nodes[inside[nodes]]
            node = int(nodes[0]) if len(nodes) else -1
            if node < 0 and evicting:
                node, victims = self._evicting(state, i, inside, ledger)
                if not bound.isdisjoint(victims):
                    return  # no plan evicts whom it binds
                for v in victims:
                    state.remove(v)
                gone += victims
            if node >= 0:
                state.place(i, node, framework.reserve(state, i, node))
                bindings.append((i, node))
                bound.add(i)
            else:
                failed.add(alike)
        if bindings and (plan := self.with_steps(gone, bindings)):
            yield plan

    def _evicting(self, state: State, i: int, inside: Bools, ledger: Ledger) -> tuple[int, tuple[int, ...]]:
        """Return a node for a pod and whom it evicts there; -1 where it finds none."""
        framework = framework_for(self._cluster, i)
        if inside.all():
            cycle = schedule_one(framework, state, i, ledger)
            found = cycle.outcome == "nominated" and not cycle.deallocated
            return (cycle.node, cycle.victims) if found else (-1, ())
        result = framework.filter_all(state, i)
        tried = np.flatnonzero(inside & (result.codes == Code.UNSCHEDULABLE))
        for n in tried[:_NODES].tolist() if self._cluster.pods[i].preempts else ():
            candidate = dry_run(framework, state, i, n, result, ledger)
            if not isinstance(candidate, Status):
                return n, candidate.victims
        return -1, ()

    def add_freed(self, free: Any, first: int) -> None:
        """Add to what is free on each node, int[R, N], what those use that a pod may evict."""
        for v in self._below(first):
            free[:, self._cluster.pods[v].initial_node] += self._cluster.usage[v]

    def then_anywhere(self, first: int, node: int, pod: int) -> Iterator[Outcome]:
        """Yield the plan in which one pod is bound to a node and another to where it then fits."""
        framework, state = framework_for(self._cluster, first), self._initial.copy()
        state.place(first, node, framework.reserve(state, first, node))
        nodes = framework_for(self._cluster, pod).bindable(state, pod)
        if len(nodes) and (plan := self.with_steps([], [(first, node), (pod, int(nodes[0]))])):
            yield plan

    def roomy_after(self, first: int, pod: int) -> list[int]:
        """Return the nodes with room for both once all that the first may evict are gone; most room first."""
        cluster, pods = self._cluster, self._cluster.pods
        free = cluster.allocatable - self._initial.requested
        self.add_freed(free, first)
        pairs = zip(pods[first].request, pods[pod].request, strict=True)
        asked: Ints = np.array([one + other for one, other in pairs], dtype=cluster.dtype)
        masks = [framework_for(cluster, i).static_mask(i) for i in (first, pod)]
        fits = (free >= asked[:, None]).all(axis=0) & masks[0] & masks[1]
        return [int(n) for n in np.flatnonzero(fits)]

    def _below(self, first: int) -> list[int]:
        """Return whom a pod may evict, whatever the budgets say."""
        pods, kept, priority = self._cluster.pods, self._spared, self._cluster.pods[first].priority
        return [
            v
            for v in self._cluster.bound
            if pods[v].priority < priority
            and (kept is None or not kept[v])
            and ((guard := pods[v].guard) is None or guard <= priority)
        ]

    def on_one_node(self, first: int, pod: int, node: int) -> Iterator[Outcome]:
        """Yield the plan in which both go to a node that the first makes room on, with as few gone as fit."""
        pods = self._cluster.pods
        gone = [v for v in self._below(first) if pods[v].initial_node == node]
        steps = [(first, node), (pod, node)]
        plan = self.with_steps(gone, steps)
        if plan is None:
            return
        for v in sorted(gone, key=lambda v: (-pods[v].priority, pods[v].start)):
            fewer = self.with_steps([other for other in gone if other != v], steps)
            if fewer is not None:
                gone.remove(v)
                plan = fewer
        yield plan
