"""Large-neighbourhood search: CP-SAT solves the submodel of a few nodes, all other variables are fixed.

A step frees the counts and evictions on some nodes (`solver.lns.neighbourhoods`) and all other variables that
depend on them through rows, so every constraint family stays exact. CP-SAT searches the submodel
(`solver.model.submodel`); its solution is accepted if all rows hold and no tier searched for is worse. Steps
run in parallel threads, each with one worker of CP-SAT; where the plan changed during a step, the solution is
checked against all rows that it touches. From time to time the patterns of past solutions are recombined
(`solver.patterns.recombination`).
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from ortools.sat.python import cp_model

from ..model.round_model import Completion
from ..model.sparse_rows import Sparse, entries, extremes
from ..patterns.recombination import RecombinationAttempt
from .neighbourhoods import Neighbourhoods
from .params import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from ..model.round_model import RoundModel
    from ..model.solution import Solution
    from ..model.sparse_rows import Ints, Rows
    from ..model.submodel import Submodel
    from ..options import SolveOptions
    from ..patterns.recombination import Recombination
    from .neighbourhoods import NeighbourhoodOperator
    from .params import LnsParams


class StepResult(NamedTuple):
    """What a step found: `values` of its variables, if any, and whether they are proven to be best."""

    values: Ints | None
    proven: bool = False


@dataclass(frozen=True)
class _Step:
    """A step: the submodel, the values it starts from, and the operator that drew it."""

    operator: NeighbourhoodOperator
    submodel: Submodel
    base: Ints
    solver: cp_model.CpSolver

    def stop(self) -> None:
        """End the search soon, from another thread."""
        self.solver.stop_search()

    def search(self) -> StepResult:
        """Search the submodel, within the solver's limits."""
        status = self.solver.solve(self.submodel.model)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return StepResult(None)
        found = np.array(list(self.solver.response_proto.solution), dtype=np.int64)
        return StepResult(found, status == cp_model.OPTIMAL)


