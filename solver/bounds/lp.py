"""Calls of linear solvers that may fail: a relaxation that fails gives no bound, and the search goes on."""

from __future__ import annotations

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
