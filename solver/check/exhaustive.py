"""Whether any admissible plan places a pod, by trying every step after every other.

It stands on the filters and on the rules of a plan (`solver.plans.replay`), and shares nothing with the
models. Pods of one class are interchangeable, so a situation is how many of each class are where, and what
has become of each running pod that could give way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...framework.cycle.runtime import framework_for
from ...framework.dra.extended import requested
from ...framework.rules.spread import hard_constraints
from ...framework.state.moves import Bind, Leave, Mark, Move, bound_nodes, pods_leaving
from ...framework.state.state import State
from ..plans.objective import valuate
from ..plans.outcome import Outcome
from ..plans.replay import inadmissible
from .device_ways import DeviceWays, TooManyWays

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    from ...framework.dra.allocation import Allocation
    from ...framework.index.cluster import Cluster

    _Given: TypeAlias = Mapping[str, Allocation]

MOST_NODES = 30
MOST_SITUATIONS = 20_000
MOST_TRIALS = 10_000
"""Rounds beyond these are not searched; a trial is one pod on one node, or one choice of devices for it."""


def places_any(cluster: Cluster) -> bool | None:
    """Whether an admissible plan places a pod of `Snapshot.asked`; None where the round is too large.

    Which devices a claim gets is a step's choice; claims that `device_ways` does not look at, and resources
    that devices serve, are not searched.
    """
    if cluster.n_nodes > MOST_NODES or any(requested(cluster, i) for i in cluster.pending):
        return None
    search, state = _Search(cluster), State.initial(cluster)
    if not search.ways.covers(state, search.victims):
        return None
    try:
        return search.visit(state, (), {})
    except (_TooMany, TooManyWays):
        return None


class _TooMany(Exception):
    """More situations, or trials, than are looked at."""


@dataclass(eq=False)
class _Search:
    cluster: Cluster
    seen: set[tuple[object, ...]] = field(default_factory=set)
    trials: int = 0

    def __post_init__(self) -> None:
        cluster, pods = self.cluster, self.cluster.pods
        self.asked = cluster.asked
        self.ways = DeviceWays(cluster)
        able = [pods[i].priority for i in cluster.pending if pods[i].preempts]
        reach = max(able, default=None)
        self.victims = [v for v in cluster.bound if reach is not None and pods[v].priority < reach]
        self.spreads = any(hard_constraints(cluster, i) for i in cluster.pending)
        self.classes: dict[object, list[int]] = {}
        for i in cluster.pending:
            self.classes.setdefault((i in self.asked, pods[i].cls), []).append(i)

    def visit(self, state: State, moves: tuple[Move, ...], given: _Given) -> bool:
        """Look at a situation and at all that follow from it."""
        key = (self._situation(moves), tuple(sorted((claim, _ids(had)) for claim, had in given.items())))
        if key in self.seen:
            return False
        if len(self.seen) >= MOST_SITUATIONS:
            raise _TooMany
        self.seen.add(key)
        if self._is_answer(moves, given):
            return True
        placed, gone = bound_nodes(moves), pods_leaving(moves)
        for members in self.classes.values():
            pod = next((i for i in members if i not in placed), None)
            if pod is not None and self._bind(state, moves, given, pod):
                return True
        return any(self._evict(state, moves, given, v) for v in self.victims if v not in gone)

    def _bind(self, state: State, moves: tuple[Move, ...], given: _Given, pod: int) -> bool:
        check = framework_for(self.cluster, pod).filter_node
        for n in range(self.cluster.n_nodes):
            self._try()
            if not check(state, pod, n).ok:
                continue
            for brought in self.ways.of(state, pod, n):
                self._try()
                after = state.copy()
                after.place(pod, n, brought)
                if self.visit(after, (*moves, Bind(pod, n)), {**given, **brought}):
                    return True
        return False

    def _try(self) -> None:
        self.trials += 1
        if self.trials > MOST_TRIALS:
            raise _TooMany

    def _evict(self, state: State, moves: tuple[Move, ...], given: _Given, v: int) -> bool:
        after, steps = state.copy(), moves
        if not after.terminating[v]:
            after.mark(v)
            steps = (*steps, Mark(v))
            if self.spreads:
                return self.visit(after, steps, given)
        after.remove(v)
        return self.visit(after, (*steps, Leave(v)), given)

    def _situation(self, moves: tuple[Move, ...]) -> tuple[object, ...]:
        """Return what later steps depend on: where newcomers are, what is marked or gone, and for which."""
        placed = bound_nodes(moves)
        where = tuple(
            tuple(sorted(placed[i] for i in members if i in placed)) for members in self.classes.values()
        )
        # The order of comers and leavers matters: a victim needs a preemptor that was bound after it left.
        debts = tuple(
            (move.pod, isinstance(move, Leave), tuple(sorted(bound_nodes(moves[k:]).values())))
            for k, move in enumerate(moves)
            if isinstance(move, Mark | Leave)
        )
        return where, tuple(sorted(debts, key=repr))

    def _is_answer(self, moves: tuple[Move, ...], given: _Given) -> bool:
        placed, left = bound_nodes(moves), pods_leaving(moves)
        if self.asked.isdisjoint(placed) or any(True for _ in inadmissible(self.cluster, moves)):
            return False
        outcome = Outcome(moves, placed, {}, dict.fromkeys(left, None), given, admissible=True)
        return valuate(self.cluster, outcome).guarded


def _ids(allocation: Allocation) -> tuple[tuple[object, ...], ...]:
    """Return which devices a claim has, request by request."""
    return tuple((result.request, result.id) for result in allocation.results)
