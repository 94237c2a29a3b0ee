"""What a search knew at a moment: the value and the bound of a tier (docs/output.md)."""

from __future__ import annotations

from .plan_model import PlanModel


class SearchPoint(PlanModel):
    """A tier from a moment on, until the next point of the same tier.

    Attributes
    ----------
    seconds : float
        Since the round's time limit began to run, to the millisecond.
    tier : str
    value : int
        That of the best plan at the time.
    bound : int or None
        Holds given that plan's values of the tiers above, as `Tier.bound` does; None where none was known.
    """

    seconds: float
    tier: str
    value: int
    bound: int | None
