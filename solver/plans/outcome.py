"""A round's decisions in pod and node indices, before they become the words of a plan."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...framework.dra.index import claim_keys
from ...framework.state.moves import Bind, Deallocate, Leave, Mark, Move

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...framework.dra.allocation import Allocation
    from ...framework.index.cluster import Cluster
    from ...framework.state.state import State
    from ...models.plan import Plan


@dataclass(frozen=True)
class Outcome:
    """What a scheduler decided.

    Attributes
    ----------
    moves : tuple
        The order of steps.
    placed : mapping
        Pod -> node for every pod of the round that stands in the end.
    nominations : mapping
        Placed pod -> its victims, for the pods that are nominated.
    victims : mapping
        Running pod that leaves -> its preemptor (None: the preemptor ended elsewhere or nowhere).
    allocations : mapping
        Claim -> its devices, for the claims that the round allocates.
    admissible : bool
        Whether the outcome is a plan in the sense of docs/model.md; greedy's need not be.
    waiting : mapping
        Pod that is not placed -> its nominated node, where it waits for a terminating pod to leave.
    """

    moves: tuple[Move, ...] = ()
    placed: Mapping[int, int] = field(default_factory=dict)
    nominations: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    victims: Mapping[int, int | None] = field(default_factory=dict)
    allocations: Mapping[str, Allocation] = field(default_factory=dict)
    admissible: bool = True
    waiting: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class SolvedRound:
    """A verified plan and what it was made from.

    Attributes
    ----------
    plan : Plan
    outcome : Outcome
        What the plan writes down.
    cluster : Cluster
    end : State
        The state in which the steps of the plan end, by its replay; it is only read.
    """

    plan: Plan
    outcome: Outcome
    cluster: Cluster
    end: State


def dump(cluster: Cluster, outcome: Outcome) -> dict[str, Any]:
    """Return an outcome by the names of things, for the document of an internal error."""
    keys, names = [p.key for p in cluster.pods], cluster.node_names

    def named(move: Move) -> list[str | None]:
        match move:
            case Bind(pod, node):
                return ["bind", keys[pod], names[node]]
            case Mark(pod):
                return ["mark", keys[pod], None]
            case Leave(pod):
                return ["leave", keys[pod], None]
            case Deallocate(claim):
                return ["deallocate", claim_keys(cluster)[claim], None]

    return {
        "instance": cluster.snapshot.name,
        "placed": {keys[i]: names[n] for i, n in outcome.placed.items()},
        "victims": {keys[v]: None if p is None else keys[p] for v, p in outcome.victims.items()},
        "moves": [named(move) for move in outcome.moves],
    }
