"""The search in one block of nodes: who comes is given, who leaves is given by kind, all are to find a place.

A move takes two to four nodes, one of them with room left, may swap a leaving and a staying victim of one
group between two of them, takes newcomers away at random and fills the nodes again, drawing on the pods left
over. It stands if (size of the pods left over, their number, −Σ room²) is no worse.

The swaps matter most: what a node has free leaves a residue that only other victims change.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, TypeAlias

from .filling import fill
from .params import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .params import RefillParams


@dataclass(frozen=True)
class Block:
    """Some nodes, and what is to happen there; nodes are numbered within the block.

    Attributes
    ----------
    need, other : sequences
        By class, units of the resource that decides, and amounts of the others.
    room, rest : sequences
        By node, the same that is free now; nothing is negative.
    caps : sequence
        By node and class, the most pods that may stand there.
    coming : sequence of int
        By class, the pods to be placed.
    victims : sequence
        By node, the group of each possible victim.
    gives, gives_other : sequences
        By group, what a victim gives back.
    leaving : sequence of int
        By group, the victims to leave.
    """

    need: Sequence[int]
    other: Sequence[Sequence[int]]
    room: Sequence[int]
    rest: Sequence[Sequence[int]]
    caps: Sequence[Sequence[int]]
    coming: Sequence[int]
    victims: Sequence[Sequence[int]]
    gives: Sequence[int]
    gives_other: Sequence[Sequence[int]]
    leaving: Sequence[int]


@dataclass(frozen=True)
class Filled:
    """What came of a block: by node the classes that stand and the groups that leave; who is left over."""

    standing: Sequence[Sequence[int]]
    leaving: Sequence[Sequence[int]]
    left: Sequence[int]


_Before: TypeAlias = tuple[int, int, list[int], list[int], list[int], list[int]]
"""A node before a move: its number, room, rest, who stands there, stays and leaves."""


class BlockSearch:
    """The search in one block.

    Attributes
    ----------
    moves : int
        Moves made so far.
    """

    def __init__(self, block: Block, seed: int, params: RefillParams = DEFAULT) -> None:
        self._block, self._params = block, params
        self._random = Random(seed)
        self._nodes = range(len(block.room))
        self.room = list(block.room)
        self.rest = [list(amounts) for amounts in block.rest]
        self.standing: list[list[int]] = [[] for _ in self._nodes]
        self.staying = [list(groups) for groups in block.victims]
        self.leaving: list[list[int]] = [[] for _ in self._nodes]
        self.left: list[int] = []
        self._having: list[list[int]] = [[] for _ in block.gives]
        for n, groups in enumerate(block.victims):
            for g in dict.fromkeys(groups):
                self._having[g].append(n)
        # the classes of which some node may take fewer than there are
        self._capped = frozenset(
            c for c, count in enumerate(block.coming) if any(most[c] < count for most in block.caps)
        )
        self.moves = 0
        self._choose_victims()
        self._first_fill()

    def run(self, until: float) -> Filled:
        """Take moves until nothing is left over, there were enough of them, or time is out."""
        most = self._params.moves_per_node * len(self._nodes)
        while self.left and self.moves < most:
            if self.moves % self._params.look_up == 0 and time.monotonic() > until:
                break
            self._move()
            self.moves += 1
        return Filled(self.standing, self.leaving, self.left)

    def _choose_victims(self) -> None:
        """Let the victims of each group leave where least room is of a few nodes drawn."""
        block = self._block
        for g in sorted(range(len(block.gives)), key=lambda g: -block.gives[g]):
            for _ in range(block.leaving[g]):
                where = [n for n in self._having[g] if g in self.staying[n]]
                picked = self._random.sample(where, min(3, len(where)))
                self._leave(min(picked, key=lambda n: self.room[n]), g)

    def _leave(self, n: int, g: int, sign: int = 1) -> None:
        """Let a victim leave, or with -1 stay."""
        here, there = (self.staying, self.leaving) if sign > 0 else (self.leaving, self.staying)
        here[n].remove(g)
        there[n].append(g)
        self.room[n] += sign * self._block.gives[g]
        for r, amount in enumerate(self._block.gives_other[g]):
            self.rest[n][r] += sign * amount

    def _first_fill(self) -> None:
        """Place the larger half of the pods where most room is, then fill node after node."""
        block = self._block
        need = block.need
        waiting = [c for c, count in enumerate(block.coming) for _ in range(count)]
        waiting.sort(key=lambda c: -need[c])
        spare: list[int] = []
        for k, c in enumerate(waiting):
            if 2 * k >= len(waiting):
                spare += waiting[k:]
                break
            best = max(self._nodes, key=lambda n: self.room[n] if self._takes(n, c) else -1)
            if self._takes(best, c):
                self._stand(best, [c])
            else:
                spare.append(c)
        self.left = spare
        for n in sorted(self._nodes, key=lambda n: -self.room[n]):
            self.left = self._fill_node(n, self.left)

    def _takes(self, n: int, c: int) -> bool:
        block = self._block
        return (
            block.need[c] <= self.room[n]
            and self.standing[n].count(c) < block.caps[n][c]
            and all(a <= b for a, b in zip(block.other[c], self.rest[n], strict=True))
        )

    def _stand(self, n: int, classes: Sequence[int], sign: int = 1) -> None:
        """Put pods on a node, or with -1 only give their room back."""
        block, rest = self._block, self.rest[n]
        for c in classes:
            self.room[n] -= sign * block.need[c]
            for r, amount in enumerate(block.other[c]):
                rest[r] -= sign * amount
        if sign > 0:
            self.standing[n] += classes

    def _fill_node(self, n: int, pool: list[int]) -> list[int]:
        """Fill a node from a pool in its order; return what is left of it."""
        block = self._block
        room = self.room[n]
        if room <= 0 or not pool:
            return pool
        caps, need, capped, standing = block.caps[n], block.need, self._capped, self.standing[n]
        count: dict[int, int] = {}
        places = []
        for place, c in enumerate(pool):
            if need[c] > room:
                continue
            if c in capped:
                there = count[c] if c in count else standing.count(c)
                if there >= caps[c]:
                    continue
                count[c] = there + 1
            places.append(place)
        if not places:
            return pool
        items = [pool[place] for place in places]
        chosen = fill(room, self.rest[n], items, need, block.other, self._params.fill_tries)
        self._stand(n, [items[k] for k in chosen])
        left = pool[:]
        for k in sorted(chosen, reverse=True):
            del left[places[k]]
        return left

    # -- moves --

    def _move(self) -> None:
        draw, params = self._random.random, self._params
        picked = self._pick()
        # moves replace the lists of pods and victims that they change
        before: list[_Before] = [
            (n, self.room[n], self.rest[n][:], self.standing[n], self.staying[n], self.leaving[n])
            for n in picked
        ]
        if draw() < params.swap_chance:
            self._swap(picked)
        pool = self._take_away(picked)
        spare = self.left
        if len(spare) > params.most_spare:
            spare = spare[:]
            self._random.shuffle(spare)
            spare, kept = spare[: params.most_spare], spare[params.most_spare :]
        else:
            kept = []
        pool += spare
        self._random.shuffle(picked)
        way = int(3 * draw())
        for n in picked:
            self._sort(pool, n, way)
            pool = self._fill_node(n, pool)
        pool += kept
        if self._worse(before, pool):
            for n, room, rest, standing, staying, leaving in before:
                self.room[n], self.rest[n], self.standing[n] = room, rest, standing
                self.staying[n], self.leaving[n] = staying, leaving
        else:
            self.left = pool

    def _pick(self) -> list[int]:
        """Draw two to four nodes, the first of them with room if one is soon found."""
        number = len(self._nodes)
        draw = self._random.random
        first = int(number * draw())
        for _ in range(20):
            if self.room[first] > 0:
                break
            first = int(number * draw())
        picked = [first]
        for _ in range(1 + int(3 * draw())):
            n = int(number * draw())
            if n not in picked:
                picked.append(n)
        return picked

    def _swap(self, picked: list[int]) -> None:
        """Let a victim stay that leaves on one node, and one of its group leave on another instead."""
        a = picked[int(len(picked) * self._random.random())]
        pairs = [
            (n, m, g)
            for n, m in [(a, m) for m in picked if m != a] + [(m, a) for m in picked if m != a]
            for g in self.leaving[n]
            if g in self.staying[m]
        ]
        if pairs:
            n, m, g = pairs[int(len(pairs) * self._random.random())]
            for place in (n, m):
                self.staying[place] = self.staying[place][:]
                self.leaving[place] = self.leaving[place][:]
            self._leave(n, g, -1)
            self._leave(m, g)

    def _take_away(self, picked: list[int]) -> list[int]:
        """Take newcomers away at random, and more where a node would lack room; return them."""
        draw, chance = self._random.random, self._params.drop_chance
        pool: list[int] = []
        for n in picked:
            kept: list[int] = []
            taken: list[int] = []
            for c in self.standing[n]:
                (taken if draw() < chance else kept).append(c)
            self._stand(n, taken, -1)
            while kept and (self.room[n] < 0 or min(self.rest[n], default=0) < 0):
                c = kept.pop(int(len(kept) * draw()))
                self._stand(n, [c], -1)
                taken.append(c)
            self.standing[n] = kept
            pool += taken
        return pool

    def _sort(self, pool: list[int], n: int, way: int) -> None:
        """Order a pool: large pods first with noise, by how their resources match what is free, at random."""
        draw, need = self._random.random, self._block.need
        noise = self._params.noise
        if way == 0:
            pool.sort(key=lambda c: -need[c] * (1 + noise * draw()))
        elif way == 1 and self.rest[n]:
            other, ratio = self._block.other, self.rest[n][0] / max(self.room[n], 1)
            pool.sort(key=lambda c: abs(other[c][0] / need[c] - ratio) * (1 + noise * draw()))
        else:
            self._random.shuffle(pool)

    def _worse(self, before: Sequence[_Before], left: Sequence[int]) -> bool:
        """Whether the move has made the block worse."""
        need = self._block.need
        now, then = sum(need[c] for c in left), sum(need[c] for c in self.left)
        if now != then:
            return now > then
        if len(left) != len(self.left):
            return len(left) > len(self.left)
        return sum(self.room[n] ** 2 for n, *_ in before) < sum(room**2 for _, room, *_ in before)
