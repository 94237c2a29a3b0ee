"""Duals of a master in a box around prices that are known to be good (the boxstep method).

Without it the duals of the first rounds of column generation are far off, and price columns of no use. What
the box adds to the value of a master makes that no bound of anything.

Source: Marsten, Hogan and Blankenship, The boxstep method for large-scale optimization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ortools.math_opt.python import mathopt

    from .safe_bounds import Floats


class Box:
    """Two columns a row, +1 and -1, of which each holds the row's dual on one side.

    Until a box is set both are closed, and the duals are any.

    Parameters
    ----------
    model : mathopt.Model
        Minimised, or maximised; what it is must not change afterwards.
    rows : sequence of mathopt.LinearConstraint
        Of prices that are 0 or more: rows >= of a minimum, rows <= of a maximum.
    """

    def __init__(self, model: mathopt.Model, rows: Sequence[mathopt.LinearConstraint]) -> None:
        self._model = model
        self._plus = [model.add_variable(lb=0.0, ub=0.0) for _ in rows]
        self._minus = [model.add_variable(lb=0.0, ub=0.0) for _ in rows]
        for row, plus, minus in zip(rows, self._plus, self._minus, strict=True):
            row.set_coefficient(plus, 1.0)
            row.set_coefficient(minus, -1.0)

    def set(self, center: Floats, radius: Floats) -> None:
        """Keep the price of each row within a radius of its center, and at 0 or more."""
        objective = self._model.objective
        above, below = (self._minus, self._plus) if objective.is_maximize else (self._plus, self._minus)
        sign = -1.0 if objective.is_maximize else 1.0
        limits = zip(above, below, center.tolist(), radius.tolist(), strict=True)
        for high, low, middle, far in limits:
            high.upper_bound = float("inf")
            objective.set_linear_coefficient(high, sign * (middle + far))
            # A price of 0 is what the row's own slack holds it to: the column would stand for that.
            low.upper_bound = float("inf") if middle > far else 0.0
            objective.set_linear_coefficient(low, -sign * max(middle - far, 0.0))

    def open(self) -> None:
        """Let the prices be any."""
        for variable in (*self._plus, *self._minus):
            variable.upper_bound = 0.0

    def stands_for(self, result: mathopt.SolveResult) -> float:
        """Return how much of the rows the box makes up for: about 0 where it does not bind."""
        return float(sum(result.variable_values([*self._plus, *self._minus])))
