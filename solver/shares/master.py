"""The master of the columns: how often each is taken, with duals that are kept near those known to be good.

    maximise Σ weight·pods_q·λ_q + Σ_c (π̂_c − δ)·u_c − Σ_c (π̂_c + δ)·v_c
    Σ_q pods_qc·λ_q + u_c − v_c <= left_c                each class
    Σ_{q of t} λ_q <= nodes_t                            each node type

The columns u and v hold the dual of class c between π̂_c − δ and π̂_c + δ (the boxstep method): without them
the duals of the first rounds are far off and price columns of no use. What they make the master's value is no
bound of anything.

Source: Dantzig and Wolfe, Decomposition principle for linear programs; Marsten, Hogan and Blankenship, The
boxstep method for large-scale optimization.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..bounds.lp import Glop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..bounds.safe_bounds import Floats
    from ..model.sparse_rows import Ints

# A column that the master takes less often than this is not taken.
NOTHING = 1e-6


class MasterSolution(NamedTuple):
    """How often each column is taken, what that is worth, the duals, and how many pods the box stands for."""

    value: float
    often: Floats
    classes: Floats
    types: Floats
    boxed: float


class Master:
    """The linear program; columns are added as they are found."""

    def __init__(self, left: Ints, nodes: Sequence[int]) -> None:
        from ortools.math_opt.python import mathopt

        self._model = model = mathopt.Model()
        model.objective.is_maximize = True
        self._classes = [model.add_linear_constraint(ub=float(most)) for most in left.tolist()]
        self._types = [model.add_linear_constraint(ub=float(number)) for number in nodes]
        self._columns: list[mathopt.Variable] = []
        self._under = [model.add_variable(lb=0.0) for _ in self._classes]
        self._over = [model.add_variable(lb=0.0) for _ in self._classes]
        for row, under, over in zip(self._classes, self._under, self._over, strict=True):
            row.set_coefficient(under, 1.0)
            row.set_coefficient(over, -1.0)
        self._solver = Glop(model)

    def add(self, kind: int, pods: Ints, worth: float) -> None:
        """Add a column of a node type, which is worth so much."""
        variable = self._model.add_variable(lb=0.0)
        self._model.objective.set_linear_coefficient(variable, worth)
        for c in np.flatnonzero(pods).tolist():
            self._classes[c].set_coefficient(variable, float(pods[c]))
        self._types[kind].set_coefficient(variable, 1.0)
        self._columns.append(variable)

    def box(self, center: Floats, radius: Floats) -> None:
        """Keep the duals of the classes within a radius of a center."""
        objective = self._model.objective
        for c, (middle, far) in enumerate(zip(center.tolist(), radius.tolist(), strict=True)):
            low, high = middle - far, middle + far
            self._under[c].upper_bound = float("inf") if low > 0 else 0.0
            objective.set_linear_coefficient(self._under[c], max(low, 0.0))
            self._over[c].upper_bound = float("inf")
            objective.set_linear_coefficient(self._over[c], -high)

    def unbox(self) -> None:
        """Let the duals be any."""
        for variable in (*self._under, *self._over):
            variable.upper_bound = 0.0

    def solve(self, seconds: float) -> MasterSolution | None:
        """Solve it; None where that fails or takes too long."""
        result = self._solver.solve(seconds)
        if result is None:
            return None
        boxes = result.variable_values([*self._under, *self._over])
        return MasterSolution(
            value=result.objective_value(),
            often=np.array(result.variable_values(self._columns)),
            classes=np.maximum(np.array(result.dual_values(self._classes)), 0.0),
            types=np.maximum(np.array(result.dual_values(self._types)), 0.0),
            boxed=float(sum(boxes)),
        )
