"""The master of the columns: how often each is taken, with duals that are kept near those known to be good.

    maximise Σ weight·pods_q·λ_q + Σ_c (π̂_c − δ)·u_c − Σ_c (π̂_c + δ)·v_c
    Σ_q pods_qc·λ_q + u_c − v_c <= left_c                each class
    Σ_{q of t} λ_q <= nodes_t                            each node type

The columns u and v hold the dual of class c between π̂_c − δ and π̂_c + δ (`solver.bounds.boxstep`).

Source: Dantzig and Wolfe, Decomposition principle for linear programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..bounds.boxstep import Box
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
        self._box = Box(model, self._classes)
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
        self._box.set(center, radius)

    def unbox(self) -> None:
        """Let the duals be any."""
        self._box.open()

    def solve(self, seconds: float) -> MasterSolution | None:
        """Solve it; None where that fails or takes too long."""
        result = self._solver.solve(seconds)
        if result is None:
            return None
        return MasterSolution(
            value=result.objective_value(),
            often=np.array(result.variable_values(self._columns)),
            classes=np.maximum(np.array(result.dual_values(self._classes)), 0.0),
            types=np.maximum(np.array(result.dual_values(self._types)), 0.0),
            boxed=self._box.stands_for(result),
        )
