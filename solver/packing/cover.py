"""The last nodes together: all that may stand on each, and a choice that takes every pod that is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from ortools.sat.python import cp_model

from ..model.interrupts import run_or_leave

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...framework.vocabulary.arrays import Ints


def exact_cover(
    patterns: Sequence[Ints],
    times: Sequence[int],
    demand: Ints,
    new_solver: Callable[[], cp_model.CpSolver],
) -> list[list[Ints]] | None:
    """Choose patterns that add up to a demand; None where there is no such choice, or none was found.

    Parameters
    ----------
    patterns : sequence of ints, each of shape (patterns of a kind of nodes, classes)
    times : sequence of int
        Nodes of each kind.
    demand : ints, shape (classes,)

    Returns
    -------
    list of lists of ints
        For each kind a pattern for each of its nodes.
    """
    every = np.concatenate(patterns)
    if ((every > 0).sum(axis=0)[demand > 0] == 0).any():
        return None
    model = cp_model.CpModel()
    taken = [[model.new_int_var(0, n, "") for _ in mine] for mine, n in zip(patterns, times, strict=True)]
    for mine, number in zip(taken, times, strict=True):
        model.add(cp_model.LinearExpr.sum(mine) == number)
    variables = [variable for mine in taken for variable in mine]
    for column, wanted in zip(every.T, demand.tolist(), strict=True):
        some = np.flatnonzero(column)
        terms = [variables[k] for k in some.tolist()]
        model.add(cp_model.LinearExpr.weighted_sum(terms, column[some].tolist()) == wanted)
    solver = new_solver()
    status = run_or_leave(lambda: solver.solve(model), solver.stop_search)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    return [
        [pattern for pattern, often in zip(known, mine, strict=True) for _ in range(solver.value(often))]
        for known, mine in zip(patterns, taken, strict=True)
    ]
