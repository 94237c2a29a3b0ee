"""The outcome of a round and those of its parts: one from the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from ...framework.state.moves import Deallocate
from ..plans.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...framework.index.cluster import Cluster
    from ...framework.state.moves import Move
    from .components import Part


def restrict(cluster: Cluster, outcome: Outcome, part: Part) -> Outcome:
    """Return the restriction of an outcome to a part."""
    pods = frozenset(part.pods)

    def here(pod: int) -> bool:
        return pod in pods or cluster.pods[pod].initial_node in part.nodes

    def inside(move: Move) -> bool:
        return part.own_moves if isinstance(move, Deallocate) else here(move.pod)

    changed: dict[str, Any] = {"moves": tuple(move for move in outcome.moves if inside(move))}
    for item in fields(outcome):
        value = getattr(outcome, item.name)
        if isinstance(value, Mapping):  # keyed by pod; allocations are keyed by claim
            changed[item.name] = {
                k: v for k, v in value.items() if (here(k) if isinstance(k, int) else part.own_moves)
            }
    return replace(outcome, **changed)


def unite(outcomes: Sequence[Outcome]) -> Outcome:
    """Put the outcomes of all parts together, one part's steps after the other's."""
    together: dict[str, Any] = {
        "moves": tuple(move for outcome in outcomes for move in outcome.moves),
        "admissible": all(outcome.admissible for outcome in outcomes),
    }
    for item in fields(Outcome):
        values = [getattr(outcome, item.name) for outcome in outcomes]
        if isinstance(values[0], Mapping):
            together[item.name] = {k: v for value in values for k, v in value.items()}
    return Outcome(**together)
