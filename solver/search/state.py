"""State shared by all phases of a search: the incumbent, the tiers held, and the models made for them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property, partial
from typing import TYPE_CHECKING

from ...models import tiers
from ...models.progress import Watch, unwatched
from ...models.tiers import PREFERENCES
from ..bounds.trivial import trivial_bound
from ..deadline import until
from ..departures.search import Departing
from ..lns.search import LargeNeighbourhoodSearch
from ..model.round_model import Completion, RoundModel, new_solver
from ..model.solution import Solution
from ..options import Progress
from ..ordering.decoding import assign, complete, counted, ordered, salvage
from ..ordering.sequencer import Sequencer
from ..packing.search import Packing
from ..plans.objective import valuate
from ..plans.outcome import Outcome
from ..plans.replay import inadmissible
from ..refill.search import Refill, SideBySide, one_by_one
from .incumbent import Incumbent
from .sum_bounds import SumBounds
from .tier_bounds import Bounding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...encoders.problem import Problem
    from ...framework.state.state import State
    from ..options import ProgressCallback, SolveOptions
    from ..ordering.assignment import Assignment
    from ..plans.objective import ObjectiveVector
    from .params import SearchParams


class Decoded(Enum):
    """What came of turning a solution of the model into a plan."""

    ATTAINED = auto()
    """The plan attains the solution's values of the tiers asked for."""
    FELL_SHORT = auto()
    EXCLUDED = auto()
    """No order exists, and a nogood excludes the solution."""


def decisions(problem: Problem) -> int:
    """Return how many variables of the model say who comes where and who leaves."""
    return sum(int(cls.mask.sum()) for cls in problem.classes) + len(problem.victims)


