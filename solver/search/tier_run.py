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
        params = state.params
        large = state.model.variables > params.small_model
        group = together(state.model.goals, names[k:], apart=large)
        # tiers below that are closed already need no time
        last = all(state.closed(name) for name in names[k + len(group) :])
        # time is kept to put the last solution in order
        spare = min(params.max_order_reserve, params.order_reserve_share * state.options.time_limit)
        seconds = max(state.seconds_left - spare, 0.0) * (1.0 if last else params.tier_share)
        return cls(state, group, names[: k + len(group)], time.monotonic() + seconds, large)

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
        state = self.state
        over = state.interrupted or time.monotonic() >= self.until
        return not over and not state.closed(self.name) and not state.moved()

    def share(self, part: float) -> float:
        """Return when a share of the run's remaining time is over."""
        now = time.monotonic()
        return now + part * (self.until - now)
