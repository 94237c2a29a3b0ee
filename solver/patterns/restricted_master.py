"""The master of column generation: how often each pattern is taken.

    minimise Σ cost_p·λ_p + Σ_shared c·g
    floor <= Σ effect_p·λ_p + A·g <= ceiling        for each linking row
    Σ over patterns of a type λ_p = members of the type

As an LP while patterns are looked for (GLOP, which goes on from its last basis), as an integer model in the
end. Source: Dantzig and Wolfe, Decomposition principle for linear programs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..bounds.lp import Glop
from ..bounds.safe_bounds import limits

if TYPE_CHECKING:
    from ..bounds.safe_bounds import Floats
    from ..model.sparse_rows import Ints, Rows
    from .node_types import NodeTypes


@dataclass(frozen=True)
class Prices:
    """The master's value, the duals of its linking rows, and what one more member of each type would cost."""

    value: float
    rows: Floats
    types: Floats


class RestrictedMaster:
    """The LP; patterns are added as they are found."""

    def __init__(self, links: Rows, blocks: NodeTypes, cost: Ints) -> None:
        from ortools.math_opt.python import mathopt

        self._model = model = mathopt.Model()
        shared = {
            v: model.add_variable(lb=float(links.low[v]), ub=float(links.high[v]))
            for v in blocks.shared.tolist()
        }
        sides = zip(limits(links.floor).tolist(), limits(links.ceiling).tolist(), strict=True)
        self._rows = [model.add_linear_constraint(lb=low, ub=high) for low, high in sides]
        for r, row in enumerate(self._rows):
            for v, a in zip(*(x.tolist() for x in links.terms.of(r)), strict=True):
                if v in shared:
                    row.set_coefficient(shared[v], float(a))
        self._types = [
            model.add_linear_constraint(lb=float(len(k.members)), ub=float(len(k.members)))
            for k in blocks.types
        ]
        for v, variable in shared.items():
            model.objective.set_linear_coefficient(variable, float(cost[v]))
        self._solver = Glop(model)

    def add(self, kind: int, cost: int, effect: Floats) -> None:
        """Add a pattern of a type: what it costs, and what it adds to each linking row."""
        variable = self._model.add_variable(lb=0.0)
        self._model.objective.set_linear_coefficient(variable, float(cost))
        for r in np.flatnonzero(effect).tolist():
            self._rows[r].set_coefficient(variable, float(effect[r]))
        self._types[kind].set_coefficient(variable, 1.0)

    def solve(self, seconds: float) -> Prices | None:
        """Solve it; None where that fails or takes too long, or the patterns do not suffice."""
        result = self._solver.solve(seconds)
        if result is None:
            return None
        return Prices(
            result.objective_value(),
            np.array(result.dual_values(self._rows)),
            np.array(result.dual_values(self._types)),
        )
