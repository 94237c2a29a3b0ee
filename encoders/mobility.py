"""Who may move in a round, and what for: what `encoders.moves` reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..framework.vocabulary.arrays import Bools, Ints
    from ..models.rebalance import MoveGoal


@dataclass(frozen=True, kw_only=True, eq=False)
class Mobility:
    """Moves of running pods.

    Attributes
    ----------
    goal : MoveGoal
    successors : mapping
        Running pod that may move -> the pending pod that its controller makes in its place.
    charges : mapping
        Running pod that may move -> the budgets (places in `allowed`) of which it takes one while it is away.
    allowed : tuple of int
        How many pods each budget lets be away at a time.
    kept : bool[N]
        Nodes that a pod keeps which can neither move nor goes with its node.
    prices : int64[N] or None
        Of each node, in whole units; None where nodes have none.
    most : int or None
        Most moves.
    memory : bool
        Whether the memory of the pods that move is a tier.
    waiting : bool
        Whether pods that wait are placed first, and hold nodes as those do that move.
    """

    goal: MoveGoal
    successors: Mapping[int, int]
    charges: Mapping[int, tuple[int, ...]]
    allowed: tuple[int, ...]
    kept: Bools
    prices: Ints | None = None
    most: int | None = None
    memory: bool = False
    waiting: bool = False

    @property
    def limit(self) -> int:
        """The most moves that there can be."""
        return len(self.successors) if self.most is None else self.most

    @property
    def admits(self) -> bool:
        """Whether pods that wait are part of the round."""
        return self.waiting or self.goal == "admit"
