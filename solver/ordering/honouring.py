"""Victims within their budgets leave before those that violate, so that the eviction API agrees.

The eviction API grants what it is asked for first, a mark being the question. If the violating victims come
last it refuses exactly them, since no smaller set would do (`solver.plans.budget_violations`). An order is
taken only if it also passes the filters and the rules of the replay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...framework.dra.index import claim_keys
from ...framework.rules.budgets import budgets
from ...framework.state.moves import Bind, Deallocate, Leave, Mark
from ...framework.state.state import State
from ..plans.apply import apply_moves, fits
from ..plans.nominations import derive_nominations
from ..plans.objective import valuate
from ..plans.preemptors import gang_of
from ..plans.replay import follow, inadmissible

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from ...framework.index.cluster import Cluster
    from ...framework.state.moves import Move
    from ..plans.objective import ObjectiveVector
    from ..plans.outcome import Outcome


def honoured_first(
    cluster: Cluster, outcome: Outcome, value: ObjectiveVector, prefer: str
) -> tuple[Outcome, ObjectiveVector]:
    """Put an admissible outcome in an order in which the eviction API refuses the violating victims alone.

    Returns
    -------
    (Outcome, ObjectiveVector)
        The same ones where that is so already, or where the filters admit no such order that was tried.
    """
    if value.in_turn:
        return outcome, value
    for moves in _orders(cluster, outcome, value):
        run = follow(cluster, moves, outcome.allocations)
        if run.fault or any(True for _ in inadmissible(cluster, moves)):
            continue
        reordered = derive_nominations(cluster, State.initial(cluster), moves, outcome.allocations)
        worth = valuate(cluster, reordered, prefer, end=run.end)
        if worth.in_turn and worth.costs == value.costs:
            return reordered, worth
    return outcome, value


def _orders(cluster: Cluster, outcome: Outcome, value: ObjectiveVector) -> Iterator[Sequence[Move]]:
    """Yield orders to try: compliant victims leave first, or are marked first, or violating ones wait."""
    moves = outcome.moves
    honoured = {
        v
        for v in outcome.victims
        if v not in value.violates and any(b.charges(cluster, v) for b in budgets(cluster))
    }
    first = next(k for k, m in enumerate(moves) if isinstance(m, Mark) and m.pod in value.violates)
    for kinds in (Mark | Leave, Mark):
        early = {move for move in moves[first:] if isinstance(move, kinds) and move.pod in honoured}
        yield [
            *moves[:first],
            *(move for move in moves[first:] if move in early),
            *(move for move in moves[first:] if move not in early),
        ]
    yield _waiting(cluster, outcome, frozenset(value.violates), honoured)


def _waiting(
    cluster: Cluster, outcome: Outcome, violating: frozenset[int], honoured: set[int]
) -> Sequence[Move]:
    """Take one possible step after the other, and mark violating victims after all compliant ones.

    Steps that never become possible are left out, so that the order fails its replay.
    """
    state = State.initial(cluster)
    due = _victims_before(cluster, outcome)
    unmarked, here = set(honoured), set(outcome.victims)
    done: list[Move] = []
    left = list(outcome.moves)

    def possible(move: Move) -> bool:
        match move:
            case Mark(pod):
                return pod not in violating or not unmarked
            case Leave(pod):
                return bool(state.terminating[pod])
            case Deallocate(claim):
                claims, key = state.claims, claim_keys(cluster)[claim]
                return claims is not None and key in claims.allocations and claims.idle(key)
            case Bind(pod, node):
                free = here.isdisjoint(due.get(pod, ()))
                return free and fits(cluster, state, pod, node, outcome.allocations)

    while left:
        still = []
        for move in left:
            if not possible(move):
                still.append(move)
                continue
            apply_moves(cluster, state, [move], outcome.allocations)
            done.append(move)
            if isinstance(move, Mark):
                unmarked.discard(move.pod)
            elif isinstance(move, Leave):
                here.discard(move.pod)
        if len(still) == len(left):
            break
        left = still
    return done


def _victims_before(cluster: Cluster, outcome: Outcome) -> dict[int, set[int]]:
    """Victims that must be gone before a pod binds: its own; for a gang, those of all its members."""
    own: dict[Hashable, set[int]] = {}

    def side(pod: int) -> Hashable:
        gang = gang_of(cluster, pod)
        return ("pod", pod) if gang is None else ("gang", gang)

    for victim, preemptor in outcome.victims.items():
        if preemptor is not None:
            own.setdefault(side(preemptor), set()).add(victim)
    return {pod: own[side(pod)] for pod in outcome.placed if side(pod) in own}
