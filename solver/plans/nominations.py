"""Say of a sequence of moves which placements are nominations, and who is whose preemptor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...framework.cycle.runtime import framework_for
from .apply import play
from .outcome import BIND, DEALLOCATE, LEAVE, Outcome
from .preemptors import preemptors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...framework.dra.allocation import Allocation
    from ...framework.index.cluster import Cluster
    from ...framework.state.state import State
    from .outcome import Move


def narrate(
    cluster: Cluster, initial: State, moves: Sequence[Move], allocations: Mapping[str, Allocation]
) -> Outcome:
    """Say of valid moves which placements are nominations, and who is whose preemptor.

    A placement is a nomination when at its step it would fail were the earlier victims still running: a
    second state in which nobody leaves answers that.
    """
    nominated: set[int] = set()
    placed: dict[int, int] = {}
    if any(kind == LEAVE for kind, _, _ in moves):
        shadow = initial.copy()
        left = False
        for move in moves:
            kind, pod, node = move
            if kind == BIND and left and not framework_for(cluster, pod).filter_node(shadow, pod, node).ok:
                nominated.add(pod)
            if kind in (BIND, DEALLOCATE):
                play(cluster, shadow, [move], allocations)
            left |= kind == LEAVE
    placed = {pod: node for kind, pod, node in moves if kind == BIND}
    served = preemptors(cluster, initial.node_of, moves, frozenset(nominated))
    nominations: dict[int, tuple[int, ...]] = {
        pod: tuple(v for v, p in served.items() if p == pod) for pod in placed if pod in nominated
    }
    return Outcome(tuple(moves), placed, nominations, served, allocations)
