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

if TYPE_CHECKING:
    from ...framework.index.cluster import Cluster

MOST_NODES = 30
MOST_SITUATIONS = 20_000
"""Rounds beyond these are not searched."""


def places_any(cluster: Cluster) -> bool | None:
    """Whether an admissible plan places a pod of `Snapshot.asked`; None where the round is too large.

    Rounds with claims to devices are not searched either: which devices a claim gets is a choice of its own.
    """
    claims = (info for i in cluster.pending if (info := cluster.pods[i]).pod.spec.resource_claims)
    if cluster.n_nodes > MOST_NODES or any(claims) or any(requested(cluster, i) for i in cluster.pending):
        return None
    search = _Search(cluster)
    try:
        return search.visit(State.initial(cluster), ())
    except _TooMany:
        return None


class _TooMany(Exception):
    """More situations than are looked at."""


@dataclass(eq=False)
class _Search:
    cluster: Cluster
    seen: set[tuple[object, ...]] = field(default_factory=set)

    def __post_init__(self) -> None:
        cluster, pods = self.cluster, self.cluster.pods
        self.asked = cluster.asked
        able = [pods[i].priority for i in cluster.pending if pods[i].preempts]
        reach = max(able, default=None)
        self.victims = [v for v in cluster.bound if reach is not None and pods[v].priority < reach]
        self.spreads = any(hard_constraints(cluster, i) for i in cluster.pending)
        self.classes: dict[object, list[int]] = {}
        for i in cluster.pending:
            self.classes.setdefault((i in self.asked, pods[i].cls), []).append(i)

    def visit(self, state: State, moves: tuple[Move, ...]) -> bool:
        """Look at a situation and at all that follow from it."""
        key = self._situation(moves)
        if key in self.seen:
            return False
        if len(self.seen) >= MOST_SITUATIONS:
            raise _TooMany
        self.seen.add(key)
        if self._is_answer(moves):
            return True
        placed, gone = bound_nodes(moves), pods_leaving(moves)
        for members in self.classes.values():
            pod = next((i for i in members if i not in placed), None)
            if pod is not None and self._bind(state, moves, pod):
                return True
        return any(self._evict(state, moves, v) for v in self.victims if v not in gone)

    def _bind(self, state: State, moves: tuple[Move, ...], pod: int) -> bool:
        check = framework_for(self.cluster, pod).filter_node
        for n in range(self.cluster.n_nodes):
            if check(state, pod, n).ok:
                after = state.copy()
                after.place(pod, n, {})
                if self.visit(after, (*moves, Bind(pod, n))):
                    return True
        return False

    def _evict(self, state: State, moves: tuple[Move, ...], v: int) -> bool:
        after, steps = state.copy(), moves
        if not after.terminating[v]:
            after.mark(v)
            steps = (*steps, Mark(v))
            if self.spreads:
                return self.visit(after, steps)
        after.remove(v)
        return self.visit(after, (*steps, Leave(v)))

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

    def _is_answer(self, moves: tuple[Move, ...]) -> bool:
        placed, left = bound_nodes(moves), pods_leaving(moves)
        if self.asked.isdisjoint(placed) or any(True for _ in inadmissible(self.cluster, moves)):
            return False
        outcome = Outcome(moves, placed, {}, dict.fromkeys(left, None), {}, admissible=True)
        return valuate(self.cluster, outcome).guarded
