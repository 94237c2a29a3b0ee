"""The document of `kubestow study`: many instances, each solved by both schedulers."""

from __future__ import annotations

from typing import Final

from .plan import Sense
from .plan_model import PlanModel

ERROR: Final = "ERROR"
"""The status of an instance that could not be read or solved."""


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
    An instance that could not be read or solved has the status ERROR and says why in `error`; its numbers are
    0.
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
    error: str | None = None

    @classmethod
    def failed(cls, instance: str, error: str) -> StudiedInstance:
        """Return the row of an instance of which nothing but its failure is known."""
        return cls(
            instance=instance,
            nodes=0,
            pending=0,
            running=0,
            status=ERROR,
            admissible=False,
            interrupted=False,
            seconds=0.0,
            greedy_seconds=0.0,
            first_difference=None,
            tiers=(),
            error=error,
        )


class Study(PlanModel):
    """All instances, in the order in which they were given; fewer where the study was interrupted."""

    instances: tuple[StudiedInstance, ...]
    interrupted: bool = False
