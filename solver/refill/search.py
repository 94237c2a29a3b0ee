"""Refill search: from a blueprint to numbers of pods by class and node, and of victims who leave.

    1. Sums say how many pods of each class go to each side, and who leaves (`solver.refill.blueprint`).
    2. Sides are cut into blocks, and each is searched by itself (`solver.refill.block`).
    3. Pods left over make one more victim leave each, and victims who have room again stay
       (`solver.refill.finish`).

Nothing here is a proof: what comes out is completed, put in order and valued like every other solution.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from .block import Block, BlockSearch
from .blueprint import sides_of, suits
from .division import Division
from .finish import Finish
from .params import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...encoders.problem import Problem
    from .block import Filled
    from .blueprint import Blueprint, Sides
    from .division import Piece
    from .params import RefillParams

SideBySide: TypeAlias = Callable[[Callable[[Any], Any], int, Iterable[Any]], Iterator[tuple[int, Any]]]
"""Does so many pieces of work, and yields the number of each with its result as they come."""


def one_by_one(work: Callable[[Any], Any], number: int, pieces: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    """Do pieces of work here, one after the other."""
    for k, piece in enumerate(pieces):
        yield k, work(piece)


class Task(NamedTuple):
    """A block to be searched for some seconds."""

    block: Block
    seed: int
    seconds: float
    params: RefillParams


class Refilled(NamedTuple):
    """What came of a blueprint.

    Attributes
    ----------
    counts, leaving : mapping
        Newcomers by (class, node), and victims who leave by class.
    left : int
        Pods that blocks left over.
    searched : float
        When the blocks were done, on the monotonic clock.
    """

    counts: Mapping[tuple[int, int], int]
    leaving: Mapping[int, int]
    left: int
    searched: float


def search_block(task: Task) -> Filled:
    """Search one block."""
    until = time.monotonic() + task.seconds
    return BlockSearch(task.block, task.seed, task.params).run(until)


@dataclass(frozen=True)
class Refill:
    """Refill search in one problem; `slots` blocks are searched at a time."""

    problem: Problem
    seed: int
    slots: int = 1
    side_by_side: SideBySide = one_by_one
    params: RefillParams = DEFAULT

    @cached_property
    def sides(self) -> Sides:
        """The division of the nodes."""
        return sides_of(self.problem)

    @cached_property
    def _division(self) -> Division:
        return Division(self.problem, self.sides, self.params)

    @cached_property
    def worthwhile(self) -> bool:
        """Whether moves keep to the rules, and nodes of a side and pods of a node are many enough."""
        if not suits(self.problem) or not self.sides.nodes:
            return False
        nodes = sum(int(side.sum()) for side in self.sides.nodes)
        pods = sum(cls.size for cls in self.problem.classes)
        least = self.params.least_nodes * len(self.sides.nodes)
        return nodes >= least and pods >= self.params.least_pods * nodes

    def carry_out(self, plan: Blueprint, seed: int, until: float, *, again: bool = False) -> Refilled | None:
        """Search for a place for everyone; None where some found none even with one more victim.

        Parameters
        ----------
        again : bool
            Whether a blueprint like this one has left pods over: then victims leave in other parts.
        """
        pieces = list(self._division.pieces(plan, Random(self.seed + seed) if again else None))
        counts: Counter[tuple[int, int]] = Counter()
        leaving: Counter[int] = Counter()
        left: list[tuple[int, int]] = []
        for number, filled in self.side_by_side(search_block, len(pieces), self._tasks(pieces, seed, until)):
            self._read(pieces[number], filled, counts, leaving)
            left += [(c, pieces[number].side) for c in filled.left]
        searched = time.monotonic()
        finish = Finish(self.problem, self.sides, counts, leaving)
        if not finish.place(left):
            return None
        finish.restore()
        return Refilled(+finish.counts, +finish.leaving, len(left), searched)

    def _tasks(self, pieces: Sequence[Piece], seed: int, until: float) -> Iterator[Task]:
        """Give each block its share of the time that is left when its turn comes."""
        for number, piece in enumerate(pieces):
            seconds = max(until - time.monotonic(), 0.0) * min(1.0, self.slots / (len(pieces) - number))
            yield Task(piece.block, self.seed + seed + number, seconds, self.params)

    def _read(
        self, piece: Piece, filled: Filled, counts: Counter[tuple[int, int]], leaving: Counter[int]
    ) -> None:
        """Record what a block has come to in numbers of the round."""
        for n, classes, groups in zip(piece.nodes, filled.standing, filled.leaving, strict=True):
            counts.update((c, n) for c in classes)
            here = self._victims_at(n)
            for g in groups:
                leaving[here[g].pop()] += 1

    def _victims_at(self, n: int) -> dict[int, list[int]]:
        """Victim classes of a node by group, each as often as it has pods."""
        found: dict[int, list[int]] = {}
        for v in self.problem.victims_on.get(n, ()):
            found.setdefault(self._division.group_of[v.index], []).extend([v.index] * v.size)
        return found
