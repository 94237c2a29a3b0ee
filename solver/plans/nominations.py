"""Which placements of a sequence of moves are nominations, and the preemptor of each victim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...framework.cycle.runtime import framework_for
from ...framework.state.moves import Bind, Deallocate, Leave, bound_nodes
from .apply import apply_moves
from .outcome import Outcome
from .preemptors import preemptors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...framework.dra.allocation import Allocation
    from ...framework.index.cluster import Cluster
    from ...framework.state.moves import Move
    from ...framework.state.state import State


def derive_nominations(
    cluster: Cluster, initial: State, moves: Sequence[Move], allocations: Mapping[str, Allocation]
) -> Outcome:
    """Return the outcome of valid moves: its nominations, and the preemptor of each victim.

    A placement is a nomination when at its step it would fail were the earlier victims still running: a
    second state that no pod leaves answers that.
    """
    nominated: set[int] = set()
    first = next((k for k, move in enumerate(moves) if isinstance(move, Leave)), None)
    if first is not None:
        shadow = initial.copy()
        for k, move in enumerate(moves):
            if isinstance(move, Bind) and k > first:
                framework = framework_for(cluster, move.pod)
                if not framework.filter_node(shadow, move.pod, move.node).ok:
                    nominated.add(move.pod)
            if isinstance(move, Bind | Deallocate):
                apply_moves(cluster, shadow, [move], allocations)
    placed = bound_nodes(moves)
    served = preemptors(cluster, moves, frozenset(nominated))
    victims: dict[int, list[int]] = {pod: [] for pod in placed if pod in nominated}
    for victim, preemptor in served.items():
        if preemptor is not None and preemptor in victims:
            victims[preemptor].append(victim)
    nominations = {pod: tuple(gone) for pod, gone in victims.items()}
    return Outcome(tuple(moves), placed, nominations, served, allocations)
