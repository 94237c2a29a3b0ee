"""The document of `kubestow rebalance`: which running pods move where, what that gains, and its proof."""

from __future__ import annotations

from typing import Literal

from .moves import Move, MoveStep
from .plan import Binding, Stats, Tier
from .plan_model import PlanModel

MoveGoal = Literal["admit", "free-nodes", "cheapest", "spread", "pack"]
"""What moves are for (docs/rebalance.md)."""

GOALS: tuple[MoveGoal, ...] = ("admit", "free-nodes", "cheapest", "spread", "pack")


class Unmovable(PlanModel):
    """A running pod that stays, and why; pods that belong to their node, or are about to go, are left out."""

    pod: str
    node: str
    reason: str


class Rebalancing(PlanModel):
    """Moves in an order in which every step passes.

    `tiers` are those of the goal, the most important first, then the moves; only those of the optimum have
    bounds. `bindings` are pods that waited and are placed, `freed` nodes that the moves empty of all who may
    move, and `batches` says how many times pods are evicted together before others are bound again.
    """

    tiers: tuple[Tier, ...]
    moves: tuple[Move, ...]
    bindings: tuple[Binding, ...]
    freed: tuple[str, ...]
    steps: tuple[MoveStep, ...]
    batches: int

    @property
    def proven(self) -> bool:
        """Whether nothing better exists."""
        return all(tier.proven for tier in self.tiers)


class FrontPoint(PlanModel):
    """The best gain with at most so many moves; `moves` is how many it takes."""

    max_moves: int
    moves: int
    tiers: tuple[Tier, ...]

    @property
    def proven(self) -> bool:
        """Whether no plan with so many moves gains more."""
        return all(tier.proven for tier in self.tiers)


class Rebalance(PlanModel):
    """What moves of running pods gain.

    `heuristic` is what users have today, called `rule`: one node at a time for nodes, kube-scheduler without
    moves for pods that wait. `price_unit` is one unit of the tier `price`; null where nodes have no price.
    """

    instance: str
    goal: MoveGoal
    max_moves: int | None
    price_unit: str | None
    movable: int
    unmovable: tuple[Unmovable, ...]
    optimal: Rebalancing
    rule: str
    heuristic: Rebalancing
    front: tuple[FrontPoint, ...] | None
    stats: Stats
