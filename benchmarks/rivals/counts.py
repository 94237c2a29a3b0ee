"""Class counts and nothing else: kubestow's model handed to CP-SAT tier by tier, no search around it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from kubestow.solver.model.round_model import RoundModel
from kubestow.solver.options import SolveOptions
from kubestow.solver.ordering.decoding import assign

from . import RivalResult

if TYPE_CHECKING:
    from kubestow.encoders.problem import Problem


def plan(problem: Problem, seconds: float, workers: int) -> RivalResult:
    """Plan a round."""
    deadline = time.monotonic() + seconds
    model = RoundModel(problem, SolveOptions(time_limit=seconds, workers=workers))
    bounds: dict[str, int] = {}
    best = None
    proven = True
    goals = [goal for goal in model.context.goals if goal.low < goal.high]
    for number, goal in enumerate(goals):
        left = deadline - time.monotonic()
        if left <= 0:
            proven = False
            break
        result = model.search([goal.name], left if number == len(goals) - 1 else left / 2, _ignore)
        if result.bound is not None:
            bounds[goal.name] = result.bound
        proven &= result.optimal
        if result.solution is None:
            proven = False
            break
        model.fix(goal.name, result.solution.goals[goal.name])
        best = assign(problem, result.solution)
    return RivalResult(best, bounds, proven, "" if best else "no solution in time")


def _ignore(value: int | None, bound: int | None) -> None:
    """Nobody watches."""
