"""Search by shares of devices as a step before the tiers: its bounds, and its plan put in order."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from ...models import tiers
from ..model.interrupts import run_interruptibly
from ..model.round_model import new_solver
from ..ordering.decoding import ordered
from ..shares.assignment import assigned
from ..shares.search import ShareSearch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .state import SearchState


def share_out(state: SearchState) -> bool:
    """Bound the tiers of placed pods, and offer a plan, where devices are shared on nodes that are alike.

    Returns
    -------
    bool
        Whether it made a plan.
    """
    if state.seconds_left <= 0 or state.interrupted or not state.leaves_out():
        return False
    search = ShareSearch.of(state.problem, state.params.shares)
    if search is None:
        return False
    until = time.monotonic() + state.params.share_out_share * state.seconds_left
    found, state.interrupted = run_interruptibly(lambda: search.bounds(_values(state), until), search.stop)
    _tell(state, found)
    if state.interrupted or not found or not state.leaves_out() or not search.round.loose:
        return False
    known = {level: state.bound(tiers.scheduled(level)) for level in search.levels}
    solver = partial(new_solver, state.options)
    filled, state.interrupted = run_interruptibly(
        lambda: search.plan(known, solver, state.options.workers, state.options.seed, until), search.stop
    )
    if filled:
        assignment = assigned(state.problem, search.round, filled)
        state.offer(*ordered(state.problem, state.sequencer, assignment, state.deadline))
    _tell(state, search.priced_bounds(_values(state)))
    return bool(filled)


def _values(state: SearchState) -> dict[int, int]:
    return {level: state.value(tiers.scheduled(level)) for level in state.problem.levels}


def _tell(state: SearchState, bounds: Mapping[int, int]) -> None:
    """Record bounds that hold of plans with no fewer pods of higher priorities than the best one has."""
    for k, tier in enumerate(state.incumbent.valuation.tiers):
        for level, bound in bounds.items():
            if tier.name == tiers.scheduled(level):
                state.incumbent.tell(tier.name, bound, state.incumbent.valuation.costs[:k])
