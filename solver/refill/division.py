"""Sides cut into blocks: each with its share of who comes and who leaves, balanced in every resource."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from ..bounds.summed import victim_groups
from .block import Block
from .params import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...encoders.problem import Problem
    from ...framework.vocabulary.arrays import Ints
    from ..bounds.summed import VictimGroup
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
        self._amounts()

    def _amounts(self) -> None:
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

    def _given_at(self, given: Ints) -> Ints:
        total = np.zeros(self._problem.cluster.n_nodes, dtype=np.int64)
        for n, groups in self._victims.items():
            total[n] = sum(int(given[g]) for g in groups)
        return total

    def pieces(self, plan: Blueprint) -> Iterator[Piece]:
        """Yield the blocks of every side."""
        for s, side in enumerate(self._sides.nodes):
            nodes = np.flatnonzero(side)
            order = nodes[np.argsort(-self._free[nodes], kind="stable")]
            number = -(-len(nodes) // self._params.block_size)
            parts = [order[k::number] for k in range(number)]
            leaving = self._leaving(parts, {g: count for (g, at), count in plan.leaving.items() if at == s})
            coming = self._coming(parts, leaving, [plan.coming.get((c, s), 0) for c in range(len(self.need))])
            for part, out, into in zip(parts, leaving, coming, strict=True):
                yield Piece(self._block(part.tolist(), into, out), tuple(part.tolist()), s)

    def _leaving(self, parts: Sequence[Ints], wanted: Mapping[VictimGroup, int]) -> list[list[int]]:
        """Divide the victims of each group in proportion to those that run in each part."""
        have = [Counter(g for n in part.tolist() for g in self._victims.get(n, ())) for part in parts]
        found = [[0] * len(self.groups) for _ in parts]
        room = [0] * len(parts)
        for g, group in sorted(enumerate(self.groups), key=lambda item: -self.gives[item[0]]):
            whole, total = wanted.get(group, 0), sum(count[g] for count in have)
            for k, count in enumerate(have):
                found[k][g] = whole * count[g] // total if total else 0
            for _ in range(whole - sum(row[g] for row in found)):
                # what rounding leaves goes where least room is made so far
                k = min((k for k in range(len(parts)) if found[k][g] < have[k][g]), key=room.__getitem__)
                found[k][g] += 1
                room[k] += self.gives[g]
        return found

    def _coming(
        self, parts: Sequence[Ints], leaving: Sequence[Sequence[int]], wanted: Sequence[int]
    ) -> list[list[int]]:
        """Divide the pods of each class, large ones first, each to the part where most room is left."""
        free = []
        for part, out in zip(parts, leaving, strict=True):
            main = int(self._free[part].sum()) + sum(k * a for k, a in zip(out, self.gives, strict=True))
            rest = self._rest[part].sum(axis=0) + np.array(out) @ np.array(self.gives_other).reshape(
                len(out), -1
            )
            free.append([main, *rest.tolist()])
        whole = np.maximum(np.array(free, dtype=float), 1.0)
        left = whole.copy()
        caps = [self._sides.caps[:, part].sum(axis=1).tolist() for part in parts]
        found = [[0] * len(wanted) for _ in parts]
        for c in sorted(range(len(wanted)), key=lambda c: -self.need[c]):
            asked = np.array([self.need[c], *self.other[c]], dtype=float)
            for _ in range(wanted[c]):
                able = [k for k in range(len(parts)) if found[k][c] < caps[k][c]] or range(len(parts))
                k = max(able, key=lambda k: float(((left[k] - asked) / whole[k]).min()))
                found[k][c] += 1
                left[k] -= asked
        return found

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
