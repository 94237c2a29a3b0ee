"""One CP-SAT model of a round over its life: tiers are fixed, cuts added, hints replaced, solved again.

The traps of CP-SAT 9.15 are handled here and nowhere else (docs/dependencies.md): the presolve
setting that keeps enforced rows, the symmetry setting that keeps a complete hint, integers read from
variables.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from ortools.sat.python import cp_model

from ...encoders import Context, Problem, encode
from ...encoders.devices.variables import device_variables
from ...encoders.terms import Goal, Terms
from ...models.errors import InternalError
from ...models.progress import Watch, unwatched
from .cp_solver import cp_solver
from .interrupts import run_interruptibly, run_or_leave
from .sparse_rows import Rows, rows_of
from .submodel import Submodels
from .variable_index import VariableIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..model.component import Component
    from ..options import SolveOptions
    from .solution import Solution
    from .sparse_rows import Ints

# Weighted sums of tiers stay below this: every weight and every sum is exact in CP-SAT and in a float.
WEIGHT_LIMIT = 2**40

# Share of the time for the variables that follow from a plan: they are few, or quickly determined.
COMPLETING = 0.1


class Completion(Enum):
    """What came of completing a plan to values of all variables."""

    COMPLETE = auto()
    REFUSED = auto()
    """No values exist: the plan breaks a condition that the model calls necessary."""
    OUT_OF_TIME = auto()


@dataclass(frozen=True)
class SearchResult:
    """What one search gave.

    `bound` is a proven bound of the first goal searched for; `optimal` says that all goals searched for are
    proven at the values of `solution`; `infeasible` that no solution is left at all.
    """

    solution: Solution | None
    bound: int | None
    optimal: bool
    infeasible: bool
    interrupted: bool = False


@dataclass
class RoundModel:
    """The model of one round and the constraints added to it since.

    Attributes
    ----------
    watch : Watch
        Hears of the model being built, and of its constraints being read.
    values : ints or None
        Values of all variables in the plan that was last completed.
    reading_seconds : float
        How long it took to read the model as rows: steps that nothing can end take a multiple of that.
    """

    problem: Problem
    options: SolveOptions
    watch: Watch = unwatched
    context: Context = field(init=False)
    goals: dict[str, Goal] = field(init=False)
    values: Ints | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._rows: Rows | None = None
        self._submodels: Submodels | None = None
        self._read_constraints = 0
        self.reading_seconds = 0.0
        self.context = encode(self.problem, self.options.prefer, self.watch)
        self.goals = {g.name: g for g in self.context.goals}

    @property
    def variables(self) -> int:
        """Number of variables."""
        return len(self.context.model.proto.variables)

    @property
    def constraints(self) -> int:
        """Number of constraints."""
        return len(self.context.model.proto.constraints)

    @property
    def rows(self) -> Rows:
        """The model as sparse rows, with all that was added to it so far."""
        rows, first = self._rows, self._read_constraints
        if rows is None or first < self.constraints:
            known = 0 if rows is None else len(rows.low)
            start = time.monotonic()
            new = rows_of(self.context.model, first, known, self.watch)
            self.reading_seconds = max(self.reading_seconds, time.monotonic() - start)
            self._rows = rows = new if rows is None else rows.joined(new)
            self._read_constraints = self.constraints
        return rows

    def cost(self, name: str) -> Ints:
        """Coefficient of each variable in a tier, to be minimised; the tier's constant is not in it."""
        terms, sign = self.goals[name].terms, -1 if self.goals[name].sense == "max" else 1
        found = np.zeros(self.variables, dtype=np.int64)
        np.add.at(found, [v.index for v in terms.variables], [sign * c for c in terms.coefficients])
        return found

    def fix(self, name: str, value: int) -> None:
        """Hold a tier at least as good as a value that a replayed plan attains."""
        goal = self.goals[name]
        expression = goal.terms.expression()
        model = self.context.model
        model.add(expression >= value if goal.sense == "max" else expression <= value)

    def bound(self, name: str, value: int) -> None:
        """Add a proven bound of a tier to the model."""
        goal = self.goals[name]
        expression = goal.terms.expression()
        if (value < goal.high) if goal.sense == "max" else (value > goal.low):
            self.context.model.add(expression <= value if goal.sense == "max" else expression >= value)

    def add_nogood(self, conflict: Component, relaxing: Component, solution: Solution) -> None:
        """Exclude solutions that agree on a conflict and are no more relaxed (a lazy cut, or nogood)."""
        differs = [self._outside(*item, fewer=True) for item in self._values(conflict, solution)]
        differs += [self._outside(*item, fewer=False) for item in self._values(relaxing, solution)]
        self.context.model.add_bool_or([literal for literals in differs for literal in literals])

    def _values(self, component: Component, solution: Solution) -> Iterator[tuple[cp_model.IntVar, int]]:
        """Yield the variables of a component with their values in a solution."""
        for key, variable in self.context.counts.items():
            if key[0] in component.classes:
                yield variable, solution.counts.get(key, 0)
        for v in sorted(component.victims):
            yield self.context.evictions[v], solution.leaving.get(v, 0)
        devices = device_variables(self.context)
        if component.choosing and devices is not None and solution.devices is not None:
            yield from zip(devices.deciding(), solution.devices.values, strict=True)

    def _outside(self, variable: cp_model.IntVar, value: int, *, fewer: bool) -> list[cp_model.IntVar]:
        """Return literals of which one must hold for the variable to exceed a value, or fall below it."""
        # a list of its own: CP-SAT's repeated fields do not count from the end, [-1] is 0
        low, *_, high = list(variable.proto.domain)
        ranges = [(value + 1, high)] + [(low, value - 1)] * fewer
        literals = []
        for first, last in ranges:
            if first <= last:
                literal = self.context.model.new_bool_var(f"differs[{self.variables}]")
                self.context.model.add_linear_constraint(variable, first, last).only_enforce_if(literal)
                literals.append(literal)
        return literals

    @property
    def submodels(self) -> Submodels:
        """Extracts submodels of the model as it is now; the point is that of the last `complete`."""
        rows = self.rows
        if self._submodels is None or self._submodels.rows is not rows:
            self._submodels = Submodels(rows, np.zeros(len(rows.low), dtype=np.int64))
        return self._submodels

    def complete(
        self,
        counts: Mapping[tuple[int, int], int],
        leaving: Mapping[int, int],
        names: Sequence[str],
        seconds: float,
    ) -> Completion:
        """Extend a plan's counts and evictions to values of all variables, the best ones for some tiers.

        Where it succeeds, they are the model's `values`, from which the next search starts.
        """
        submodels = self.submodels
        submodels.move_to(self.variable_index.values(counts, leaving, self.variables))
        self.values = None
        others = np.ones(self.variables, dtype=bool)
        others[self.variable_index.decisive] = False
        if others.any():
            submodel = submodels.extract(np.flatnonzero(others))
            if submodel is None:
                return Completion.REFUSED
            submodel.aim(self.sum_of(names))
            solver = self.new_solver(min(seconds, max(1.0, COMPLETING * seconds)))
            solver.parameters.num_workers = 1
            status = run_or_leave(lambda: solver.solve(submodel.model), solver.stop_search)
            if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
                return Completion.REFUSED if status == cp_model.INFEASIBLE else Completion.OUT_OF_TIME
            submodels.move(submodel.variables, np.array(list(solver.response_proto.solution), dtype=np.int64))
        if len(submodels.broken()):
            return Completion.REFUSED
        self.values = submodels.x.copy()
        return Completion.COMPLETE

    def sum_of(self, names: Sequence[str]) -> Ints:
        """Coefficient of each variable in the weighted sum of neighbouring tiers, to be minimised."""
        total = np.zeros(self.variables, dtype=np.int64)
        goals = [self.goals[n] for n in names]
        for goal, weight in zip(goals, weights(goals), strict=True):
            total += weight * self.cost(goal.name)
        return total

    def search(
        self,
        names: Sequence[str],
        seconds: float,
        watch: Callable[[int | None, int | None], None],
        workers: int = 0,
    ) -> SearchResult:
        """Search for the best values of neighbouring tiers, in their order, within a time.

        Several tiers become one weighted sum; the caller sees to it that the weights are in range
        (`weights`). One worker finds the same every time, as long as its time suffices; by default all
        workers of the options search.
        """
        model = self.context.model
        sum_of = WeightedSum([self.goals[n] for n in names])
        model.minimize(sum_of.terms.expression())
        model.clear_hints()  # type: ignore[no-untyped-call]
        if self.values is not None:
            model.proto.solution_hint.vars.extend(range(len(self.values)))
            model.proto.solution_hint.values.extend(self.values.tolist())
        solver = self.new_solver(seconds)
        solver.parameters.num_workers = workers or self.options.workers
        callback = _Watch(
            lambda objective, bound: watch(sum_of.first_value(objective), sum_of.first_bound(bound))
        )
        status, interrupted = run_interruptibly(lambda: solver.solve(model, callback), solver.stop_search)
        if status == cp_model.MODEL_INVALID:
            raise InternalError(f"invalid model: {model.validate()}")
        if status == cp_model.INFEASIBLE:
            return SearchResult(None, None, optimal=False, infeasible=True, interrupted=interrupted)
        if status == cp_model.UNKNOWN:
            # its best_objective_bound is 0.0 where presolve did not finish: no bound at all
            return SearchResult(None, None, optimal=False, infeasible=False, interrupted=interrupted)
        bound = sum_of.first_bound(solver.best_objective_bound)
        solution = self._read(solver)
        return SearchResult(
            solution, bound, status == cp_model.OPTIMAL, infeasible=False, interrupted=interrupted
        )

    @cached_property
    def variable_index(self) -> VariableIndex:
        """The variables by class and node."""
        return VariableIndex(self.context)

    def solution(self, values: Ints) -> Solution:
        """Read a solution from the values of all variables."""
        return self.variable_index.solution(values)

    def _read(self, solver: cp_model.CpSolver) -> Solution:
        return self.solution(np.array(list(solver.response_proto.solution), dtype=np.int64))

    def new_solver(self, seconds: float) -> cp_model.CpSolver:
        """Make a solver with the settings that keep rows and hints (docs/dependencies.md)."""
        return new_solver(self.options, seconds)


