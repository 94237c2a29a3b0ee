"""The search: tier after tier, prove cheaply first, never lose the best plan.

    1. Candidates: greedy's outcome, or what stands of it by itself; a plan in queue order; one with small
       pods first (`solver.search.construction`); one that chooses domains for pod groups first
       (`solver.search.domain_relaxation`), with the bounds that come with it.
    2. For each tier whose value is not at a bound already, until it is or its time is out: a small model as
       a whole, the linear relaxation, near the best plan (`solver.lns.search`), listing and column generation
       (`solver.search.tier_bounds`), the model as a whole, near the best plan again.
       What these find is decoded and put in order.  No order exists: that part of the solution is excluded
       (a lazy cut).  No order found in time: what could be bound is kept, and the bound of the necessary
       conditions.
    3. Fix the tier at a value that a plan attains, go on with the next.  A better plan that comes along and
       breaks what is fixed opens the tiers from there on again.

Source: design, "The objective" and "Admissible".
"""

from __future__ import annotations

import math
import time
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ...models import tiers
from ...models.tiers import PREFERENCES
from ..lns.search import Near
from ..model.round_model import RoundModel, SearchResult, together
from ..options import Progress, ProgressCallback, SolveOptions
from ..ordering.decoding import assign, complete, counted, ordered, salvage
from ..ordering.sequencer import Sequencer
from ..plans.objective import ObjectiveVector, valuate
from ..plans.outcome import Outcome
from .construction import small_first, standing
from .domain_relaxation import FromAfar
from .incumbent import Incumbent
from .tier_bounds import Bounding

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...encoders.problem import Problem
    from ..model.solution import Solution

# Models up to this size are searched with all tiers in one weighted sum: that costs less than starting over.
SMALL_MODEL = 1_200

# Beyond this a model is not searched as a whole: nothing was found so in the time that rounds have.
HUGE_MODEL = 60_000

# Share of the time after which no start is begun or gone on with.
STARTING = 0.1

# Share of a tier's time in which a small model is searched before relaxations bound it; of what is left after
# these, the share in which a small one is searched near the best plan, and a large one as a whole.
QUICK = 0.1
NEARBY = 0.8
WHOLE = 0.2

# Share of a tier's time, and seconds at least, in which it is searched near the best plan before more than
# the linear relaxation bounds it: what is found so soon needs no other way, and helps the others.
FIRST = 0.2
SOON = 1.0

# Nodes up to which what is near a plan is the whole model.
FEW_NODES = 4


