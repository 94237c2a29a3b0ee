"""The document of `kubestow regress run` and `check`: rounds beside the best that is known of them."""

from __future__ import annotations

from typing import Final, Literal

from .plan import Sense
from .plan_model import PlanModel

Verdict = Literal["contradiction", "worse", "incomplete", "better", "tighter", "equal"]
"""What a scheduler's vector is beside the best known one.

A contradiction is a value beyond a bound, one of them stored and the other one new, or a value of greedy's
beyond a bound on any plan. Of an incomplete one not the same tiers are known as there are now, and it is no
worse in those that come before. `tighter` is equal with a better bound.
"""

State = Literal["compared", "new", "changed", "missing", "failed", "dropped"]
"""What can be said of an instance.

Nothing is known of a new one; of a changed one only what it was before; a missing one has no file; a dropped
one is known and no longer in the suite.
"""

HOLDS: Final = ("better", "tighter", "equal")
"""Verdicts with which a check passes."""


class JudgedTier(PlanModel):
    """One tier, as it is best known and now; null where there is none."""

    name: str
    sense: Sense
    known: int | None
    known_bound: int | None
    value: int | None
    bound: int | None


class JudgedRound(PlanModel):
    """One scheduler's vector beside the best known one.

    `first_difference` is the first tier whose value is another one; `contradictions` are told in words.
    """

    scheduler: Literal["greedy", "optimal"]
    verdict: Verdict
    first_difference: str | None
    contradictions: tuple[str, ...]
    tiers: tuple[JudgedTier, ...]


class JudgedInstance(PlanModel):
    """One instance: whether it could be compared, why not, and both schedulers if it could."""

    instance: str
    state: State
    reason: str | None = None
    rounds: tuple[JudgedRound, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether a check passes it."""
        return self.state == "compared" and all(round_.verdict in HOLDS for round_ in self.rounds)


class TimedInstance(PlanModel):
    """Medians of the processor seconds of this kubestow and of another one, and their ratio.

    The name of the sum over all instances is null. Where one of them failed its seconds are null.
    """

    instance: str | None
    seconds: float | None
    other_seconds: float | None
    ratio: float | None
    error: str | None = None


class Timing(PlanModel):
    """Two versions of kubestow, run in turns; `slower` are the instances beyond `max_ratio`."""

    version: str
    other_version: str
    repeats: int
    max_ratio: float | None
    instances: tuple[TimedInstance, ...]
    slower: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether a check passes it."""
        return not self.slower and not any(item.error for item in self.instances)


class Regression(PlanModel):
    """A suite beside the best that is known of it."""

    suite: str
    version: str
    instances: tuple[JudgedInstance, ...]
    timing: Timing | None = None
    interrupted: bool = False

    @property
    def holds(self) -> bool:
        """Whether a check passes it."""
        return all(item.holds for item in self.instances) and (self.timing is None or self.timing.holds)
