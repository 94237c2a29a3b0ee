"""How often each pattern is taken, in whole numbers: linking rows over counts of patterns, for CP-SAT.

    floor <= Σ effect_p·λ_p + A·g <= ceiling        for each linking row
    Σ over patterns of a type λ_p = members of the type

With all patterns that any solution can use it is the model itself; with some of them it is a part of it.
Source: Gilmore and Gomory, A linear programming approach to the cutting-stock problem.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from ortools.sat.python import cp_model

from ...encoders.linear import add_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..bounds.safe_bounds import Floats
    from ..model.sparse_rows import Ints, Rows
    from .node_types import NodeType, NodeTypes


class Effects:
    """What the patterns of a type cost, and what they add to each linking row."""

    def __init__(self, links: Rows, cost: Ints) -> None:
        self.columns = links.terms.transposed(len(links.low))
        self._cost, self._rows = cost, len(links.floor)

    def of(self, kind: NodeType, patterns: Iterable[Ints]) -> Iterator[tuple[int, Floats]]:
        """Yield the cost of each pattern and its part in the rows."""
        taken, cost = self.columns.take(kind.first), self._cost[kind.first]
        along = taken.row
        for pattern in patterns:
            added = np.bincount(taken.column, weights=taken.value * pattern[along], minlength=self._rows)
            yield int(cost @ pattern), added.astype(float)


class IntegerMaster:
    """The integer model over some patterns of each type.

    Parameters
    ----------
    links : Rows
        The linking rows, without literals.
    patterns : sequence of lists of ints
        For each type of blocks its patterns, each an assignment of the block's variables.
    cost : ints, shape (variables,)
        What the `total` is of.

    Attributes
    ----------
    model : CpModel
        Without an objective.
    total : LinearExpr
        Cost of what is taken.
    """

    def __init__(self, links: Rows, blocks: NodeTypes, patterns: Sequence[list[Ints]], cost: Ints) -> None:
        self.model = model = cp_model.CpModel()
        self._blocks = blocks
        shared = blocks.shared.tolist()
        self._shared = {v: model.new_int_var(int(links.low[v]), int(links.high[v]), "") for v in shared}
        sums: list[tuple[list[cp_model.IntVar], list[int]]] = [([], []) for _ in links.floor]
        for r, (variables, coefficients) in enumerate(sums):
            for v, a in zip(*(x.tolist() for x in links.terms.of(r)), strict=True):
                if v in self._shared:
                    variables.append(self._shared[v])
                    coefficients.append(a)
        self.total = cp_model.LinearExpr.weighted_sum(list(self._shared.values()), cost[shared].tolist())
        self._taken: list[list[tuple[Ints, cp_model.IntVar]]] = []
        effects = Effects(links, cost)
        for kind, known in zip(blocks.types, patterns, strict=True):
            counts = [model.new_int_var(0, len(kind.members), "") for _ in known]
            costs = []
            for often, (price, effect) in zip(counts, effects.of(kind, known), strict=True):
                costs.append(price)
                for r in np.flatnonzero(effect).tolist():
                    sums[r][0].append(often)
                    sums[r][1].append(int(effect[r]))
            self.total += cp_model.LinearExpr.weighted_sum(counts, costs)
            model.add(cp_model.LinearExpr.sum(counts) == len(kind.members))
            self._taken.append(list(zip(known, counts, strict=True)))
        for r, (variables, coefficients) in enumerate(sums):
            add_row(model, coefficients, variables, int(links.floor[r]), int(links.ceiling[r]))

    def hint(self, values: Ints) -> None:
        """Start from a solution of the whole model."""
        for v, variable in self._shared.items():
            self.model.add_hint(variable, int(values[v]))
        for kind, mine in zip(self._blocks.types, self._taken, strict=True):
            count = Counter(values[members].tobytes() for members in kind.members)
            for pattern, often in mine:
                self.model.add_hint(often, count[pattern.tobytes()])

    def best(self, values: Ints, solver: cp_model.CpSolver) -> Ints | None:
        """Find what costs least, starting from a solution of the whole model; None where time ran out."""
        self.hint(values)
        self.model.minimize(self.total)
        if solver.solve(self.model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        return self.read(solver, len(values))

    def read(self, solver: cp_model.CpSolver, variables: int) -> Ints:
        """Return what a solver found as a solution of the whole model, which has so many variables."""
        found = np.zeros(variables, dtype=np.int64)
        found[list(self._shared)] = [solver.value(variable) for variable in self._shared.values()]
        for kind, mine in zip(self._blocks.types, self._taken, strict=True):
            chosen = [pattern for pattern, often in mine for _ in range(solver.value(often))]
            for members, pattern in zip(kind.members, chosen, strict=True):
                found[members] = pattern
        return found
