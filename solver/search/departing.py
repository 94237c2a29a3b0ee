"""Phases about who leaves each node: a bound, and plans near it, where few pods share a node."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ..ordering.decoding import counted
from .refilling import concerns, offer

if TYPE_CHECKING:
    from .tier_run import TierRun


def count_departures(run: TierRun) -> None:
    """Bound the tier by choices of who leaves each node."""
    state, params = run.state, run.params
    share = params.relaxation_share * (run.until - time.monotonic())
    until = time.monotonic() + min(params.departures_limit, share)
    bound = state.departing.bound(run.name, state.held, state.value(run.name), until)
    if bound is not None:
        state.tell(run.name, bound)
        state.report_known(run.name)


def choose_departures(run: TierRun) -> None:
    """Improve what leaves for pods that are all placed, by choosing who leaves each node."""
    state = run.state
    if not concerns(run):
        return
    standing, _ = counted(state.problem, state.incumbent.best)
    until = run.share(run.params.departures_share)
    tier = run.name, state.bound(run.name)
    found = state.departing.plan(tier, state.held, standing, until)
    if found is not None:
        offer(run, found)
