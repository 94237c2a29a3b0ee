"""The one place that makes a CP-SAT solver."""

from __future__ import annotations

from ortools.sat.python import cp_model


def cp_solver(*, workers: int = 1, seed: int = 0) -> cp_model.CpSolver:
    """Return a solver that leaves Ctrl-C to Python.

    CP-SAT would swallow it by a handler of its own, and put the system's default in its place afterwards: the
    next Ctrl-C would end the process without a word.
    """
    solver = cp_model.CpSolver()
    solver.parameters.catch_sigint_signal = False
    solver.parameters.num_workers = workers
    solver.parameters.random_seed = seed
    return solver
