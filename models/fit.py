"""The document of `kubestow fit`: how many copies of a pod or of a gang a cluster takes (docs/fit.md)."""

from __future__ import annotations

from typing import Literal

from .plan import Eviction, Limits, Stats, Unschedulable
from .plan_model import PlanModel


class FitNode(PlanModel):
    """A node with the pods of copies that it takes."""

    node: str
    pods: int


class Fitting(PlanModel):
    """What one scheduler makes of the copies.

    `bound` is the most copies that any plan places; null where that is not known. `proven` says that `copies`
    is the bound; for `greedy` neither is claimed. `waiting_scheduled` counts pods of the input that waited
    and are placed. `next` is why the first copy that is left out is: null where none was.
    """

    copies: int
    bound: int | None
    proven: bool
    waiting_scheduled: int
    nodes: tuple[FitNode, ...]
    evictions: tuple[Eviction, ...]
    next: Unschedulable | None


class Fit(PlanModel):
    """How many copies fit.

    `tried` copies were in the queue; `enough` says that it was asked for no more than these, and all fit.
    """

    instance: str
    template: str
    pods_per_copy: int
    waiting: Literal["first", "ignored"]
    evict: bool
    tried: int
    enough: bool
    optimal: Fitting
    greedy: Fitting
    limits: Limits | None
    stats: Stats