def new_solver(options: SolveOptions, seconds: float) -> cp_model.CpSolver:
    """Make a solver with the settings that keep rows and hints (docs/dependencies.md)."""
    solver = cp_solver(workers=options.workers, seed=options.seed)
    parameters = solver.parameters
    parameters.max_time_in_seconds = max(seconds, 0.01)
    parameters.presolve_inclusion_work_limit = 0
    parameters.symmetry_level = 0
    if options.workers == 1:
        parameters.max_deterministic_time = max(seconds, 0.01)
    return solver


class WeightedSum:
    """Neighbouring tiers as one sum to minimise, weighted so that the order of the tiers is kept exactly."""

    def __init__(self, goals: Sequence[Goal]) -> None:
        self.first = goals[0]
        self.weights = weights(goals)
        self.terms = Terms()
        for goal, weight in zip(goals, self.weights, strict=True):
            self.terms.extend(goal.terms, weight if goal.sense == "min" else -weight)
        ranges = [_cost_range(g) for g in goals]
        self._rest_low = sum(w * low for w, (low, _) in list(zip(self.weights, ranges, strict=True))[1:])
        self._rest_high = sum(w * high for w, (_, high) in list(zip(self.weights, ranges, strict=True))[1:])

    def first_value(self, total: float) -> int:
        """Value of the first tier in a solution whose sum is `total` (an integer, given as a float)."""
        return self._signed((round(total) - self._rest_low) // self.weights[0])

    def first_bound(self, lower: float) -> int:
        """Bound of the first tier, given a lower bound of the sum, rounded towards the weaker bound."""
        # the sum is an integer, so is CP-SAT's bound of it; a tiny float error must not round it inward
        total = math.ceil(lower - 1e-3)
        bound = -((self._rest_high - total) // self.weights[0])
        low, high = _cost_range(self.first)
        return self._signed(min(max(bound, low), high))

    def _signed(self, cost: int) -> int:
        return cost if self.first.sense == "min" else -cost


def weights(goals: Sequence[Goal]) -> list[int]:
    """Weights that put each tier above all that follow it: w_k = w_{k+1}·(range_{k+1} + 1)."""
    found = [1]
    for goal in reversed(goals[1:]):
        low, high = _cost_range(goal)
        found.append(found[-1] * (high - low + 1))
    return found[::-1]


def weighted_range(goals: Sequence[Goal]) -> int:
    """Size of the weighted sum of some tiers; beyond `WEIGHT_LIMIT` they must be searched apart."""
    return math.prod(1 + high - low for low, high in map(_cost_range, goals))


def together(goals: Mapping[str, Goal], names: Sequence[str], *, apart: bool) -> list[str]:
    """Return the first tiers, to be searched as one sum: as many as its range allows.

    With `apart`, tiers that count placed pods are searched alone. Tiers that are no goals of the model add
    nothing to the range.
    """
    group = [names[0]]
    for name in names[1:]:
        goal = goals.get(name)
        if goal is not None:
            if apart and (goal.sense == "max" or goals[names[0]].sense == "max"):
                break
            if weighted_range([goals[n] for n in (*group, name) if n in goals]) > WEIGHT_LIMIT:
                break
        group.append(name)
    return group


def _cost_range(goal: Goal) -> tuple[int, int]:
    """Least and largest value of a tier as a cost to minimise."""
    low, high = goal.low, goal.high
    return (low, high) if goal.sense == "min" else (-high, -low)


class _Watch(cp_model.CpSolverSolutionCallback):
    """Reports each improving solution."""

    def __init__(self, report: Callable[[float, float], None]) -> None:
        super().__init__()
        self._report = report

    def on_solution_callback(self) -> None:
        """Pass objective and bound on."""
        self._report(self.objective_value, self.best_objective_bound)
