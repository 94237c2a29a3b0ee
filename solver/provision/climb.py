"""Tiers of a model of purchases, searched one after another."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from ortools.sat.python import cp_model

from ..model.interrupts import run_interruptibly
from ..model.round_model import new_solver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...encoders.terms import Goal
    from ..options import SolveOptions

# Share of the time in which one worker searches first: what it proves is the same every time.
_ALONE: Final = 0.25

# CP-SAT's bound is a whole number; a float error must not round it inward.
_ROUNDING = 1e-3


@dataclass
class Climbed:
    """How far a search came.

    Attributes
    ----------
    bounds : dict
        Of tiers, given the values of those before, which are their bounds; up to the first that is open.
    solution : list of int or None
        Values of all variables in the best solution found.
    optimal : bool
        Whether the solution attains all bounds.
    infeasible : bool
        Whether there is no solution at all.
    """

    bounds: dict[str, int] = field(default_factory=dict)
    solution: list[int] | None = None
    optimal: bool = False
    infeasible: bool = False
    interrupted: bool = False

    def value(self, goal: Goal) -> int:
        """Return what a tier is in the solution."""
        assert self.solution is not None
        terms = goal.terms
        return terms.constant + sum(
            c * self.solution[v.index] for c, v in zip(terms.coefficients, terms.variables, strict=True)
        )


def _solved(
    model: cp_model.CpModel, options: SolveOptions, seconds: float, gap: float, work: float
) -> tuple[cp_model.CpSolver, cp_model.CpSolverStatus, bool]:
    """Solve a model, by one worker first; with limited work by that one alone."""
    start = time.monotonic()
    steps = [(1, _ALONE * seconds), (options.workers, seconds)] if work == math.inf else [(1, seconds)]
    for workers, limit in steps:
        left = limit - (time.monotonic() - start)
        solver = new_solver(replace(options, workers=workers), left)
        if work < math.inf:
            solver.parameters.max_deterministic_time = work
        solver.parameters.relative_gap_limit = gap
        status, interrupted = run_interruptibly(partial(solver.solve, model), solver.stop_search)
        if interrupted or status in (cp_model.OPTIMAL, cp_model.INFEASIBLE):
            break
    return solver, status, interrupted


def climb(
    model: cp_model.CpModel,
    goals: Sequence[Goal],
    options: SolveOptions,
    until: float,
    *,
    hint: Sequence[int] = (),
    gap: float = 0.0,
    work: float = math.inf,
) -> Climbed:
    """Search tiers in their order; each is held at its optimum before the next one is searched.

    Parameters
    ----------
    until : float
        When to stop, on the monotonic clock.
    hint : sequence of int
        Values of the first variables to start from.
    gap : float
        How far, as a share of it, each tier may be from its optimum; nothing is a bound then.
    work : float
        CP-SAT's deterministic time for each tier, the same on every machine; one worker searches then.
    """
    found = Climbed()
    for goal in goals:
        left = until - time.monotonic()
        if left <= 0:
            return found
        expression = goal.terms.expression()
        if goal.sense == "max":
            model.maximize(expression)
        else:
            model.minimize(expression)
        model.clear_hints()  # type: ignore[no-untyped-call]
        start = hint if found.solution is None else found.solution
        model.proto.solution_hint.vars.extend(range(len(start)))
        model.proto.solution_hint.values.extend(start)
        solver, status, found.interrupted = _solved(model, options, left, gap, work)
        if status == cp_model.INFEASIBLE:
            found.infeasible = True
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return found
        found.solution = list(solver.response_proto.solution)
        value, bound = found.value(goal), solver.best_objective_bound
        if status != cp_model.OPTIMAL:
            limit = math.floor(bound + _ROUNDING) if goal.sense == "max" else math.ceil(bound - _ROUNDING)
            found.bounds[goal.name] = min(limit, goal.high) if goal.sense == "max" else max(limit, goal.low)
            return found
        found.bounds[goal.name] = value
        model.add(expression >= value if goal.sense == "max" else expression <= value)
    found.optimal = True
    return found
