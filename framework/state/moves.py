"""The steps of a round: what may happen to a state, in indices of pods, nodes and claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Bind:
    """A pending pod is bound to a node."""

    pod: int
    node: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A running pod is evicted: it terminates and keeps its room."""

    pod: int


@dataclass(frozen=True, slots=True)
class Leave:
    """A terminating pod leaves its node.

    A pod that terminates in the input leaves without a `Mark`.
    """

    pod: int


@dataclass(frozen=True, slots=True)
class Deallocate:
    """A claim gives its devices back; `claim` is its place in `claim_keys`."""

    claim: int


# Dataclasses and not named tuples: `Mark(3)` and `Leave(3)` differ.
Move: TypeAlias = Bind | Mark | Leave | Deallocate


@dataclass(frozen=True, slots=True)
class Cordon:
    """A node takes no more pods that are moved, whatever they tolerate."""

    node: int


@dataclass(frozen=True, slots=True)
class Uncordon:
    """A node takes pods again."""

    node: int


# What may happen while running pods are moved; pods terminate and leave in a plan of moves without preemptor.
Change: TypeAlias = Bind | Mark | Leave | Cordon | Uncordon


def bound_nodes(moves: Iterable[Move]) -> dict[int, int]:
    """Node of each pod that the moves bind."""
    return {move.pod: move.node for move in moves if isinstance(move, Bind)}


def pods_leaving(moves: Iterable[Move]) -> set[int]:
    """Pods that leave."""
    return {move.pod for move in moves if isinstance(move, Leave)}
