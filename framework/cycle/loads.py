"""What classes of pods have found on nodes, by what a node offers and what is taken of it.

In a cluster in which few kinds of pods come and go, nodes are again and again as some node was before. An
answer that depends on nothing else about the node is looked up then. What a node has is read once after a
change, for all classes.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from ..state.dirty_nodes import NEVER
from ..vocabulary.arrays import Bools, Ints

if TYPE_CHECKING:
    from ..state.state import State

_MOST: Final = 2**15
"""So many answers are kept; then all are forgotten."""

Answers = tuple[Bools, Ints]
"""For some nodes whether they pass, and their points; bool[K], int64[K]."""

Points = int | None
"""A node's points, None where it does not pass."""


class Loads:
    """Answers by class and load; loads are numbered as they come."""

    __slots__ = ("_known", "_moment", "_numbers", "_of_node", "_offers", "_size")

    def __init__(self) -> None:
        self._known: dict[int, dict[int, Points]] = {}
        self._size = 0
        self._numbers: dict[tuple[int, ...], int] = {}
        self._of_node: dict[int, int] = {}
        self._offers: dict[int, tuple[int, ...]] = {}
        self._moment = NEVER

    def __len__(self) -> int:
        return self._size

    def answers(
        self, cls: int, state: "State", nodes: Sequence[int], ask: Callable[[Ints], Answers]
    ) -> list[Points]:
        """Return the points of each node, None for those that do not pass.

        Parameters
        ----------
        cls : int
        state : State
        nodes : sequence of int
        ask : callable
            Finds the answers for some of the nodes.
        """
        self._follow(state)
        of_node = self._of_node
        numbers = [of_node[n] if n in of_node else self._number(state, n) for n in nodes]
        known = self._known.setdefault(cls, {})
        new = [k for k, number in enumerate(numbers) if number not in known]
        if new:
            if self._size + len(new) > _MOST:
                self._forget()
                known = self._known.setdefault(cls, {})
                numbers = [self._number(state, n) for n in nodes]
                new = list(range(len(numbers)))
            passes, points = ask(np.array([nodes[k] for k in new], dtype=np.int64))
            before = len(known)
            for k, passed, sum_ in zip(new, passes.tolist(), points.tolist(), strict=True):
                known[numbers[k]] = sum_ if passed else None
            self._size += len(known) - before
        return [known[number] for number in numbers]

    def _forget(self) -> None:
        self._known.clear()
        self._numbers.clear()
        self._of_node.clear()
        self._size = 0

    def _follow(self, state: "State") -> None:
        log = state.dirty_nodes
        dirty = log.since(self._moment)
        if dirty is None:
            self._of_node.clear()
        else:
            for n in dirty:
                self._of_node.pop(n, None)
        self._moment = log.moment

    def _number(self, state: "State", n: int) -> int:
        """Read a node's load, and return its number."""
        offer = self._offers.get(n)
        if offer is None:
            cluster = state.cluster
            offer = (*cluster.allocatable[:, n].tolist(), cluster.allowed_pods.item(n))
            self._offers[n] = offer
        load = (
            *offer,
            *state.requested[:, n].tolist(),
            *state.nonzero[:, n].tolist(),
            state.pod_count.item(n),
        )
        number = self._of_node[n] = self._numbers.setdefault(load, len(self._numbers))
        return number
