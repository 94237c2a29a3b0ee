"""The document of `kubestow study`: many instances, each solved by both schedulers."""

from __future__ import annotations

from .plan import PlanModel, Sense


class StudiedTier(PlanModel):
    """One tier of one instance; `gap` is how far the value is from the bound."""

    name: str
    sense: Sense
    optimal: int
    bound: int
    gap: int
    proven: bool
    greedy: int


class StudiedInstance(PlanModel):
    """One instance: its size, what both schedulers reached, and how long they took.

    `first_difference` is the first tier in which the schedulers differ; `admissible` is false where the
    answer is an outcome of greedy's that is no plan, `interrupted` true where Ctrl-C ended the search early.
    """

    instance: str
    nodes: int
    pending: int
    running: int
    status: str
    admissible: bool
    interrupted: bool
    seconds: float
    greedy_seconds: float
    first_difference: str | None
    tiers: tuple[StudiedTier, ...]


class Study(PlanModel):
    """All instances, in the order in which they were given; fewer where the study was interrupted."""

    instances: tuple[StudiedInstance, ...]
    interrupted: bool = False
