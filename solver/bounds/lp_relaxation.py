"""Bounds from linear relaxations that hold exactly, whatever a solver's tolerances.

A relaxation of the whole model is solved by GLOP, or by PDLP where it is large. Only its duals y are used
for the bound, and any y would do: the Lagrangian

    Σ_r (y_r·floor_r if y_r > 0 else y_r·ceiling_r) + Σ_j min(d_j·low_j, d_j·high_j),    d = c − Aᵀy

is a lower bound of c·x. It is evaluated with all rounding errors on the safe side
(`solver.bounds.safe_bounds`).

A row that literals enforce gets the smallest constant that makes it empty where one of them does not hold.
Source: docs/model.md; Neumaier and Shcherbina, Safe bounds in linear and mixed-integer
linear programming.
"""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...encoders.linear import HIGHEST, LOWEST
from ..model.sparse_rows import Rows, Sparse
from .lp import attempted
from .safe_bounds import least, limits, reduced_costs, sum_below, usable

if TYPE_CHECKING:
    from ortools.math_opt.python import mathopt
    from ortools.util.python.solve_interrupter import SolveInterrupter

    from ..model.sparse_rows import Ints
    from .safe_bounds import Floats

# Pairs of a row and a variable beyond which the first-order method is the faster one.
LARGE = 1_000_000


def relaxed(
    rows: Rows, cost: Ints, seconds: float, interrupter: SolveInterrupter | None = None
) -> int | None:
    """Bound the least cost of rows from below by their relaxation; None where the solver gives no duals.

    Parameters
    ----------
    cost : ints, shape (variables,)
        What to minimise.
    seconds : float
        Time for the solver.
    """
    plain = linear(rows)
    found = solved(plain, cost, seconds, interrupter)
    return None if found is None else safe_bound(plain, cost, found.duals)


class LinearSolution(NamedTuple):
    """What a solver has for rows without literals: duals for `safe_bound`, and values to start from only."""

    duals: Floats
    values: Floats | None


def solved(
    plain: Rows, cost: Ints, seconds: float, interrupter: SolveInterrupter | None = None
) -> LinearSolution | None:
    """Minimise a cost over rows without literals; None where the solver gives no duals."""
    from ortools.math_opt.python import mathopt

    large = len(plain.terms.column) > LARGE
    kind = mathopt.SolverType.PDLP if large else mathopt.SolverType.GLOP
    limit = mathopt.SolveParameters(time_limit=timedelta(seconds=max(seconds, 0.01)), threads=1)
    model = _model(plain, cost)
    result = attempted(lambda: mathopt.solve(model, kind, params=limit, interrupter=interrupter))
    for solution in () if result is None else result.solutions:
        if solution.dual_solution is not None:
            found = solution.dual_solution.dual_values
            duals = np.zeros(len(plain.floor))
            duals[[row.id for row in found]] = list(found.values())
            return LinearSolution(duals, _values(solution, len(plain.low)))
    return None


def point(rows: Rows, cost: Ints, seconds: float) -> Floats | None:
    """Return values of all variables that solve the relaxation, as a solver has them: to start from only."""
    from ortools.math_opt.python import mathopt

    limit = mathopt.SolveParameters(time_limit=timedelta(seconds=max(seconds, 0.01)), threads=1)
    model = _model(linear(rows), cost)
    result = attempted(lambda: mathopt.solve(model, mathopt.SolverType.GLOP, params=limit))
    for solution in () if result is None else result.solutions:
        if (values := _values(solution, len(rows.low))) is not None:
            return values
    return None


def _values(solution: mathopt.Solution, variables: int) -> Floats | None:
    """Return the values of all variables, where the solution has any."""
    if solution.primal_solution is None:
        return None
    found = solution.primal_solution.variable_values
    values = np.zeros(variables)
    values[[variable.id for variable in found]] = list(found.values())
    return values


