"""A row of a study's folder: one tier of one run."""

from __future__ import annotations

from .plan import Sense
from .plan_model import PlanModel


class StudyRow(PlanModel):
    """One tier of one run; a run that failed has a single row without a tier, and says why in `error`.

    Attributes
    ----------
    run : str
        The run's id: a hash of all that defines it.
    input_hash : str
        SHA-256 of the instance as it was read or generated; empty where it could not be.
    seed : int or None
        That of the search; None for greedy, which has none.
    seconds : float
        Of the whole run, reading included.
    number : int or None
        The tier's place, most important first.
    bound : int or None
        Holds given the values of the tiers above; None for greedy.
    tier_seconds : float or None
        When the tier's value or bound changed last, since the run's time began; None where no search was
        needed.
    """

    run: str
    instance: str
    family: str
    input_hash: str
    scheduler: str
    variant: str
    seed: int | None
    kube_version: str
    time_limit: float
    threads: int
    kubestow: str
    ortools: str
    python: str
    nodes: int
    pending: int
    running: int
    status: str
    admissible: bool
    seconds: float
    error: str | None = None
    number: int | None = None
    tier: str | None = None
    sense: Sense | None = None
    value: int | None = None
    bound: int | None = None
    proven: bool | None = None
    tier_seconds: float | None = None
