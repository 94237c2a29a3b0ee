"""What classes of pods have found on nodes, by what a node offers and what is taken of it.

In a cluster in which few kinds of pods come and go, nodes are again and again as some node was before. An
answer that depends on nothing else about the node is looked up then.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

from ..vocabulary.arrays import Bools, Ints

if TYPE_CHECKING:
    from ..state.state import State

_MOST: Final = 2**15
"""So many answers are kept; then all are forgotten."""

Answers = tuple[Bools, Ints]
"""For some nodes whether they pass, and their points; bool[K], int64[K]."""


class Loads:
    """Answers by class and load."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], tuple[bool, int]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def answers(self, cls: int, state: "State", nodes: Ints, ask: Callable[[Ints], Answers]) -> Answers:
        """Return the answers of a class for some nodes.

        Parameters
        ----------
        cls : int
        state : State
        nodes : int64[K]
        ask : callable
            Finds the answers for some of the nodes.
        """
        known = self._known
        keys = _keys(cls, state, nodes)
        new = [k for k, key in enumerate(keys) if key not in known]
        if new:
            if len(known) + len(new) > _MOST:
                known.clear()
                new = list(range(len(keys)))
            passes, points = ask(nodes[new])
            found = zip(passes.tolist(), points.tolist(), strict=True)
            known.update(zip((keys[k] for k in new), found, strict=True))
        both = [known[key] for key in keys]
        return np.array([a for a, _ in both], dtype=np.bool_), np.array([b for _, b in both], dtype=np.int64)


def _keys(cls: int, state: "State", nodes: Ints) -> list[tuple[int, ...]]:
    cluster = state.cluster
    parts = (
        cluster.allocatable[:, nodes],
        cluster.allowed_pods[nodes][None],
        state.requested[:, nodes],
        state.nonzero[:, nodes],
        state.pod_count[nodes][None],
    )
    return [(cls, *load) for load in np.concatenate(parts).T.tolist()]
