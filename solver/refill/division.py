"""Sides cut into blocks: each with its share of who comes and who leaves, balanced in every resource."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from ..bounds.summed import VictimGroup, victim_groups
from .block import Block
from .params import DEFAULT
from .shares import divide

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

    from ...encoders.problem import Problem
    from ...framework.vocabulary.arrays import Ints
    from .blueprint import Blueprint, Sides
    from .params import RefillParams


@dataclass(frozen=True)
class Piece:
    """A block, the nodes of the cluster that it numbers, and the side that they are on."""

    block: Block
    nodes: tuple[int, ...]
    side: int


class Division:
    """Divides sides into blocks, in units in which the sums of one node are small."""

    def __init__(self, problem: Problem, sides: Sides, params: RefillParams = DEFAULT) -> None:
        self._problem, self._sides, self._params = problem, sides, params
        by_class = victim_groups(problem)
        self.groups = list(dict.fromkeys(by_class))
        number = {g: k for k, g in enumerate(self.groups)}
        self.group_of = [number[g] for g in by_class]
        self._victims: dict[int, list[int]] = {}
        for v, k in zip(problem.victims, self.group_of, strict=True):
            self._victims.setdefault(v.node, []).extend([k] * v.size)
        self._measure()

    def _measure(self) -> None:
        """Choose the resource that decides and its unit."""
        problem = self._problem
        slots = np.ones(len(problem.classes), dtype=np.int64)
        asked = np.column_stack([*np.array([c.request for c in problem.classes]).T, slots]).astype(np.int64)
        given = np.array([[*g.usage, 1] for g in self.groups], dtype=np.int64)
        free = np.vstack((problem.free_now, problem.slots_now)).astype(np.int64)
        wanted = asked.T @ np.array([c.size for c in problem.classes])
        most = np.maximum(free, 0).sum(axis=1)
        ratio = np.where(wanted > 0, wanted / np.maximum(most, 1), -1.0)
        ratio[-1] = min(ratio[-1], 0.0)  # slots are counted along the way
        self._main = main = int(np.argmax(ratio))
        self._others = [r for r in range(len(wanted)) if r != main and wanted[r] > 0]
        unit = gcd(*asked[:, main].tolist(), *given[:, main].tolist()) or 1
        top = int((free[main] + self._given_at(given[:, main])).max())
        unit = max(unit, -(-top // self._params.most_units))
        self.need = [max(1, -(-a // unit)) for a in asked[:, main].tolist()]
        self.gives = [a // unit for a in given[:, main].tolist()]
        self._free = free[main] // unit
        self.other = asked[:, self._others].tolist()
        self.gives_other = given[:, self._others].tolist()
        self._rest = free[self._others].T
        takes = np.column_stack((np.array(self.need).reshape(-1, 1), asked[:, self._others]))
        frees = np.column_stack((np.array(self.gives).reshape(-1, 1), given[:, self._others]))
        self._amounts = np.vstack((takes, -frees))

    def _given_at(self, given: Ints) -> Ints:
        total = np.zeros(self._problem.cluster.n_nodes, dtype=np.int64)
        for n, groups in self._victims.items():
            total[n] = sum(int(given[g]) for g in groups)
        return total

    def pieces(self, plan: Blueprint, shuffle: Random | None = None) -> Iterator[Piece]:
        """Yield the blocks of every side; `shuffle` has some victims leave in other parts."""
        sides = [np.flatnonzero(side) for side in self._sides.nodes]
        for s, (nodes, counts) in enumerate(zip(sides, self._by_side(sides, plan, shuffle), strict=True)):
            order = nodes[np.argsort(-self._free[nodes], kind="stable")]
            number = -(-len(nodes) // self._params.block_size)
            parts = [order[k::number] for k in range(number)]
            sizes = np.array([len(part) for part in parts])
            divided = divide(self._amounts, counts, self._caps(parts), self._room(parts), sizes, shuffle)
            for part, (coming, leaving) in zip(parts, map(self._split, divided.T), strict=True):
                yield Piece(self._block(part.tolist(), coming, leaving), tuple(part.tolist()), s)

    def _by_side(self, sides: Sequence[Ints], plan: Blueprint, shuffle: Random | None) -> Ints:
        """Divide who comes and who leaves among the sides; classes that a constraint counts stay."""
        coming = Counter[int]()
        leaving = Counter[VictimGroup]()
        tied = np.zeros((len(self.need) + len(self.groups), len(sides)), dtype=np.int64)
        for (c, s), count in plan.coming.items():
            if c in self._sides.tied:
                tied[c, s] = count
            else:
                coming[c] += count
        for (g, _), count in plan.leaving.items():
            leaving[g] += count
        whole = [coming[c] for c in range(len(self.need))] + [leaving[g] for g in self.groups]
        room = self._room(sides) - tied.T @ self._amounts
        nodes = np.array([len(side) for side in sides])
        return tied.T + divide(self._amounts, np.array(whole), self._caps(sides), room, nodes, shuffle).T

    def _room(self, parts: Sequence[Ints]) -> Ints:
        """Return what parts have free: units of the resource that decides, amounts of the others."""
        return np.array([[self._free[part].sum(), *self._rest[part].sum(axis=0)] for part in parts])

    def _caps(self, parts: Sequence[Ints]) -> Ints:
        """Return how many pods of each class parts take, and how many victims of each group they have."""
        have = np.zeros((len(self.groups), len(parts)), dtype=np.int64)
        for k, part in enumerate(parts):
            for n in part.tolist():
                for g in self._victims.get(n, ()):
                    have[g, k] += 1
        most = [self._sides.caps[:, part].sum(axis=1) for part in parts]
        return np.vstack((np.array(most).T.reshape(len(self.need), len(parts)), have))

    def _split(self, counts: Ints) -> tuple[list[int], list[int]]:
        """Return numbers by class and by group."""
        return counts[: len(self.need)].tolist(), counts[len(self.need) :].tolist()

    def _block(self, nodes: list[int], coming: list[int], leaving: list[int]) -> Block:
        return Block(
            need=self.need,
            other=self.other,
            room=self._free[nodes].tolist(),
            rest=self._rest[nodes].tolist(),
            caps=self._sides.caps[:, nodes].T.tolist(),
            coming=coming,
            victims=[self._victims.get(n, []) for n in nodes],
            gives=self.gives,
            gives_other=self.gives_other,
            leaving=leaving,
        )
