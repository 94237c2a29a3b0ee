"""The document of `kubestow provision`: a purchase, its bound, and what heuristics would buy."""

from __future__ import annotations

from typing import Any, Literal

from .plan import Plan, Sense
from .plan_model import PlanModel


class BoughtNodes(PlanModel):
    """Nodes of one group in one zone: what one costs, their names, and the pods that were waiting on each."""

    group: str
    zone: str
    count: int
    price: float
    cost: float
    nodes: dict[str, tuple[str, ...]]


class Purchase(PlanModel):
    """What is bought; `scheduled` counts the pods that waited and are placed then."""

    bought: tuple[BoughtNodes, ...]
    price: float
    nodes: int
    scheduled: int


class PurchaseTier(PlanModel):
    """One goal of a purchase, the most important first.

    `bound` holds given the values of the tiers above; null where none is known. Prices are in units of money.
    """

    name: str
    sense: Sense
    value: float
    bound: float | None
    proven: bool


class Heuristic(PlanModel):
    """What an autoscaler would order, by one of its expanders, and what kube-scheduler places on it."""

    expander: Literal["least-waste", "price"]
    purchase: Purchase


class Provision(PlanModel):
    """Which nodes to buy.

    `saved` is how much less the purchase costs than the cheapest heuristic that places as many pods; null
    where none does. `changes` is the purchase as a file for `kubestow what-if`. `plan` is the round with the
    new nodes, `daemons` are the DaemonSets' pods on them, `waiting` the pods that still wait.
    """

    instance: str
    max_price: float | None
    status: Literal["OPTIMAL", "FEASIBLE"]
    purchase: Purchase
    tiers: tuple[PurchaseTier, ...]
    heuristics: tuple[Heuristic, ...]
    saved: float | None
    waiting: tuple[str, ...]
    daemons: tuple[str, ...]
    changes: dict[str, Any] | None
    plan: Plan
    interrupted: bool = False
    seconds: float
