"""Pricing in column generation: the pattern of one node that helps the master most."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from ortools.sat.python import cp_model

from ...models.errors import InternalError
from ..model.submodel import Submodels

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..model.sparse_rows import Ints, Rows
    from .node_types import NodeType


class Pricing:
    """What may stand on one node of a type, as a model of its own."""

    def __init__(self, rows: Rows, kind: NodeType, new_solver: Callable[[float], cp_model.CpSolver]) -> None:
        self.kind = kind
        self._new_solver = new_solver
        submodel = Submodels(rows.subset(kind.local), np.zeros_like(rows.low)).extract(kind.first)
        if submodel is None:
            raise InternalError("nothing may stand on a node, not even what stands there now")
        self._model = submodel.model
        self._variables = [self._model.get_int_var_from_proto_index(k) for k in range(len(kind.first))]
        self._solver: cp_model.CpSolver | None = None

    def stop(self) -> None:
        """End a search that runs in another thread."""
        if self._solver is not None:
            self._solver.stop_search()

    def best(
        self, costs: Ints, seconds: float, threads: int, gap: float = 0.0
    ) -> tuple[int | None, list[Ints]]:
        """Look for the pattern of least cost.

        Returns
        -------
        int or None
            No pattern costs less; None where nothing was found in time.
        list of ints
            The patterns met on the way, each a value for every variable of the block.
        """
        self._model.minimize(cp_model.LinearExpr.weighted_sum(self._variables, costs.tolist()))
        self._solver = solver = self._new_solver(seconds)
        solver.parameters.num_workers = threads
        solver.parameters.relative_gap_limit = gap
        met = _Met()
        status = solver.solve(self._model, met)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None, []
        last = np.array(list(solver.response_proto.solution), dtype=np.int64)
        bound = math.floor(solver.best_objective_bound)
        return bound, [*met.patterns, last]


class _Met(cp_model.CpSolverSolutionCallback):
    """Keeps every solution."""

    def __init__(self) -> None:
        super().__init__()
        self.patterns: list[Ints] = []

    def on_solution_callback(self) -> None:
        """Keep one."""
        self.patterns.append(np.array(list(self.response_proto.solution), dtype=np.int64))
