"""The phases in which one tier is searched, in their order: for small models and for large ones.

Those of large models are in two lists: what needs no model comes first.

A phase is a function of a `TierRun`. It leaves what it found in the search's incumbent, and ends at the run's
deadline; where it has proven all tiers of the run it sets `settled`. A run ends as soon as its first tier is
closed, so each phase may assume that the tier is open. docs/model.md describes each of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from .columns import fill_types
from .departing import choose_departures, count_departures
from .improvement import improve
from .packing import count_nodes, pack, pack_once
from .refilling import refill
from .state import Decoded
from .tier_run import TierRun

if TYPE_CHECKING:
    from ..model.round_model import SearchResult
    from ..model.solution import Solution

Phase: TypeAlias = Callable[[TierRun], None]


# -- phases --


def search_quickly(run: TierRun) -> None:
    """Search the whole model by one worker: what it proves is the same plan every time."""
    _search_whole(run, run.share(run.params.quick_share), workers=1)


def add_up(run: TierRun) -> None:
    """Bound the tier by rows summed over the nodes."""
    state = run.state
    seconds = min(run.params.sums_limit, run.params.relaxation_share * (run.until - time.monotonic()))
    bound = state.sum_bounds.of(run.name, state.held, seconds)
    state.interrupted |= state.sum_bounds.interrupted
    if bound is not None:
        state.tell(run.name, bound)


def relax(run: TierRun) -> None:
    """Bound the tier by the linear relaxation."""
    state, params = run.state, run.params
    bounding, model = state.bounding, state.model
    _ = model.rows  # read first: what is left of the time counts from there
    share = params.relaxation_share * (run.until - time.monotonic())
    seconds = min(share, state.seconds_left - params.relaxation_reserve * model.reading_seconds)
    if seconds <= 0:
        return
    bound = bounding.relax(run.name, seconds)
    state.interrupted |= bounding.interrupted
    if bound is not None:
        state.tell(run.name, bound)


def attain(run: TierRun) -> None:
    """Decide over enumerated patterns whether any plan attains the bound; lower it as long as none does."""
    state, name = run.state, run.name
    if state.bounding.interrupted:
        return
    until = run.share(run.params.attainment_share)
    bound, solution = state.bounding.by_enumeration(name, state.value(name), state.bound(name), until)
    state.tell(name, bound)
    if solution is not None:
        state.decode(solution, run.names)
        # the incumbent may be better, or a cut may have added variables
        state.hint([name])


def improve_briefly(run: TierRun) -> None:
    """Improve the best plan by large-neighbourhood search until it stalls."""
    least = time.monotonic() + run.params.first_lns_seconds
    until = min(run.until, max(run.share(run.params.first_lns_share), least))
    if _has_neighbourhoods(run):
        improve(run, until, run.state.lns.stall_limit)


def sharpen(run: TierRun) -> None:
    """Bound the tier by attainment and column generation, decode the plans found, and tell the model."""
    state, name = run.state, run.name
    bounding = state.bounding
    state.hint([name])
    attain(run)
    if not state.closed(name) and not bounding.interrupted:
        bound, solution = bounding.by_columns(name, run.share(run.params.column_share))
        if bound is not None:
            state.tell(name, bound)
        if solution is not None:
            state.decode(solution, run.names)
        attain(run)
    state.interrupted |= bounding.interrupted
    known = state.incumbent.bound(name, state.held_costs())
    if known is not None:
        state.model.bound(name, known)
    state.report_known(name)


def improve_small(run: TierRun) -> None:
    """Improve the best plan of a small model by large-neighbourhood search, for most of the time left."""
    if _has_neighbourhoods(run):
        improve(run, run.share(run.params.small_lns_share))


def search_to_the_end(run: TierRun) -> None:
    """Search the whole model for the rest of the time."""
    if run.state.model.variables <= run.params.huge_model:
        _search_whole(run, run.until)


def search_for_a_share(run: TierRun) -> None:
    """Search a large model as a whole for a share of the time left, a huge one not at all."""
    if run.state.model.variables <= run.params.huge_model:
        _search_whole(run, run.share(run.params.large_whole_share))


def improve_to_the_end(run: TierRun) -> None:
    """Improve the best plan by large-neighbourhood search for the rest of the time."""
    improve(run, run.until)


SMALL_MODEL: Final[tuple[Phase, ...]] = (
    add_up,
    pack_once,
    count_nodes,
    search_quickly,
    relax,
    attain,
    pack,
    improve_briefly,
    sharpen,
    pack,
    improve_small,
    search_to_the_end,
)

BEFORE_LARGE: Final[tuple[Phase, ...]] = (
    add_up,
    pack_once,
    count_departures,
    count_nodes,
    pack,
    fill_types,
    choose_departures,
    refill,
)

LARGE_MODEL: Final[tuple[Phase, ...]] = (
    relax,
    improve_briefly,
    sharpen,
    pack,
    search_for_a_share,
    improve_to_the_end,
)


# -- what phases have in common --


def _has_neighbourhoods(run: TierRun) -> bool:
    """Whether a neighbourhood is less than the whole model."""
    return run.large or len(run.state.model.variable_index.nodes) > run.params.few_nodes


def _search_whole(run: TierRun, until: float, workers: int = 0) -> None:
    """Search the whole model, excluding solutions without an order."""
    state = run.state
    while time.monotonic() < until and not state.interrupted and not state.moved():
        result = _search(run, until - time.monotonic(), workers)
        state.interrupted |= result.interrupted
        if result.infeasible:
            raise state.incumbent.contradiction("the model has no solution although a plan is known")
        if result.bound is not None:
            state.tell(run.name, result.bound)
        if result.solution is None:
            return
        decoded = state.decode(result.solution, run.names)
        if result.optimal and decoded is Decoded.ATTAINED:
            _settle_all(run, result.solution)
            return
        if decoded is not Decoded.EXCLUDED:
            return


def _search(run: TierRun, seconds: float, workers: int) -> SearchResult:
    state, name = run.state, run.name
    goals = [n for n in run.group if n in state.model.goals]
    state.hint(goals)
    state.report(name, state.value(name), None)
    return state.model.search(goals, seconds, lambda value, bound: state.report(name, value, bound), workers)


def _settle_all(run: TierRun, solution: Solution) -> None:
    """Settle the tiers, whose best values, in their order, are those of a solution.

    They stay open where the plan decoded from it has moved in the tiers above.
    """
    state = run.state
    given = state.held_costs()
    for name in run.group:
        value = solution.goals.get(name, 0)
        state.incumbent.tell(name, value, given)
        given = (*given, state.incumbent.cost(name, value))
    if state.moved():
        return
    for name in run.group:
        state.settle(name)
    run.settled = True


def take(run: TierRun, phases: Sequence[Phase]) -> None:
    """Take a run through phases, as long as it is open."""
    for phase in phases:
        if run.settled or not run.open():
            return
        phase(run)


def settle(run: TierRun, phases: Sequence[Phase]) -> int:
    """Take a run through phases; return how many of its tiers are settled.

    That is none where the best plan moved in the tiers held: they have to be held at other values first.
    """
    take(run, phases)
    if run.settled:
        return len(run.group)
    if run.state.moved():
        return 0
    run.state.settle(run.name)
    return 1
