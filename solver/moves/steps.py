"""Steps of moves in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...framework.dra.index import claim_keys
from ...framework.state.moves import Bind, Cordon, Deallocate, Leave, Mark, Uncordon
from ...models.moves import MoveStep

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...framework.index.cluster import Cluster
    from ...framework.state.moves import Change, Move


def steps_of(cluster: Cluster, changes: Iterable[Change | Move]) -> tuple[MoveStep, ...]:
    """Write steps down, with the names of pods, nodes and claims."""
    keys, names = [info.key for info in cluster.pods], cluster.node_names

    def step(change: Change | Move) -> MoveStep:
        match change:
            case Mark(pod):
                return MoveStep(mark=keys[pod])
            case Leave(pod):
                return MoveStep(leave=keys[pod])
            case Bind(pod, node):
                return MoveStep(bind=keys[pod], node=names[node])
            case Deallocate(claim):
                return MoveStep(deallocate=claim_keys(cluster)[claim])
            case Cordon(node):
                return MoveStep(cordon=names[node])
            case Uncordon(node):
                return MoveStep(uncordon=names[node])

    return tuple(step(change) for change in changes)