def _model(rows: Rows, cost: Ints) -> mathopt.Model:
    """Write rows without literals for MathOpt, as whole arrays instead of one call for each term."""
    from ortools.math_opt import model_pb2
    from ortools.math_opt.python import mathopt

    proto = model_pb2.ModelProto()
    proto.variables.ids.extend(range(len(rows.low)))
    proto.variables.lower_bounds.extend(rows.low.astype(float).tolist())
    proto.variables.upper_bounds.extend(rows.high.astype(float).tolist())
    proto.variables.integers.extend([False] * len(rows.low))
    columns = np.flatnonzero(cost)
    proto.objective.linear_coefficients.ids.extend(columns.tolist())
    proto.objective.linear_coefficients.values.extend(cost[columns].astype(float).tolist())
    proto.linear_constraints.ids.extend(range(len(rows.floor)))
    proto.linear_constraints.lower_bounds.extend(limits(rows.floor).tolist())
    proto.linear_constraints.upper_bounds.extend(limits(rows.ceiling).tolist())
    matrix = proto.linear_constraint_matrix
    matrix.row_ids.extend(rows.terms.row.tolist())
    matrix.column_ids.extend(rows.terms.column.tolist())
    matrix.coefficients.extend(rows.terms.value.astype(float).tolist())
    return mathopt.Model.from_model_proto(proto)


def linear(rows: Rows) -> Rows:
    """Relax the rows that literals enforce to rows without literals."""
    enforced = np.diff(rows.literals.start) > 0
    plain = np.flatnonzero(~enforced)
    upper = np.flatnonzero(enforced & (rows.ceiling != HIGHEST))
    lower = np.flatnonzero(enforced & (rows.floor != LOWEST))
    lowest, highest = _reach(rows)
    above = np.maximum(highest[upper] - rows.ceiling[upper], 0)
    below = np.minimum(lowest[lower] - rows.floor[lower], 0)
    at_most, ceiling = _slack(rows, upper, rows.ceiling[upper], above)
    at_least, floor = _slack(rows, lower, rows.floor[lower], below)
    none = np.zeros(len(plain) + len(upper) + len(lower) + 1, dtype=np.int64)
    return Rows(
        low=rows.low,
        high=rows.high,
        terms=rows.terms.take(plain).above(at_most, at_least).summed(),
        floor=np.concatenate((rows.floor[plain], np.full(len(upper), LOWEST), floor)),
        ceiling=np.concatenate((rows.ceiling[plain], ceiling, np.full(len(lower), HIGHEST))),
        literals=Sparse(none, none[:0], none[:0]),
    )


def _reach(rows: Rows) -> tuple[Ints, Ints]:
    """Least and most that the domains of the variables let each row be."""
    column, value = rows.terms.column, rows.terms.value
    ends = value * rows.low[column], value * rows.high[column]
    low, high = (Sparse(rows.terms.start, column, f(*ends)) for f in (np.minimum, np.maximum))
    ones = np.ones_like(rows.low)
    return low.times(ones), high.times(ones)


def _slack(rows: Rows, chosen: Ints, sides: Ints, slack: Ints) -> tuple[Sparse, Ints]:
    """Add the slack of each literal that does not hold to its row (big M); return its terms and its limit."""
    literals = rows.literals.take(chosen)
    signed = np.where(literals.value > 0, 1, -1) * slack[literals.row]
    more = Sparse(literals.start, literals.column, signed)
    positive = Sparse(literals.start, literals.column, literals.value).times(np.ones_like(rows.low))
    return rows.terms.take(chosen).beside(more), sides + slack * positive


def safe_bound(rows: Rows, cost: Ints, duals: Floats) -> int:
    """Bound the least cost of rows without literals from below, exactly, by any duals.

    Parameters
    ----------
    cost : ints, shape (variables,)
        What to minimise.
    duals : floats, shape (rows,)
        One for each row, positive where its floor is the side that counts.
    """
    y, sides = usable(rows, duals)
    reduced = reduced_costs(rows.terms.transposed(len(rows.low)), cost, y)
    return math.ceil(sum_below(np.concatenate((y * sides, least(rows.low, rows.high, reduced)))))
