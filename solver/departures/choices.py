"""Who may leave each type of nodes, listed, and the room that there is then.

Nodes are of one type where the same pods may stand, the same room is free, and victims of the same kinds give
back the same. Where one resource counts alone, of each kind those leave first that give back most: any other
choice with as many of the kind costs the same and frees less.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...encoders.problem import Problem
    from ...framework.vocabulary.arrays import Ints
    from .demand import Demand, Scarce
    from .kinds import Kinds
    from .params import DepartureParams

Ladder: TypeAlias = tuple[int, list[tuple[int, ...]]]
"""A kind, and what 0, 1, 2, … of it give back."""


class NodeType(NamedTuple):
    """Nodes that are alike: signature, what is free, and victims as ((kind, what one gives back), number)."""

    signature: int
    room: tuple[int, ...]
    victims: tuple[tuple[tuple[int, tuple[int, ...]], int], ...]


@dataclass(frozen=True)
class Choices:
    """The types of nodes and the choices on each.

    Attributes
    ----------
    most : int array (S, D)
        By signature, how many pods of each row of the demand a node takes at most.
    signature : int array (T,)
        By type, which signature it has.
    nodes : sequence of int arrays
        By type, its nodes.
    times : int array (T,)
        How many these are.
    first : int array (T + 1,)
        By type its first choice; those of one type come one after another.
    room : int array (R, P)
        By choice, units that are free then, rounded down; 0 where a node is over-committed.
    start, kind, number : int arrays (P + 1,), (E,), (E,)
        By choice its first entry; by entry a kind and how many of it leave.
    ladders : sequence of sequences
        By type, the ladders of which each choice takes a step: a kind, and what each step gives back.
    """

    most: Ints
    signature: Ints
    nodes: Sequence[Ints]
    times: Ints
    first: Ints
    room: Ints
    start: Ints
    kind: Ints
    number: Ints
    ladders: Sequence[Sequence[Ladder]]

    def steps(self, kind: int, choice: int) -> list[int]:
        """Return how many leave by a choice of a type of nodes, by ladder."""
        shape = [len(freed) for _, freed in self.ladders[kind]]
        place = choice - int(self.first[kind])
        return [int(step) for step in np.unravel_index(place, shape)] if shape else []

    def leaving(self, choice: int, kinds: int) -> Ints:
        """Return how many of each kind leave by a choice."""
        mine = slice(int(self.start[choice]), int(self.start[choice + 1]))
        found = np.zeros(kinds, dtype=np.int64)
        np.add.at(found, self.kind[mine], self.number[mine])
        return found


def list_choices(
    problem: Problem, kinds: Kinds, scarce: Scarce, demand: Demand, params: DepartureParams
) -> Choices | None:
    """List them; None where there are too many, or no pod may stand anywhere."""
    reached = np.flatnonzero((demand.limit > 0).any(axis=0))
    if not len(reached):
        return None
    sign, most = _signatures(demand.limit[:, reached], params.most_signatures)
    types: dict[NodeType, list[int]] = {}
    for n, s in zip(reached.tolist(), sign.tolist(), strict=True):
        types.setdefault(_type_of(problem, kinds, scarce, n, s), []).append(n)
    ladders = [_ladders(kind.victims, alone=len(scarce.rows) == 1) for kind in types]
    if sum(prod(len(freed) for _, freed in mine) for mine in ladders) > params.most_choices:
        return None
    listed = [_multiply(kind.room, mine) for kind, mine in zip(types, ladders, strict=True)]
    lengths = [rooms.shape[1] for rooms, *_ in listed]
    entries = np.concatenate([often for *_, often in listed])
    return Choices(
        most=most,
        signature=np.array([kind.signature for kind in types]),
        nodes=[np.array(nodes) for nodes in types.values()],
        times=np.array([len(nodes) for nodes in types.values()]),
        first=np.concatenate(([0], np.cumsum(lengths))),
        room=np.concatenate([np.maximum(rooms, 0) for rooms, *_ in listed], axis=1) // scarce.units,
        start=np.concatenate(([0], np.cumsum(entries))),
        kind=np.concatenate([kind for _, kind, _, _ in listed]),
        number=np.concatenate([number for _, _, number, _ in listed]),
        ladders=ladders,
    )


def _signatures(limit: Ints, most_signatures: int) -> tuple[Ints, Ints]:
    """Return the signature of each node, and by signature the most pods of each row of the demand."""
    _, sign = np.unique(limit > 0, axis=1, return_inverse=True)
    sign = sign.reshape(-1)
    if sign.max() >= most_signatures:
        sign = np.zeros_like(sign)
    return sign, np.array([limit[:, sign == s].max(axis=1) for s in range(sign.max() + 1)])


def _type_of(problem: Problem, kinds: Kinds, scarce: Scarce, n: int, signature: int) -> NodeType:
    room, victims = scarce.free[:, n].copy(), Counter[tuple[int, tuple[int, ...]]]()
    for v in problem.victims_on.get(n, ()):
        usage = (*v.usage.tolist(), 1)
        given = tuple(int(usage[r]) for r in scarce.rows)
        kind = kinds.of_victim[v.index]
        if kind < 0:
            room += v.size * np.array(given, dtype=np.int64)
        elif any(given):
            victims[kind, given] += v.size
    return NodeType(signature, tuple(room.tolist()), tuple(sorted(victims.items())))


def _ladders(victims: Iterable[tuple[tuple[int, tuple[int, ...]], int]], *, alone: bool) -> list[Ladder]:
    """Return kinds with what 0, 1, 2, … that leave give back; a choice has a step of each ladder."""
    if not alone:
        return [
            (kind, [tuple(number * amount for amount in given) for number in range(size + 1)])
            for (kind, given), size in victims
        ]
    amounts: dict[int, list[int]] = {}
    for (kind, (amount,)), size in victims:
        amounts.setdefault(kind, []).extend([amount] * size)
    return [
        (kind, [(int(total),) for total in np.cumsum([0, *sorted(mine, reverse=True)])])
        for kind, mine in amounts.items()
    ]


def _multiply(room: Sequence[int], ladders: Sequence[Ladder]) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the room of each choice; kinds and numbers of all entries; the entries of each choice."""
    shape = [len(freed) for _, freed in ladders]
    index = np.indices(shape).reshape(len(shape), -1) if shape else np.zeros((0, 1), dtype=np.int64)
    rooms = np.repeat(np.array(room, dtype=np.int64)[:, None], index.shape[1], axis=1)
    for (_, freed), number in zip(ladders, index, strict=True):
        rooms += np.array(freed, dtype=np.int64)[number].T
    some = index.T > 0
    kind = np.array([kind for kind, _ in ladders], dtype=np.int64)
    return rooms, np.broadcast_to(kind, some.shape)[some], index.T[some], some.sum(axis=1)
