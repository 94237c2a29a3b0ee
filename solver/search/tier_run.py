"""One run through the phases of a search: the tiers that are searched together, and until when."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..model.round_model import together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .params import SearchParams
    from .state import SearchState


@dataclass
class TierRun:
    """One run through the phases.

    Attributes
    ----------
    group : sequence of str
        The tiers searched together; the first one is bounded.
    names : sequence of str
        All tiers down to the last of the group.
    until : float
        End of the run, on the monotonic clock.
    large : bool
        Whether the model counts as large.
    settled : bool
        Whether all tiers of the group are proven, and held.
    """

    state: SearchState
    group: Sequence[str]
    names: Sequence[str]
    until: float
    large: bool
    settled: bool = False

    @classmethod
    def of(cls, state: SearchState, names: Sequence[str], k: int) -> TierRun:
        """Begin a run with the k-th tier and those that are searched together with it."""
        large = state.large or state.model.variables > state.params.small_model
        group = together(state.model.goals, names[k:], apart=large)
        # tiers below that are closed already need no time
        last = all(state.closed(name) for name in names[k + len(group) :])
        return cls(state, group, names[: k + len(group)], _until(state, last=last), large)

    @classmethod
    def before_model(cls, state: SearchState, names: Sequence[str], k: int) -> TierRun:
        """Begin a run of a large round through the phases that need no model.

        They look at all tiers of costs together, so that no time is kept for those below.
        """
        costs = {tier.name for tier in state.incumbent.valuation.tiers if tier.sense == "min"}
        last = all(name in costs or state.closed(name) for name in names[k:])
        return cls(state, names[k : k + 1], names[: k + 1], _until(state, last=last), large=True)

    @property
    def params(self) -> SearchParams:
        """Shares and thresholds."""
        return self.state.params

    @property
    def name(self) -> str:
        """The tier that is bounded."""
        return self.group[0]

    def open(self) -> bool:
        """Whether there is time, and the first tier is not closed."""
        return time.monotonic() < self.until and not self.done()

    def done(self) -> bool:
        """Whether the first tier needs no other run, or there is no time for one."""
        state = self.state
        return state.interrupted or _seconds(state) <= 0 or state.closed(self.name) or state.moved()

    def share(self, part: float) -> float:
        """Return when a share of the run's remaining time is over."""
        now = time.monotonic()
        return now + part * (self.until - now)


def _seconds(state: SearchState) -> float:
    """Return the seconds left, without those kept to put the last solution in order."""
    params = state.params
    spare = min(params.max_order_reserve, params.order_reserve_share * state.options.time_limit)
    return max(state.seconds_left - spare, 0.0)


def _until(state: SearchState, *, last: bool) -> float:
    """Return when a run ends: time is kept to put the last solution in order, and for open tiers below."""
    return time.monotonic() + _seconds(state) * (1.0 if last else state.params.tier_share)
