"""Calls of linear solvers that may fail: a relaxation that fails gives no bound, and the search goes on."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ortools.math_opt.python import mathopt


def attempted(solve: Callable[[], mathopt.SolveResult]) -> mathopt.SolveResult | None:
    """Return the result of a call of MathOpt; None where the solver breaks down.

    GLOP ends with ABNORMAL on some degenerate programs, which MathOpt 9.15 reports as an internal error; in
    turning that into an exception its Python binding fails once more, so that no type of exception is sure.
    """
    try:
        return solve()
    except Exception:
        return None


class Glop:
    """GLOP on a model that changes: each solution begins at the basis of the last one."""

    def __init__(self, model: mathopt.Model) -> None:
        from ortools.math_opt.python import mathopt

        self._mathopt, self._model = mathopt, model
        self._solver = mathopt.IncrementalSolver(model, mathopt.SolverType.GLOP)

    def solve(self, seconds: float) -> mathopt.SolveResult | None:
        """Return the optimum; None where that fails or takes too long."""
        mathopt = self._mathopt
        limit = mathopt.SolveParameters(time_limit=timedelta(seconds=max(seconds, 0.01)))
        result = attempted(lambda: self._solver.solve(params=limit))
        if result is None:  # where GLOP breaks down on its last basis, it may not from the beginning
            self._solver = mathopt.IncrementalSolver(self._model, mathopt.SolverType.GLOP)
            result = attempted(lambda: self._solver.solve(params=limit))
        if result is None or result.termination.reason != mathopt.TerminationReason.OPTIMAL:
            return None
        return result
