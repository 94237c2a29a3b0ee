"""Recombination of known patterns: every node is as it was in some solution that the search has passed.

Where nodes are alike, the patterns of the solutions that a search passes, and those of column generation, are
few enough for CP-SAT to choose the best whole numbers of them quickly: a restricted integer master
(`solver.patterns.integer_master`). For a model whose linking rows have literals it is a relaxation, and its
solutions have to be checked.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from ..bounds.lp_relaxation import linear
from .integer_master import IntegerMaster
from .params import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable

    from ortools.sat.python import cp_model

    from ..model.sparse_rows import Ints, Rows
    from .column_generation import NewSolver, Patterns
    from .node_types import NodeTypes
    from .params import PatternParams


class RecombinationAttempt:
    """One attempt: the best of some patterns, from a solution that is made of them.

    Parameters
    ----------
    done : callable
        Called at its end.
    """

    def __init__(
        self,
        master: Callable[[], IntegerMaster],
        point: Ints,
        solver: cp_model.CpSolver,
        done: Callable[[], None],
    ) -> None:
        self._master, self._point, self._solver = master, point, solver
        self._stopped = False
        self._done = done

    def stop(self) -> None:
        """End the search soon, from another thread."""
        self._stopped = True
        self._solver.stop_search()
        self._done()

    def search(self) -> Ints | None:
        """Return the best solution found, if any."""
        master = self._master()
        found = None if self._stopped else master.best(self._point, self._solver)
        self._done()
        return found


class Recombination:
    """The patterns that a search passes through, and when to combine them."""

    def __init__(
        self,
        rows: Rows,
        blocks: NodeTypes,
        patterns: Patterns,
        new_solver: NewSolver,
        params: PatternParams = DEFAULT,
    ) -> None:
        self._params = params
        self._links = linear(rows.subset(blocks.linking))
        self._blocks, self._patterns, self._new_solver = blocks, patterns, new_solver
        self._due: float | None = time.monotonic() + params.recombination_delay
        self._last: Ints | None = None
        self._new = 0

    def see(self, point: Ints) -> None:
        """Remember the patterns of a solution."""
        self._new += self._patterns.learn(self._blocks, point, self._last)
        self._last = point.copy()

    def attempt(self, cost: Ints, seconds: float) -> RecombinationAttempt | None:
        """Prepare an attempt from the last solution seen; None if it is too early or no pattern is new."""
        now = time.monotonic()
        if self._last is None or not self._new or self._due is None or now < self._due:
            return None
        self._due, self._new = None, 0
        known = [self._patterns.of(kind) for kind in self._blocks.types]
        solver = self._new_solver(min(self._params.recombination_limit, seconds))
        solver.parameters.num_workers = 1
        master = partial(IntegerMaster, self._links, self._blocks, known, cost)
        return RecombinationAttempt(master, self._last, solver, partial(self._rest, now))

    def _rest(self, since: float) -> None:
        now = time.monotonic()
        self._due = now + (now - since) / self._params.recombination_share