class LargeNeighbourhoodSearch:
    """Large-neighbourhood search from one plan of a model.

    Parameters
    ----------
    recombination : callable
        Returns the recombination for the model as it is at a start; None where it has none.
    """

    def __init__(
        self,
        model: RoundModel,
        options: SolveOptions,
        recombination: Callable[[], Recombination | None] = lambda: None,
        params: LnsParams = DEFAULT,
    ) -> None:
        self._model, self._options, self._params = model, options, params
        self._recombination_of_model = recombination
        self.variable_index = model.variable_index
        self._neighbourhoods = Neighbourhoods(self.variable_index, options.seed, params)
        self._steps = 0
        self._rows: Rows | None = None
        self._cost = np.zeros(0, dtype=np.int64)
        self._stopped = threading.Event()

    def start(
        self,
        names: Sequence[str],
        counts: Mapping[tuple[int, int], int],
        leaving: Mapping[int, int],
        seconds: float,
    ) -> bool:
        """Begin at a plan, to improve neighbouring tiers (`weights` must be in range).

        Returns whether the plan's other variables could be completed in time.
        """
        model = self._model
        if self._rows is not model.rows:
            self._rows = model.rows
            self._decisive = np.zeros(len(self._rows.low), dtype=bool)
            self._decisive[self.variable_index.decisive] = True
            self._hanging = _columns(self._rows, ~self._decisive)
            self._home = self._homes(self._rows)
        self._cost = model.sum_of(names)
        if model.complete(counts, leaving, names, seconds) is not Completion.COMPLETE:
            return False
        self._submodels = model.submodels
        self._recombination = self._recombination_of_model()
        self._begin()
        return True

    def _begin(self) -> None:
        """Record a point that was not reached by steps."""
        self._neighbourhoods.start(self.point)
        if self._recombination is not None:
            self._recombination.see(self.point)

    def _homes(self, rows: Rows) -> Ints:
        """Node of each variable beside counts and evictions that rows tie to one node alone, else -1."""
        nodes = self.variable_index.node_of(rows.terms.column)
        mine = nodes >= 0
        least, most = extremes(rows.terms.row[mine], nodes[mine], len(rows.floor))
        row = self._hanging.row
        single = least[row] == most[row]
        least, most = extremes(self._hanging.column[single], least[row[single]], len(rows.low))
        return np.where(least == most, least, -1)

    @property
    def stall_limit(self) -> int:
        """Steps without an improvement in a row after which small neighbourhoods are exhausted."""
        return self._neighbourhoods.stall_limit

    @property
    def point(self) -> Ints:
        """Values of all variables at the current point."""
        return self._submodels.x

    @property
    def solution(self) -> Solution:
        """The current point as a solution."""
        return self.variable_index.solution(self._submodels.x)

    def run(self, until: float) -> Generator[bool, None, None]:
        """Take steps; yield after each whether it improved the plan. Closing it stops the running steps."""
        workers = self._options.workers
        running: dict[Future[StepResult], _Step | RecombinationAttempt] = {}
        self._stopped.clear()
        pool = ThreadPoolExecutor(workers)
        try:
            while time.monotonic() < until:
                while len(running) < workers:
                    left = until - time.monotonic()
                    step = self._recombine(left) or self._draw(left)
                    if step is None:
                        break
                    running[pool.submit(self._search, step)] = step
                if not running:
                    return
                done, _ = wait(
                    running, timeout=max(until - time.monotonic(), 0.0), return_when=FIRST_COMPLETED
                )
                for future in done:
                    yield self._take(running.pop(future), future.result())
        finally:
            self._stopped.set()
            for step in running.values():
                step.stop()
            pool.shutdown()

    def _draw(self, seconds: float) -> _Step | None:
        """Prepare a step; None where no neighbourhood leaves a choice."""
        self._steps += 1
        for _ in range(self._params.max_empty_draws if len(self.variable_index.nodes) else 0):
            operator, nodes = self._neighbourhoods.draw()
            submodel = self._submodels.extract(self.free(nodes))
            if submodel is not None and (submodel.low < submodel.high).any():
                return self._step(operator, submodel, seconds)
        return None

    def _step(self, operator: NeighbourhoodOperator, submodel: Submodel, seconds: float) -> _Step:
        base = self._submodels.x[submodel.variables]
        submodel.aim(self._cost)
        if self._steps % self._params.unhinted_every:
            submodel.model.proto.solution_hint.vars.extend(range(len(base)))
            submodel.model.proto.solution_hint.values.extend(base.tolist())
        solver = self._model.new_solver(min(self._neighbourhoods.step_time_limit, seconds))
        solver.parameters.num_workers = 1
        solver.parameters.linearization_level = 2
        solver.parameters.random_seed = (self._options.seed + self._steps) % 2**31
        return _Step(operator, submodel, base, solver)

    def free(self, nodes: Ints) -> Ints:
        """Counts and evictions on nodes, and the variables that depend on them, the nearest first.

        Variables of other nodes stay fixed: violations there depend on evictions there. Where a group is
        evicted whole, the evictions of its members elsewhere are free, too.
        """
        tied, elsewhere = self.variable_index.leaving_with(nodes)
        free = self.variable_index.on(nodes)
        free = ring = np.concatenate((free, np.setdiff1d(tied, free)))
        here = np.zeros(self.variable_index.problem.cluster.n_nodes + 1, dtype=bool)
        here[nodes] = here[elsewhere] = here[-1] = True
        for _ in range(self._params.max_distance):
            found, _ = entries(self._hanging.start, self._submodels.rows_at(ring))
            ring = np.setdiff1d(self._hanging.column[found], free)
            ring = ring[here[self._home[ring]]]
            if len(ring) == 0 or len(free) + len(ring) > self._params.max_free:
                break
            free = np.concatenate((free, ring))
        return free

    def _recombine(self, seconds: float) -> RecombinationAttempt | None:
        known = self._recombination
        return None if known is None else known.attempt(self._cost, seconds)

    def _search(self, step: _Step | RecombinationAttempt) -> StepResult:
        if self._stopped.is_set():
            return StepResult(None)
        # other patterns may make a better plan than those that an attempt recombines
        return StepResult(step.search()) if isinstance(step, RecombinationAttempt) else step.search()

    def _take(self, step: _Step | RecombinationAttempt, result: StepResult) -> bool:
        """Accept a solution that is no worse; return whether it is better."""
        found = result.values
        if isinstance(step, RecombinationAttempt):
            return self._take_all(found)
        gain = False
        if found is not None:
            changed = np.flatnonzero(found != step.base)
            variables = step.submodel.variables[changed]
            better = int(self._cost[variables] @ (found - step.base)[changed])
            if len(changed) and better <= 0 and (self.point[variables] == step.base[changed]).all():
                rows = self._submodels.move(variables, found[changed])
                if len(self._submodels.broken(rows)):
                    self._submodels.move(variables, step.base[changed])
                else:
                    gain = better < 0
                    self._follow(variables, (found - step.base)[changed])
        self._neighbourhoods.learn(step.operator, step.solver.wall_time, gain=gain, proven=result.proven)
        return gain

    def _take_all(self, found: Ints | None) -> bool:
        """Move to a recombined solution if it is better than the current point; return whether it is."""
        before = self.point
        if found is None or int(self._cost @ (found - before)) >= 0:
            return False
        self._submodels.move_to(found)
        if len(self._submodels.broken()):
            self._submodels.move_to(before)
            return False
        self._begin()
        return True

    def _follow(self, variables: Ints, change: Ints) -> None:
        mine = self._decisive[variables]
        self._neighbourhoods.follow(variables[mine], change[mine])
        if self._recombination is not None:
            self._recombination.see(self.point)


def _columns(rows: Rows, kept: np.ndarray) -> Sparse:
    """Of each row the kept variables, terms and conditions alike."""
    row = np.concatenate((rows.terms.row, rows.literals.row))
    column = np.concatenate((rows.terms.column, rows.literals.column))
    mine = kept[column]
    order = np.argsort(row[mine], kind="stable")
    start = np.concatenate(([0], np.cumsum(np.bincount(row[mine], minlength=len(rows.floor)))))
    return Sparse(start.astype(np.int64), column[mine][order], np.ones(int(mine.sum()), dtype=np.int64))
