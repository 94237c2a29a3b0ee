"""What a plan means for a cluster that goes on: who has to leave before its pods can be bound.

A round is one instant, and a simulation is not: pods take time to terminate. A pod that the round placed and
evicted again never held anything; whoever it displaced leaves for the pod that displaced it in the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...framework.state.moves import Bind, Leave
from ...framework.state.state import State
from .nominations import derive_nominations

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ...framework.index.cluster import Cluster
    from ...framework.state.moves import Move
    from .outcome import SolvedRound


@dataclass(frozen=True, slots=True)
class Room:
    """Pods of the input that leave, terminating ones included, by the pod of the round.

    Attributes
    ----------
    served : mapping
        Pod to those that leave for it in the end, whether or not it needs that.
    needed : mapping
        For each pod that cannot be bound before others have left: those that it waits for.
    """

    served: Mapping[str, tuple[str, ...]]
    needed: Mapping[str, tuple[str, ...]]


def room_of(solved: SolvedRound) -> Room:
    """Return the room that a plan's pods take."""
    cluster, outcome = solved.cluster, solved.outcome
    pods, by = cluster.pods, outcome.victims
    if solved.plan.stats.admissible:
        nominated = outcome.nominations
    else:  # that of greedy's log, which names as nominations what was nominated in a pass
        lasting = [move for move in outcome.moves if not _is_undone(move, outcome.placed, cluster)]
        initial = State.initial(cluster)
        nominated = derive_nominations(cluster, initial, lasting, outcome.allocations).nominations
    served: dict[int | None, list[int]] = {}
    for victim in by:
        preemptor = by[victim]
        while preemptor is not None and preemptor not in outcome.placed:
            preemptor = by.get(preemptor)
        if pods[victim].initial_node >= 0:
            served.setdefault(preemptor, []).append(victim)
    needed: dict[int, list[int]] = {}
    left: list[int] = []
    for move in outcome.moves:
        if isinstance(move, Leave) and pods[move.pod].initial_node >= 0:
            left.append(move.pod)
        elif isinstance(move, Bind) and move.pod in nominated:
            here = [victim for victim in left if pods[victim].initial_node == move.node]
            mine = [*served.get(move.pod, ()), *(v for v in here if v in served.get(None, ()))]
            needed[move.pod] = mine or here or left[:]

    def named(found: Mapping[int, list[int]]) -> dict[str, tuple[str, ...]]:
        return {pods[i].key: tuple(pods[v].key for v in victims) for i, victims in found.items()}

    return Room(
        named({i: victims for i, victims in served.items() if i is not None}),
        named({i: victims for i, victims in needed.items() if i in outcome.placed}),
    )


def _is_undone(move: Move, placed: Collection[int], cluster: Cluster) -> bool:
    """Whether a move places a pod that is evicted again, or evicts one that was placed."""
    if isinstance(move, Bind):
        return move.pod not in placed
    return isinstance(move, Leave) and cluster.pods[move.pod].initial_node < 0
