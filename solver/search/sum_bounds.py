"""Bounds of tiers from rows summed over the nodes: no model node by node is made for them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ...models.tiers import PREFERENCES
from ..bounds.summed import SummedModel
from ..model.interrupts import run_interruptibly
from ..model.round_model import new_solver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...encoders.problem import Problem
    from ..options import SolveOptions
    from .incumbent import Incumbent


class SumBounds:
    """Bounds of the tiers of one problem.

    Attributes
    ----------
    interrupted : bool
        Whether Ctrl-C ended one.
    """

    def __init__(self, problem: Problem, options: SolveOptions) -> None:
        self._problem, self._options = problem, options
        self._sums: SummedModel | None = None
        self.interrupted = False

    @property
    def ready(self) -> bool:
        """Whether the rows are there."""
        return self._sums is not None

    def prepare(self) -> SummedModel:
        """Write the rows, if they are not there: no limit of seconds is for that."""
        if self._sums is None:
            self._sums = SummedModel(self._problem)
            self._sums.add_room()
        return self._sums

    def of(self, name: str, held: Sequence[tuple[str, int]], seconds: float) -> int | None:
        """Bound a tier, the tiers above held; None where the sums say nothing of it."""
        sums, solver = self.prepare(), new_solver(self._options, seconds)
        bound, interrupted = run_interruptibly(lambda: sums.bound(name, held, solver), solver.stop_search)
        self.interrupted |= interrupted
        return bound

    def of_open(self, incumbent: Incumbent, until: float, limit: float) -> None:
        """Bound the tiers that are open, each given the best plan's values above, and record that.

        Parameters
        ----------
        until : float
            On the monotonic clock.
        limit : float
            Seconds for each tier.
        """
        held: list[tuple[str, int]] = []
        for k, tier in enumerate(incumbent.valuation.tiers):
            if tier.name in PREFERENCES:  # sums say nothing of them
                return
            seconds = min(limit, until - time.monotonic())
            if incumbent.bound(tier.name) != tier.value and seconds > 0:
                bound = self.of(tier.name, held, seconds)
                if bound is not None:
                    incumbent.tell(tier.name, bound, incumbent.valuation.costs[:k])
            held.append((tier.name, tier.value))
