"""The master: how often each column is taken, a column being who leaves a node and who comes there.

    minimise Σ_k (within_k·N_k + breaking_k·W_k) + Σ_d ((π̂_d + δ_d)·u_d − (π̂_d − δ_d)·v_d)
    Σ_q pods_qd·λ_q + u_d − v_d >= z_d                   each row of the demand
    Σ over the rows of level l of z_d >= least_l         each level, low_d <= z_d <= size_d
    N_k + W_k >= Σ_q leaving_qk·λ_q                      each kind of victims
    Σ over the kinds that charge b of N_k <= allowed_b   each budget
    Σ_k (within_tk·N_k + breaking_tk·W_k) <= held_t      each tier above
    Σ_{q of type} λ_q = nodes of the type                each type of nodes

Only its duals count for the bound (`solver.departures.lagrangian`). The columns u, and v which stand for pods
placed beyond the demand, hold the dual of each row in a box (`solver.bounds.boxstep`).

The first prices are those of a program without types of nodes, in which all room is one.

Source: Dantzig and Wolfe, Decomposition principle for linear programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..bounds.boxstep import Box
from ..bounds.lp import Glop

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...framework.vocabulary.arrays import Ints
    from ..bounds.safe_bounds import Floats
    from .demand import Demand
    from .kinds import Kinds


class MasterSolution(NamedTuple):
    """Its value, for how many pods the box stands, how often each column is taken, and the duals."""

    value: float
    boxed: float
    often: Floats
    pods: Floats
    budgets: Floats
    tiers: Mapping[str, float]


class Master:
    """The linear program; columns are added as they are found.

    Parameters
    ----------
    times : int array (T,)
        Nodes of each type.
    name : str
        The tier that is minimised.
    held : mapping
        Tiers that are no worse than these values.
    """

    def __init__(self, kinds: Kinds, demand: Demand, times: Ints, name: str, held: Mapping[str, int]) -> None:
        from ortools.math_opt.python import mathopt

        self._model = model = mathopt.Model()
        self._columns: list[mathopt.Variable] = []
        self._rows = [model.add_linear_constraint(lb=0.0) for _ in demand.size]
        levels = [model.add_linear_constraint(lb=float(least)) for least in demand.least.tolist()]
        self._box = Box(model, self._rows)
        limits = zip(demand.low.tolist(), demand.size.tolist(), demand.level.tolist(), strict=True)
        for row, (low, size, level) in zip(self._rows, limits, strict=True):
            placed = model.add_variable(lb=float(low), ub=float(size))
            row.set_coefficient(placed, -1.0)
            levels[level].set_coefficient(placed, 1.0)
        self._leave(kinds, name, held)
        self._types = [
            model.add_linear_constraint(lb=float(number), ub=float(number)) for number in times.tolist()
        ]
        self._solver = Glop(model)

    def _leave(self, kinds: Kinds, name: str, held: Mapping[str, int]) -> None:
        """Add the rows of who leaves: kinds, budgets and the tiers held."""
        model = self._model
        self._kinds = [model.add_linear_constraint(lb=0.0) for _ in kinds.kinds]
        self._budgets = [model.add_linear_constraint(ub=float(most)) for most in kinds.allowed.tolist()]
        self._held = {
            tier: model.add_linear_constraint(ub=float(most))
            for tier, most in held.items()
            if tier in kinds.tiers
        }
        for k, row in enumerate(self._kinds):
            counted = [(kinds.within, kinds.charged[:, k])]
            if kinds.may_break[k]:
                counted.append((kinds.breaking, np.zeros(len(self._budgets), dtype=bool)))
            for how, charged in counted:
                number = model.add_variable(lb=0.0)
                row.set_coefficient(number, 1.0)
                for b in np.flatnonzero(charged).tolist():
                    self._budgets[b].set_coefficient(number, 1.0)
                for tier, limit in self._held.items():
                    if tier in how and how[tier][k]:
                        limit.set_coefficient(number, float(how[tier][k]))
                if name in how:
                    model.objective.set_linear_coefficient(number, float(how[name][k]))

    def pool(self, need: Ints, room: Floats, victims: Mapping[tuple[int, tuple[float, ...]], int]) -> None:
        """Make all room one, that of victims of each (kind, what one gives back) as well.

        No limit but room is on the pods: then the dual of a row is what its room is worth.
        """
        model = self._model
        rows = [model.add_linear_constraint(ub=float(amount)) for amount in room.tolist()]
        for d in range(need.shape[1]):
            placed = model.add_variable(lb=0.0)
            self._rows[d].set_coefficient(placed, 1.0)
            for r, row in enumerate(rows):
                row.set_coefficient(placed, float(need[r, d]))
        for (kind, given), size in victims.items():
            leaving = model.add_variable(lb=0.0, ub=float(size))
            self._kinds[kind].set_coefficient(leaving, -1.0)
            for row, amount in zip(rows, given, strict=True):
                row.set_coefficient(leaving, -float(amount))

    def box(self, center: Floats, radius: Floats) -> None:
        """Keep the duals of the demand within a radius of a center."""
        self._box.set(center, radius)

    def add(self, kind: int, pods: Ints, leaving: Ints) -> None:
        """Add a column of a type of nodes: pods by row of the demand, victims by kind."""
        variable = self._model.add_variable(lb=0.0)
        for d in np.flatnonzero(pods).tolist():
            self._rows[d].set_coefficient(variable, float(pods[d]))
        for k in np.flatnonzero(leaving).tolist():
            self._kinds[k].set_coefficient(variable, -float(leaving[k]))
        self._types[kind].set_coefficient(variable, 1.0)
        self._columns.append(variable)

    def hold(self, column: int, times: int) -> None:
        """Take a column so often at least."""
        self._columns[column].lower_bound = float(times)

    def solve(self, seconds: float) -> MasterSolution | None:
        """Solve it; None where that fails or takes too long."""
        result = self._solver.solve(seconds)
        if result is None:
            return None
        return MasterSolution(
            value=result.objective_value(),
            boxed=self._box.stands_for(result),
            often=np.array(result.variable_values(self._columns)),
            pods=np.maximum(np.array(result.dual_values(self._rows)), 0.0),
            budgets=np.maximum(-np.array(result.dual_values(self._budgets)), 0.0),
            tiers={tier: max(-result.dual_values(row), 0.0) for tier, row in self._held.items()},
        )
