"""The document of `kubestow provision --consolidate`: nodes bought and returned, and the moves between."""

from __future__ import annotations

from typing import Any, Literal

from .moves import Move, MoveStep
from .plan import Binding
from .plan_model import PlanModel
from .provision import BoughtNodes, PurchaseTier
from .rebalance import Unmovable


class ReturnedNode(PlanModel):
    """A node that is returned, of which group, and what it cost."""

    node: str
    group: str
    zone: str
    price: float


class ConsolidationPlan(PlanModel):
    """Nodes are bought first, then the steps are taken, then nodes are returned.

    `price` is of what is kept and bought. In `bought`, the pods of each node are those that stand there in
    the end, replacements by their new names. Only the tiers of the optimum have bounds.
    """

    bought: tuple[BoughtNodes, ...]
    returned: tuple[ReturnedNode, ...]
    price: float
    tiers: tuple[PurchaseTier, ...]
    moves: tuple[Move, ...]
    bindings: tuple[Binding, ...]
    steps: tuple[MoveStep, ...]
    batches: int


class Consolidation(PlanModel):
    """What nodes that stand cost now, and what is left to pay when some are bought and some returned.

    `heuristic` is one node at a time: deleted, or replaced by a cheaper one. `priced` counts the nodes that
    stand and have a price, `waiting` are pods that still wait, `changes` is the answer as a file for
    `kubestow what-if`, null where nothing changes.
    """

    instance: str
    status: Literal["OPTIMAL", "FEASIBLE"]
    price_now: float
    priced: int
    optimal: ConsolidationPlan
    heuristic: ConsolidationPlan
    waiting: tuple[str, ...]
    unmovable: tuple[Unmovable, ...]
    changes: dict[str, Any] | None
    interrupted: bool = False
    seconds: float
