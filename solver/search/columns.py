"""Search by node types: its bounds, and its plan put in order.

Where devices are shared it comes before the tiers, else as a phase of the tiers of placed pods.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...models import tiers
from ..columns.assignment import assigned
from ..columns.binding import bind_pods
from ..columns.quotas import spread_out
from ..columns.search import ColumnSearch
from ..columns.shared_devices import Evictable
from ..columns.slots import Slots
from ..model.interrupts import run_interruptibly
from ..model.round_model import new_solver
from ..ordering.decoding import complete

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...encoders.dra.problem import DeviceProblem
    from ...encoders.problem import Problem
    from ..columns.dive import Filled
    from .state import SearchState
    from .tier_run import TierRun


def share_out(state: SearchState) -> bool:
    """Bound the tiers of placed pods, and offer a plan, where devices are shared on nodes that are alike.

    Returns
    -------
    bool
        Whether a plan was made, where devices and room are all that ties the pods, or else a better one.
    """
    if (
        state.problem.devices is None
        or state.seconds_left <= 0
        or state.interrupted
        or not state.leaves_out()
    ):
        return False
    share = state.params.share_out_alone if too_large(state) else state.params.share_out_share
    until = time.monotonic() + share * state.seconds_left
    search = (_beside_victims if state.problem.victims else _bounded)(state, until)
    if search is None or state.interrupted or not state.leaves_out():
        return False
    return _plan(state, search, until)


def fill_types(run: TierRun) -> None:
    """Bound the tiers of placed pods, and offer a plan, where nodes are of few types and nobody may leave."""
    state = run.state
    placing = {tiers.scheduled(level) for level in state.problem.levels}
    if run.name not in placing or state.filled or state.interrupted or state.problem.victims:
        return
    search = ColumnSearch.of(state.problem, state.params.columns, Evictable.STAY)
    if search is None or search.round.wants:
        return
    until = run.share(state.params.fill_types_share)
    _tell(state, _bounds(state, search, until))
    if run.open():
        _plan(state, search, until)
        state.report_known(run.name)


def _plan(state: SearchState, search: ColumnSearch, until: float) -> bool:
    """Offer a plan, and tell what its pricing bounds; return as `share_out` does."""
    better = (_assign if search.round.loose else _let_in)(state, search, until)
    if not state.problem.victims:
        _tell(state, search.priced_bounds(_values(state)))
    return better


def _bounded(state: SearchState, until: float) -> ColumnSearch | None:
    """Return a search of the round without its victims, whose bounds are told; None where there is none."""
    gone = Evictable.GONE if state.problem.victims else Evictable.STAY
    search = ColumnSearch.of(state.problem, state.params.columns, gone)
    if search is None or not search.round.wants:
        return None
    _tell(state, _bounds(state, search, until))
    return search


def _beside_victims(state: SearchState, until: float) -> ColumnSearch | None:
    """Bound the round with all victims gone; return a search with all of them there, if it may do better."""
    if _bounded(state, until) is None or state.interrupted or not state.leaves_out():
        return None
    search = ColumnSearch.of(state.problem, state.params.columns, Evictable.STAY)
    return search if search is not None and _promising(state, _bounds(state, search, until)) else None


def _assign(state: SearchState, search: ColumnSearch, until: float) -> bool:
    """Offer a plan where only devices and room tie the pods; return whether there is one."""
    filled = _fill(state, search, until, 1.0)
    if filled:
        state.put_in_order(assigned(Slots(state.problem, search.round, filled)), state.deadline)
    return bool(filled)


def _let_in(state: SearchState, search: ColumnSearch, until: float) -> bool:
    """Offer plans where constraints tie the pods, too; return whether one is better."""
    filled = _fill(state, search, until, state.params.filling_share)
    return bool(filled) and not state.interrupted and _bind(state, search, filled, until)


def too_large(state: SearchState) -> bool:
    """Whether a model of all devices of a round would be too large."""
    problem = state.problem
    if problem.devices is None:
        return False
    return state.decisions + _device_choices(problem, problem.devices) > state.params.most_modelled


def _device_choices(problem: Problem, devices: DeviceProblem) -> int:
    """Count pairs of a class with claims and devices where it may stand, like devices as one."""
    there = np.zeros(problem.cluster.n_nodes, dtype=np.int64)
    for kind in devices.kinds:
        there += 1 if kind.reach is None else kind.reach
    return sum(int(there[cls.mask].sum()) for cls in problem.classes if devices.private.get(cls.pod))


def _bounds(state: SearchState, search: ColumnSearch, until: float) -> dict[int, int]:
    """Bound how many pods of each priority are placed in the round of a search."""
    found, interrupted = run_interruptibly(lambda: search.bounds(_values(state), until), search.stop)
    state.interrupted |= interrupted
    return found


def _promising(state: SearchState, bounds: Mapping[int, int]) -> bool:
    """Whether a plan within these bounds may be no worse in the tiers of placed pods than the best one."""
    for level, value in _values(state).items():
        if bounds.get(level, -1) != value:
            return bounds.get(level, -1) > value
    return True


def _fill(state: SearchState, search: ColumnSearch, until: float, share: float) -> list[Filled]:
    """Fill the nodes, in a share of the time that is left."""
    known = {level: state.bound(tiers.scheduled(level)) for level in search.levels}
    solver, options = partial(new_solver, state.options), state.options
    end = time.monotonic() + share * (until - time.monotonic())
    filled, interrupted = run_interruptibly(
        lambda: search.plan(known, solver, options.workers, options.seed, end), search.stop
    )
    state.interrupted |= interrupted
    state.filled = bool(filled)
    return filled


def _bind(state: SearchState, search: ColumnSearch, filled: Sequence[Filled], until: float) -> bool:
    """Offer plans with the pods that constraints let into filled nodes; return whether one is better."""
    before = state.incumbent.valuation.costs
    problem, weights = state.problem, search.weights
    assert weights is not None, "filled nodes are worth something"
    moves, allocations = bind_pods(problem, Slots(problem, search.round, filled), until)
    state.offer(*complete(problem, moves, allocations, until=state.deadline))
    if state.leaves_out() and time.monotonic() < until:
        slots = Slots(problem, search.round, filled)
        end = time.monotonic() + state.params.quota_share * (until - time.monotonic())
        quotas = spread_out(problem, slots, weights, partial(new_solver, state.options), end)
        if quotas is not None:
            moves, allocations = bind_pods(problem, slots, until, quotas)
            state.offer(*complete(problem, moves, allocations, until=state.deadline))
    return state.incumbent.valuation.costs < before


def _values(state: SearchState) -> dict[int, int]:
    return {level: state.value(tiers.scheduled(level)) for level in state.problem.levels}


def _tell(state: SearchState, bounds: Mapping[int, int]) -> None:
    """Record bounds that hold of plans with no fewer pods of higher priorities than the best one has."""
    for k, tier in enumerate(state.incumbent.valuation.tiers):
        for level, bound in bounds.items():
            if tier.name == tiers.scheduled(level):
                state.incumbent.tell(tier.name, bound, state.incumbent.valuation.costs[:k])
