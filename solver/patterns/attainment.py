"""Whether any solution attains a tier's bound: decided over all patterns that such a solution can use.

    1. How little room is left on a node then (`solver.patterns.slack_bounds`).
    2. All patterns that leave no more (`solver.patterns.enumeration`).
    3. How often each is taken (`solver.patterns.integer_master`), which CP-SAT decides.

If no choice of them exists, the bound falls by one, and if one exists, it is a solution that attains it.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from ortools.sat.python import cp_model
from ortools.util.python.solve_interrupter import SolveInterrupter

from ..bounds.lp_relaxation import linear
from .enumeration import knapsacks, patterns_within
from .integer_master import IntegerMaster
from .params import DEFAULT
from .slack_bounds import SlackBounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..model.sparse_rows import Ints, Rows
    from .node_types import NodeTypes
    from .params import PatternParams


class Attainment:
    """The question for one tier of one model.

    Parameters
    ----------
    cost : ints, shape (variables,)
        Cost of the tier.
    new_solver : callable
        Makes a solver with a limit in seconds.
    """

    def __init__(
        self,
        rows: Rows,
        blocks: NodeTypes,
        cost: Ints,
        new_solver: Callable[[float], cp_model.CpSolver],
        params: PatternParams = DEFAULT,
    ) -> None:
        self._params = params
        self._rows, self._blocks, self._cost = rows, blocks, cost
        self._links = linear(rows.subset(blocks.linking))
        self._new_solver = new_solver
        self._interrupter = SolveInterrupter()
        self._solver: cp_model.CpSolver | None = None
        self._stopped = False

    def stop(self) -> None:
        """End it soon, from another thread."""
        self._stopped = True
        self._interrupter.interrupt()
        if self._solver is not None:
            self._solver.stop_search()

    def decide(self, target: int, until: float) -> tuple[bool, Ints | None]:
        """Look for a solution that costs no more than a target.

        Returns
        -------
        bool
            Whether the question is decided; not where patterns are too many, or time ran out.
        ints or None
            Values of all variables in such a solution.
        """
        if len(self._blocks.types) > self._params.max_enumerated_types:
            return False, None
        slack = SlackBounds(self._rows, self._blocks, self._links, self._cost, target, self._interrupter)
        listed = self._patterns(slack, until)
        if listed is None:
            return False, None
        floor, ceiling = slack.linking(0.5 * (time.monotonic() + until))
        master = IntegerMaster(
            replace(self._links, floor=floor, ceiling=ceiling), self._blocks, listed, self._cost
        )
        master.model.add(master.total <= target)
        self._solver = self._new_solver(until - time.monotonic())
        # a tree over the LP decides it: more workers look for solutions, probing costs more than it gives
        self._solver.parameters.num_workers = 1
        self._solver.parameters.cp_model_probing_level = 0
        if self._stopped or time.monotonic() >= until:
            return False, None
        status = self._solver.solve(master.model)
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return True, master.read(self._solver, len(self._cost))
        return status == cp_model.INFEASIBLE, None

    def _patterns(self, slack: SlackBounds, until: float) -> list[list[Ints]] | None:
        """List the patterns of each type; None where that cannot be done, or not in time."""
        listed: list[list[Ints]] = []
        left = self._params.max_enumerated_patterns
        for kind in self._blocks.types:
            rows = knapsacks(self._rows, kind)
            if not len(rows.ceiling) or self._stopped or time.monotonic() >= until:
                return None
            found = patterns_within(
                self._rows, kind, rows, slack.floors(kind, rows.weights, until), most=left
            )
            if found is None:
                return None
            left -= len(found)
            listed.append(list(found))
        return listed
