"""What models of sums have in common: tiers that they speak of, held at values and bounded."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ortools.sat.python import cp_model

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...encoders.terms import Goal

# CP-SAT's bound is a whole number; a float error below it must not round it up.
ROUNDING = 1e-3


class Sums:
    """A model whose rows are sums of rows of the model node by node.

    Attributes
    ----------
    model : CpModel
    goals : dict
        The tiers that the sums speak of.
    """

    model: cp_model.CpModel
    goals: dict[str, Goal]

    def hold(self, held: Iterable[tuple[str, int]], model: cp_model.CpModel | None = None) -> None:
        """Hold tiers at least as good as their values, in a copy of the model if one is given.

        Those that the sums do not speak of are left out.
        """
        model = self.model if model is None else model
        for name, value in held:
            if name in self.goals:
                expression = self.goals[name].terms.expression()
                model.add(expression >= value if self.goals[name].sense == "max" else expression <= value)

    def bound(self, name: str, held: Iterable[tuple[str, int]], solver: cp_model.CpSolver) -> int | None:
        """Bound a tier given those held; None where the sums do not speak of it, or time was too short.

        What the solver proves before it has found any numbers is a bound as well. It is taken as it is told:
        in a response without numbers 0 stands for no bound.
        """
        if name not in self.goals:
            return None
        goal, model = self.goals[name], self.model.clone()
        sign = 1 if goal.sense == "min" else -1
        self.hold(held, model)
        model.minimize(sign * goal.terms.expression())
        told: list[float] = []
        solver.best_bound_callback = told.append
        status = solver.solve(model)
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            told = [solver.best_objective_bound]
        elif status != cp_model.UNKNOWN or not told:
            return None
        return sign * math.ceil(max(told) - ROUNDING)