@dataclass
class SearchState:
    """The state of the search of one problem.

    Attributes
    ----------
    start, deadline : float
        Begin and end of the search, on the monotonic clock.
    incumbent : Incumbent
        The best plan and the bounds.
    held : list of (str, int)
        The tiers that are held, highest first, and at what value.
    sequencer : Sequencer
        Puts assignments in order.
    slots, side_by_side
        How many independent pieces of the search run at once, and what runs them.
    interrupted : bool
        Whether Ctrl-C was received.
    finishing : float
        Seconds that refill search took last, once its blocks were searched, until its plan was in order; 0
        before that.
    filled : bool
        Whether nodes were filled by columns.
    watch : Watch
        Hears of the models that are built, and ends that at the deadline.
    decisions : int
        How many variables of the model say who comes where and who leaves.
    """

    problem: Problem
    options: SolveOptions
    params: SearchParams
    progress: ProgressCallback | None
    start: float
    watch: Watch = unwatched
    slots: int = 1
    side_by_side: SideBySide = one_by_one
    interrupted: bool = False
    finishing: float = 0.0
    filled: bool = False
    held: list[tuple[str, int]] = field(default_factory=list)
    deadline: float = field(init=False)
    decisions: int = field(init=False)
    incumbent: Incumbent = field(init=False)
    sequencer: Sequencer = field(init=False)
    _model: RoundModel | None = field(default=None, init=False)
    _bounding: Bounding | None = field(default=None, init=False)
    _lns: LargeNeighbourhoodSearch | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.deadline = self.start + self.options.time_limit
        self.watch = until(self.deadline, self.watch)
        self.decisions = decisions(self.problem)
        self.sequencer = Sequencer(self.problem)
        cluster, nothing = self.problem.cluster, Outcome()
        self.incumbent = Incumbent(cluster, nothing, valuate(cluster, nothing, self.options.prefer))
        for tier in self.incumbent.valuation.tiers:
            if tier.name not in PREFERENCES:
                self.incumbent.tell(tier.name, self.trivial_bound(tier.name))

    # -- models, made on first use with the tiers held so far --

    @cached_property
    def sum_bounds(self) -> SumBounds:
        """Bounds from rows summed over the nodes."""
        return SumBounds(self.problem, self.options)

    @property
    def model(self) -> RoundModel:
        """The model node by node."""
        if self._model is None:
            self._model = RoundModel(self.problem, self.options, self.watch)
            for name, value in self.held:
                if name in self._model.goals:
                    self._model.fix(name, value)
        return self._model

    @property
    def bounding(self) -> Bounding:
        """Relaxations of the model."""
        if self._bounding is None:
            self._bounding = Bounding(self.model, self.options, self.params)
        return self._bounding

    @property
    def lns(self) -> LargeNeighbourhoodSearch:
        """Large-neighbourhood search in the model."""
        if self._lns is None:
            recombination = self.bounding.recombination
            self._lns = LargeNeighbourhoodSearch(self.model, self.options, recombination, self.params.lns)
        return self._lns

    @cached_property
    def refilling(self) -> Refill:
        """Refill search in the problem."""
        return Refill(self.problem, self.options.seed, self.slots, self.side_by_side, self.params.refill)

    @cached_property
    def departing(self) -> Departing:
        """Who leaves each node of the problem."""
        solvers = partial(new_solver, self.options)  # no model is needed for it
        return Departing(self.problem, self.options.seed, solvers, self.params.departures)

    @cached_property
    def filling(self) -> Packing:
        """Packing in the problem."""
        solvers = partial(new_solver, self.options)  # no model is needed for it
        return Packing(self.problem, self.options.seed, solvers, self.params.packing)

    @property
    def large(self) -> bool:
        """Whether the decisions alone make the model a large one, which need not be built for that."""
        return self.decisions > self.params.small_model

    @property
    def size(self) -> tuple[int, int]:
        """Variables and constraints of the model; none where every tier was proven without it."""
        return (0, 0) if self._model is None else (self._model.variables, self._model.constraints)

    # -- tiers --

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - time.monotonic()

    def end(self) -> None:
        """Begin nothing more."""
        self.deadline = min(self.deadline, time.monotonic())

    def value(self, name: str) -> int:
        """Return the best plan's value of a tier."""
        return self.incumbent.value(name)

    def bound(self, name: str) -> int:
        """Return the tightest known bound of a tier, given the tiers above."""
        bound = self.incumbent.bound(name)
        if bound is None:
            bound = self.trivial_bound(name)
            self.incumbent.tell(name, bound)
        return bound

    def trivial_bound(self, name: str) -> int:
        """Return a bound of a tier that holds of every plan: what can be placed at all, no cost."""
        if name in self._most_scheduled:
            return self._most_scheduled[name]
        if name not in PREFERENCES:
            return 0
        if self._model is None and (self.interrupted or self.seconds_left <= 0):
            return trivial_bound(self.problem.cluster, name)
        goal = self.model.goals[name]
        return goal.high if goal.sense == "max" else goal.low

    @cached_property
    def _most_scheduled(self) -> dict[str, int]:
        most = {tiers.scheduled(level): 0 for level in self.problem.levels}
        asked = self.problem.cluster.asked
        if asked:
            most[tiers.ASKED] = 0
        kept = self.problem.cluster.kept
        if kept:
            most[tiers.KEPT] = 0
        for cls in self.problem.classes:
            placed = min(cls.size, int(cls.limit.sum()))
            most[tiers.scheduled(cls.priority)] += placed
            if cls.pod in asked:
                most[tiers.ASKED] = max(most[tiers.ASKED], min(placed, 1))
            if cls.pod in kept:
                most[tiers.KEPT] += placed
        return most

    def closed(self, name: str) -> bool:
        """Whether the best plan attains the bound of a tier."""
        return self.value(name) == self.bound(name)

    def leaves_out(self) -> bool:
        """Whether some pod is unplaced that might be placed."""
        names = map(tiers.scheduled, self.problem.levels)
        return any(self.value(name) < self.bound(name) for name in names)

    def settle(self, name: str) -> None:
        """Hold a tier at what the best plan attains."""
        value = self.value(name)
        self.held.append((name, value))
        self._fix(name, value)
        self.report(name, value, self.bound(name))

    def moved(self) -> bool:
        """Whether the best plan is better in some tier held, and maybe worse in those below."""
        return any(self.value(name) != value for name, value in self.held)

    def reopen(self, k: int) -> int:
        """Hold the tiers at the best plan's values, as far as it is no worse there.

        Returns
        -------
        int
            The tier to go on with: the k-th, or the first tier held in which the best plan is worse.
        """
        cost, value_of = self.incumbent.cost, self.value
        held = enumerate(self.held)
        broken = next((j for j, (n, value) in held if cost(n, value_of(n)) > cost(n, value)), None)
        if broken is not None:
            self._model = self._bounding = self._lns = None
            del self.held[broken:]
        for place, (name, value) in enumerate(self.held):
            if (now := value_of(name)) != value:
                self.held[place] = name, now
                self._fix(name, now)
        return k if broken is None else broken

    def _fix(self, name: str, value: int) -> None:
        """Hold a tier in the model, if it is built."""
        if not self.interrupted and self._model is not None and name in self._model.goals:
            self._model.fix(name, value)

    # -- plans and bounds --

    def offer(self, outcome: Outcome, end: State | None = None) -> ObjectiveVector:
        """Value an admissible outcome, and keep it if it is the best so far.

        Parameters
        ----------
        end : State, optional
            The state in which its moves end, where it is known already.
        """
        value = valuate(self.problem.cluster, outcome, self.options.prefer, end=end)
        self.incumbent.offer(outcome, value)
        return value

    def tell(self, name: str, bound: int) -> None:
        """Record a bound from the model: it holds given the tiers that the model holds."""
        self.incumbent.tell(name, bound, self.held_costs())

    def held_costs(self) -> tuple[int, ...]:
        """Return the values of the tiers held, as costs."""
        return tuple(self.incumbent.cost(*held) for held in self.held)

    def hint(self, goals: Sequence[str]) -> None:
        """Start the model from the best plan, unless that breaks what the model holds."""
        plan = counted(self.problem, self.incumbent.best)
        completion = self.model.complete(*plan, goals, self.seconds_left)
        if completion is Completion.REFUSED and not self.moved():
            raise self.incumbent.contradiction("the model refuses a plan that passes every filter")

    def follow(self, counts: Mapping[tuple[int, int], int], leaving: Mapping[int, int], until: float) -> None:
        """Put newcomers and leavers in an order without the model, and offer what is admissible of them."""
        self.put_in_order(assign(self.problem, Solution(counts, leaving, {})), until)

    def put_in_order(self, assignment: Assignment, until: float) -> None:
        """Put an assignment in an order, and offer what is admissible of it."""
        found = ordered(self.problem, self.sequencer, assignment, until)
        if not any(True for _ in inadmissible(self.problem.cluster, found.outcome.moves)):
            self.offer(*found)

    def decode(self, solution: Solution, names: Sequence[str]) -> Decoded:
        """Turn a solution into a plan, and offer it; `names` are the tiers that the plan is to attain."""
        assignment = assign(self.problem, solution)
        chosen = assignment.allocations
        result = self.sequencer.order(assignment, self.deadline)
        if result.moves is None:
            kept = salvage(self.problem, result.partial, chosen)
            self.offer(*complete(self.problem, kept, chosen, until=self.deadline))
            if result.conflict is None:
                return Decoded.FELL_SHORT
            self.model.add_nogood(result.conflict, result.relaxing, solution)
            return Decoded.EXCLUDED
        value = self.offer(*complete(self.problem, result.moves, chosen, until=self.deadline))
        costs = {t.name: t.cost for t in value.tiers}
        asked = [n for n in names if n in solution.goals]
        promised = [self.incumbent.cost(n, solution.goals[n]) for n in asked]
        attained = value.guarded and [costs[n] for n in asked] <= promised
        return Decoded.ATTAINED if attained else Decoded.FELL_SHORT

    def report(self, tier: str, incumbent: int | None, bound: int | None) -> None:
        """Report the progress of a tier to the caller."""
        if self.progress is not None:
            sense = next(t.sense for t in self.incumbent.valuation.tiers if t.name == tier)
            self.progress(Progress(tier, sense, incumbent, bound, time.monotonic() - self.start))

    def report_known(self, tier: str) -> None:
        """Report the best plan's value of a tier, and its bound, to the caller."""
        self.report(tier, self.value(tier), self.bound(tier))