@dataclass
class Search:
    """The search for the best admissible outcome of one problem."""

    problem: Problem
    options: SolveOptions
    progress: ProgressCallback | None = None
    start: float = field(default_factory=time.monotonic)
    interrupted: bool = False

    def __post_init__(self) -> None:
        self._deadline = self.start + self.options.time_limit
        self._sequencer = Sequencer(self.problem)
        self._afar = FromAfar(self.problem, self.options)
        self._held: list[tuple[str, int]] = []
        cluster, nothing = self.problem.cluster, Outcome()
        self._known = Incumbent(cluster, nothing, valuate(cluster, nothing, self.options.prefer))
        for tier in self._known.valuation.tiers:
            if tier.name not in PREFERENCES:
                self._known.tell(tier.name, self.reach(tier.name))

    @property
    def best(self) -> Outcome:
        """The best plan so far."""
        return self._known.best

    @property
    def valuation(self) -> ObjectiveVector:
        """Its tiers."""
        return self._known.valuation

    @property
    def bounds(self) -> dict[str, int]:
        """Bound of every tier that was looked at: all of them when the search is over."""
        return self._known.bounds()

    @cached_property
    def model(self) -> RoundModel:
        """The model node by node, built when a tier needs it, with the tiers held so far."""
        model = RoundModel(self.problem, self.options)
        for name, value in self._held:
            if name in model.goals:
                model.fix(name, value)
        return model

    @property
    def size(self) -> tuple[int, int]:
        """Variables and constraints of the model; none where every tier was proven without it."""
        built = "model" in self.__dict__
        return (self.model.variables, self.model.constraints) if built else (0, 0)

    def run(self, candidates: Iterable[Outcome]) -> None:
        """Improve on the candidates until every tier is proven or time is out.

        Of a candidate that is no admissible outcome there is kept what stands by itself.
        """
        names = [t.name for t in self.valuation.tiers]
        k, waiting = 0, list(candidates)
        try:
            while waiting:
                self._consider(waiting[0])
                del waiting[0]
            self._start_anew()
            self._look_from_afar()
            while k < len(names):
                if self._closed(names[k]):
                    self._settle(names[k])
                    k += 1
                elif self._left() <= 0 or self.interrupted:
                    break
                else:
                    k += self._solve(names, k)
                    k = self._reopened(k)
        except KeyboardInterrupt:
            self.interrupted = True
            for outcome in waiting:  # however soon it comes, the plan is no worse than they are
                self._consider(outcome)
        for name in names[k:]:
            self._report(name, self._value_of(name), self._bound_of(name))

    def proven(self) -> dict[str, tuple[int, bool]]:
        """Tier -> (bound, whether the best plan attains it)."""
        return {name: (bound, bound == self._value_of(name)) for name, bound in self.bounds.items()}

    # -- one group of tiers --

    def _consider(self, outcome: Outcome) -> None:
        """Offer a candidate, or what of it stands by itself."""
        if (kept := standing(self.problem, outcome)) is not None:
            self._offer(kept)

    def _leaves_out(self) -> bool:
        """Say whether some pod is left out that might be placed."""
        names = map(tiers.scheduled, self.problem.levels)
        return any(self._value_of(name) < self._bound_of(name) for name in names)

    def _start_anew(self) -> None:
        """Bind in queue order, and small pods first where somebody is left out."""
        until = time.monotonic() + STARTING * self._left()
        self._offer(complete(self.problem, ()))
        if self._leaves_out():
            self._offer(small_first(self.problem, until))

    def _look_from_afar(self) -> None:
        """Let the model by domains propose a plan for pod groups, and bound what they can place."""
        until = time.monotonic() + 0.5 * self._left()
        if self._leaves_out():
            assignment = self._afar.plan(until)
            if assignment is not None:
                self._offer(ordered(self.problem, self._sequencer, assignment, until))
            costs = self.valuation.costs
            found = self._afar.bounds(self.valuation.by_name(), until)
            for k, tier in enumerate(self.valuation.tiers):
                if tier.name in found:
                    self._known.tell(tier.name, found[tier.name], costs[:k])

    def _solve(self, names: Sequence[str], k: int) -> int:
        """Search the tiers from the k-th on that go together; return how many are settled.

        That is none where the best plan moved in the tiers held: they have to be held at other values first.
        """
        large = self.model.variables > SMALL_MODEL
        group = together(self.model.goals, names[k:], apart=large)
        upto = names[: k + len(group)]
        # what follows and is closed already needs no time of its own
        last = all(self._closed(name) for name in names[k + len(group) :])
        # the last solution has to be put in order as well
        spare = min(5.0, 0.08 * self.options.time_limit)
        until = time.monotonic() + max(self._left() - spare, 0.0) * (1.0 if last else 0.6)
        name = group[0]
        # by one worker: what it proves is the same plan every time
        if not large and self._whole(group, upto, _share(QUICK, until), workers=1):
            return len(group)
        near = large or len(self.model.places.nodes) > FEW_NODES
        if self._open(name, until):
            self._relax(name, until)
        if not large and self._open(name, until):
            self._attain(upto, name, until)
        if near and self._open(name, until):
            soon = min(until, max(_share(FIRST, until), time.monotonic() + SOON))
            self._improve(group, upto, soon, self._near.enough)
        if self._open(name, until):
            self._sharpen(upto, name, until)
        if near and not large:
            self._improve(group, upto, _share(NEARBY, until))
        whole = self.model.variables <= HUGE_MODEL and self._open(name, until)
        if whole and self._whole(group, upto, _share(WHOLE if large else 1.0, until)):
            return len(group)
        if large:
            self._improve(group, upto, until)
        if self._moved():
            return 0
        self._settle(name)
        return 1

    def _whole(self, group: Sequence[str], names: Sequence[str], until: float, workers: int = 0) -> bool:
        """Search the whole model; say whether the group is settled."""
        while time.monotonic() < until and not self.interrupted and not self._moved():
            result = self._search(group, until - time.monotonic(), workers)
            self.interrupted |= result.interrupted
            if result.infeasible:
                raise self._known.contradiction("the model has no solution although a plan is known")
            if result.bound is not None:
                self._tell(group[0], result.bound)
            if result.solution is None:
                break
            attained, excluded = self._decode(result.solution, names)
            if result.optimal and attained:
                return self._settle_all(group, result.solution)
            if not excluded:
                break
        return False

    def _settle_all(self, group: Sequence[str], solution: Solution) -> bool:
        """Settle tiers whose best values, in their order, are those of a solution.

        They are not where the plan that was made of it has moved in the tiers above.
        """
        given = self._held_costs()
        for name in group:
            value = solution.goals.get(name, 0)
            self._known.tell(name, value, given)
            given = (*given, self._known.cost(name, value))
        if self._moved():
            return False
        for name in group:
            self._settle(name)
        return True

    def _open(self, name: str, until: float) -> bool:
        over = self.interrupted or time.monotonic() >= until
        return not over and not self._closed(name) and not self._moved()

    def _relax(self, name: str, until: float) -> None:
        """Bound a tier by the linear relaxation."""
        relaxed = self._bounding.relax(name, 0.2 * (until - time.monotonic()))
        self.interrupted |= self._bounding.interrupted
        if relaxed is not None:
            self._tell(name, relaxed)

    def _sharpen(self, names: Sequence[str], name: str, until: float) -> None:
        """Bound a tier by listing and by column generation; plans that these suggest are taken."""
        bounding = self._bounding
        self._hint([name])
        self._attain(names, name, until)
        if not self._closed(name) and not bounding.interrupted:
            tight, solution = bounding.by_columns(name, _share(0.4, until))
            if tight is not None:
                self._tell(name, tight)
            if solution is not None:
                self._decode(solution, names)
            self._attain(names, name, until)
        self.interrupted |= bounding.interrupted
        bound = self._known.bound(name, self._held_costs())
        if bound is not None:
            self.model.bound(name, bound)
        self._report(name, self._value_of(name), self._bound_of(name))

    def _attain(self, names: Sequence[str], name: str, until: float) -> None:
        """Ask whether any plan attains a bound, as long as none does."""
        if self._bounding.interrupted:
            return
        value, known = self._value_of(name), self._bound_of(name)
        bound, solution = self._bounding.by_listing(name, value, known, _share(0.2, until))
        self._tell(name, bound)
        if solution is not None:
            self._decode(solution, names)
            # a better plan to start from, or a cut with variables of its own
            self._hint([name])

    @cached_property
    def _bounding(self) -> Bounding:
        return Bounding(self.model, self.options)

    def _hint(self, goals: Sequence[str]) -> None:
        """Let the model start from the best plan, unless that breaks what the model holds."""
        known = self.model.complete(*counted(self.problem, self.best), goals, self._left())
        if known is False and not self._moved():
            raise self._known.contradiction("the model refuses a plan that passes every filter")

    def _improve(
        self, group: Sequence[str], names: Sequence[str], until: float, idle: float = math.inf
    ) -> None:
        """Search near the best plan, until so many steps in a row are idle.

        What is found is put in order now and then, and at the end.
        """
        goals = [n for n in group if n in self.model.goals]
        while self._open(group[0], until):
            if not self._near.start(goals, *counted(self.problem, self.best), until - time.monotonic()):
                return
            if not self._follow(group, names, until, idle):
                return

    def _follow(self, group: Sequence[str], names: Sequence[str], until: float, most_idle: float) -> bool:
        """Take steps near the best plan; true where they have to begin anew, from another best plan."""
        found, spent, tried, idle = False, 0.0, time.monotonic(), 0
        with closing(self._near.run(until)) as steps:
            try:
                for gain in steps:
                    found |= gain
                    idle = 0 if gain else idle + 1
                    if idle > most_idle:
                        break
                    now = time.monotonic()
                    if not found or now - tried < max(0.5, 5 * spent):
                        continue
                    solution = self._near.solution
                    attained, _ = self._decode(solution, names)
                    found, tried = False, time.monotonic()
                    spent = tried - now
                    self._report(group[0], self._value_of(group[0]), self._bound_of(group[0]))
                    if not attained or self._value_of(group[0]) != solution.goals[group[0]]:
                        return True
                    if self._closed(group[0]):
                        return False
            except KeyboardInterrupt:
                self.interrupted = True
        if found:
            self._decode(self._near.solution, names)
            self._report(group[0], self._value_of(group[0]), self._bound_of(group[0]))
        return False

    @cached_property
    def _near(self) -> Near:
        return Near(self.model, self.options, self._bounding.mixing)

    def _search(self, group: Sequence[str], seconds: float, workers: int) -> SearchResult:
        goals = [n for n in group if n in self.model.goals]
        self._hint(goals)
        self._report(group[0], self._value_of(group[0]), None)
        return self.model.search(
            goals, seconds, lambda value, bound: self._report(group[0], value, bound), workers
        )

    def _decode(self, solution: Solution, names: Sequence[str]) -> tuple[bool, bool]:
        """Turn a solution into a plan.

        Returns whether the plan attains what the solution promised for the tiers `names`, and whether the
        solution was excluded since no order exists for it.
        """
        assignment = assign(self.problem, solution)
        chosen = assignment.allocations
        result = self._sequencer.order(assignment, self._deadline)
        if result.moves is None:
            self._offer(complete(self.problem, salvage(self.problem, result.partial, chosen), chosen))
            if result.blame is None:
                return False, False
            self.model.forbid(result.blame, result.relief, solution)
            return False, True
        outcome = complete(self.problem, result.moves, chosen)
        value = self._offer(outcome)
        costs = {t.name: t.cost for t in value.tiers}
        asked = [n for n in names if n in solution.goals]
        promised = [self._known.cost(n, solution.goals[n]) for n in asked]
        return value.guarded and [costs[n] for n in asked] <= promised, False

    # -- bookkeeping --

    def _offer(self, outcome: Outcome) -> ObjectiveVector:
        """Value an admissible outcome and keep it if it is the best so far."""
        value = valuate(self.problem.cluster, outcome, self.options.prefer)
        self._known.offer(outcome, value)
        return value

    def _tell(self, name: str, bound: int) -> None:
        """Take note of a bound that the model gives: it holds given the tiers that the model holds."""
        self._known.tell(name, bound, self._held_costs())

    def _held_costs(self) -> tuple[int, ...]:
        return tuple(self._known.cost(*held) for held in self._held)

    def _value_of(self, name: str) -> int:
        return self._known.value(name)

    def _bound_of(self, name: str) -> int:
        """Tightest bound of a tier that is known, given the tiers above."""
        bound = self._known.bound(name)
        if bound is None:
            bound = self.reach(name)
            self._known.tell(name, bound)
        return bound

    def reach(self, name: str) -> int:
        """Bound of a tier that holds of every plan: what can be placed at all, nothing that costs."""
        if name in self._most_scheduled:
            return self._most_scheduled[name]
        if name not in PREFERENCES:
            return 0
        goal = self.model.goals[name]
        return goal.high if goal.sense == "max" else goal.low

    @cached_property
    def _most_scheduled(self) -> dict[str, int]:
        most = {tiers.scheduled(level): 0 for level in self.problem.levels}
        for cls in self.problem.classes:
            most[tiers.scheduled(cls.priority)] += min(cls.size, int(cls.limit.sum()))
        return most

    def _closed(self, name: str) -> bool:
        return self._value_of(name) == self._bound_of(name)

    def _settle(self, name: str) -> None:
        """Hold a tier at what the best plan attains."""
        value = self._value_of(name)
        self._held.append((name, value))
        self._fix(name, value)
        self._report(name, value, self._bound_of(name))

    def _moved(self) -> bool:
        """Say whether the best plan is better in some tier held, and maybe worse in those below."""
        return any(self._value_of(name) != value for name, value in self._held)

    def _reopened(self, k: int) -> int:
        """Hold again what the best plan has become better in; return the tier to go on with.

        That is the k-th, or the first of those held that the best plan is worse in.
        """
        cost, value_of = self._known.cost, self._value_of
        held = enumerate(self._held)
        broken = next((j for j, (n, value) in held if cost(n, value_of(n)) > cost(n, value)), None)
        if broken is not None:
            for made_for_them in ("model", "_bounding", "_near"):
                vars(self).pop(made_for_them, None)
            del self._held[broken:]
        for place, (name, value) in enumerate(self._held):
            if (now := self._value_of(name)) != value:
                self._held[place] = name, now
                self._fix(name, now)
        return k if broken is None else broken

    def _fix(self, name: str, value: int) -> None:
        """Tell the model, where there is one, what a tier is held at."""
        if not self.interrupted and "model" in self.__dict__ and name in self.model.goals:
            self.model.fix(name, value)

    def _left(self) -> float:
        return self._deadline - time.monotonic()

    def _report(self, tier: str, incumbent: int | None, bound: int | None) -> None:
        if self.progress is not None:
            sense = next(t.sense for t in self.valuation.tiers if t.name == tier)
            self.progress(Progress(tier, sense, incumbent, bound, time.monotonic() - self.start))


def _share(part: float, until: float) -> float:
    """When a part of the time from now on is over."""
    now = time.monotonic()
    return now + part * (until - now)
