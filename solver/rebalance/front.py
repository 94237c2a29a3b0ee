"""The front: the best gain for each number of moves, each point with its bound."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from ...framework.state.moves import Bind, Leave
from ...models import tiers
from ...models.progress import Watch, unwatched
from ...models.rebalance import FrontPoint
from ..model.cp_solver import cp_solver
from .decoding import outcome_of
from .document import tiers_of
from .search import MoveSearch
from .starts import these_emptied
from .value import value_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...encoders.problem import Problem
    from ...framework.state.moves import Move
    from ..options import SolveOptions
    from ..plans.objective import ObjectiveVector
    from ..plans.outcome import Outcome

#: Points beyond which not every number of moves has one: then they are as far apart as they can be.
MOST_POINTS: Final = 13

_INSTANT: Final = 1e-6

# Seconds for the point of a large round, at least: sums take a tenth of that.
_LEAST: Final = 1.0


def caps(moves: int) -> list[int]:
    """Return the numbers of moves that get a point: all of them up to the most, or some of many."""
    if moves < MOST_POINTS:
        return list(range(moves + 1))
    return sorted({round(k * moves / (MOST_POINTS - 1)) for k in range(MOST_POINTS)})


def front(
    problem: Problem,
    best: MoveSearch,
    plans: list[Outcome],
    options: SolveOptions,
    until: float,
    watch: Watch = unwatched,
) -> tuple[FrontPoint, ...]:
    """Search the best gain for each number of moves.

    Parameters
    ----------
    best : MoveSearch
        That without a limit below its own; its plan is the last point, and its bound holds of all.
    plans : list of Outcome
        To begin with; of those with too many moves the first ones are kept.
    until : float
        When to stop, on the monotonic clock: then points get what is known by then.
    """
    mobility = problem.mobility
    assert mobility is not None
    last = best.state.incumbent
    wanted = caps(len(last.best.victims))
    known, points = list(plans), list[FrontPoint]()
    for place, most in enumerate(wanted[:-1]):
        left = until - time.monotonic()
        capped = replace(problem, mobility=replace(mobility, most=most, memory=False))
        if best.state.large and last.valuation.tiers[0].name in best.state.sums.goals:
            seconds = max(left / (len(wanted) - place), _LEAST)
            point, plan = _summed(best, capped, known, most, seconds)
            points.append(point)
            known = [*plans, plan]
            continue
        timed = replace(options, prefer="none", time_limit=max(left / (len(wanted) - place), _INSTANT))
        search = MoveSearch(capped, timed, None, watch)
        search.run(outcome_of(problem, _beginning(problem, outcome, most))[0] for outcome in known)
        known = [*plans, search.state.incumbent.best]
        points.append(_point(search, most))
        if search.state.interrupted:
            break
    points.append(_point(best, wanted[-1]))
    return tuple(_tightened(points))


def _summed(
    best: MoveSearch, capped: Problem, known: list[Outcome], most: int, seconds: float
) -> tuple[FrontPoint, Outcome]:
    """Return the point of a large round, by simple rules and the bound by sums, and its plan."""
    sums, mobility = best.state.sums, capped.mobility
    assert mobility is not None
    solver = cp_solver()
    solver.parameters.max_time_in_seconds = seconds / 2
    held = [(tiers.MOVES, most)]
    plans: list[Sequence[Move]] = [(), *(_beginning(capped, outcome, most) for outcome in known)]
    if sums.free:
        until = time.monotonic() + seconds
        plans.append(these_emptied(capped, sums.freest(held, solver), until))
    found = []
    for moves in plans:
        outcome, end = outcome_of(capped, moves)
        value = value_of(capped.cluster, mobility, outcome, end)
        if value.guarded:
            found.append((value.costs, value, outcome))
    _, value, plan = min(found, key=lambda item: item[0])
    first = value.tiers[0].name
    bounds = sums.bound(first, held, solver), best.state.incumbent.bound(first, ())
    tight = [bound for bound in bounds if bound is not None]
    least = min if value.tiers[0].sense == "max" else max
    return _told(value, {first: least(tight)} if tight else {}, most, len(plan.victims)), plan


def _beginning(problem: Problem, outcome: Outcome, most: int) -> Sequence[Move]:
    """Return the longest beginning of a plan with at most so many moves that leaves nobody away."""
    assert problem.mobility is not None
    made = frozenset(problem.mobility.successors.values())
    away = moved = clean = 0
    for place, change in enumerate(outcome.moves, start=1):
        if isinstance(change, Leave):
            away, moved = away + 1, moved + 1
        elif isinstance(change, Bind) and change.pod in made:
            away -= 1
        if moved > most:
            break
        if not away:
            clean = place
    return outcome.moves[:clean]


def _point(search: MoveSearch, most: int) -> FrontPoint:
    known = search.state.incumbent
    bounds = {t.name: known.bound(t.name) for t in known.valuation.tiers}
    return _told(known.valuation, bounds, most, len(known.best.victims))


def _told(value: ObjectiveVector, bounds: Mapping[str, int | None], most: int, moves: int) -> FrontPoint:
    """Return a point with the tiers of the gain."""
    told = tiers_of(value, bounds)
    gain = takewhile(lambda tier: tier.name != tiers.MOVES, told)
    return FrontPoint(max_moves=most, moves=moves, tiers=tuple(gain))


def _tightened(points: list[FrontPoint]) -> list[FrontPoint]:
    """Bound the first tier of each point by that of the next ones: fewer moves gain no more."""
    found: list[FrontPoint] = []
    bound: int | None = None
    for point in reversed(points):
        first, *others = point.tiers
        if bound is not None and first.bound is not None:
            least = min(first.bound, bound) if first.sense == "max" else max(first.bound, bound)
            first = first.model_copy(update={"bound": least, "proven": least == first.value})
        elif bound is not None:
            first = first.model_copy(update={"bound": bound, "proven": bound == first.value})
        bound = first.bound
        found.append(point.model_copy(update={"tiers": (first, *others)}))
    return found[::-1]
