"""Other ways to plan a round, each as its users would write it: what kubestow is measured beside.

A rival is a function `plan(problem, seconds, workers) -> RivalResult`. It gets the round by number, with the
nodes that static filters leave to each pod, and returns which pods go where and which leave; whether that is
a plan, and what it is worth, is for kubestow's replay and valuation to say. None of them sees greedy's
outcome.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubestow.solver.ordering.assignment import Assignment


@dataclass(frozen=True)
class RivalResult:
    """What a rival came to.

    Attributes
    ----------
    assignment : Assignment or None
        Its last solution; None where it found none.
    bounds : mapping
        Tier to the bound that it proved, in the order of the tiers, as far as it came.
    proven : bool
        Whether it proved every tier that it knows.
    note : str
        Why there is no solution, or what it does not know.
    """

    assignment: Assignment | None = None
    bounds: Mapping[str, int] = field(default_factory=dict)
    proven: bool = False
    note: str = ""
