"""The search: tier after tier, cheap proofs first, never losing the best plan.

    1. Candidates: greedy's outcome, or the part of it that can be repaired; a plan in queue order; one with
       the smallest pods first (`solver.search.construction`); one that chooses domains for pod groups first
       (`solver.search.domain_relaxation`), with the bounds of that relaxation.
    2. For each tier, until its value is at a bound or its time is out: the phases for a small or a large
       model (`solver.search.phases`). Their solutions are decoded and put in order. A solution without an
       order is excluded by a lazy cut. If no order is found in time, the pods that can be bound are, and the
       bound of the necessary conditions stays.
    3. Hold the tier at a value that a plan attains, go on with the next. A better plan that breaks a value
       held opens the tiers from there on again.

Source: docs/model.md, "How a tier is searched".
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...models.progress import Watch, unwatched
from ...models.tiers import PREFERENCES
from ..deadline import OutOfTime
from ..ordering.decoding import complete, ordered
from ..record import Record
from ..refill.search import SideBySide, one_by_one
from ..warm import COLD, Warmth
from .columns import share_out, too_large
from .construction import repair, smallest_first
from .domain_relaxation import DomainRelaxation
from .params import SearchParams, default_params
from .phases import BEFORE_LARGE, LARGE_MODEL, SMALL_MODEL, settle, take
from .refilling import has_alone
from .state import SearchState
from .tier_run import TierRun

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...encoders.problem import Problem
    from ...models.search_point import SearchPoint
    from ..options import ProgressCallback, SolveOptions
    from ..plans.objective import ObjectiveVector
    from ..plans.outcome import Outcome


@dataclass
class Search:
    """The search for the best admissible outcome of one problem."""

    problem: Problem
    options: SolveOptions
    progress: ProgressCallback | None = None
    start: float = field(default_factory=time.monotonic)
    params: SearchParams = field(default_factory=default_params)
    watch: Watch = unwatched
    slots: int = 1
    side_by_side: SideBySide = one_by_one

    def __post_init__(self) -> None:
        self.state = SearchState(
            self.problem,
            self.options,
            self.params,
            self.progress,
            self.start,
            self.watch,
            self.slots,
            self.side_by_side,
        )
        self._record = Record(self.start)
        self._domains = DomainRelaxation(self.problem, self.options, self.params)

    @property
    def best(self) -> Outcome:
        """The best plan so far."""
        return self.state.incumbent.best

    @property
    def valuation(self) -> ObjectiveVector:
        """Its tiers."""
        return self.state.incumbent.valuation

    @property
    def bounds(self) -> dict[str, int]:
        """Bound of every tier that was searched: all of them when the search is over."""
        return self.state.incumbent.bounds()

    @property
    def size(self) -> tuple[int, int]:
        """Variables and constraints of the model; none where every tier was proven without it."""
        return self.state.size

    @property
    def points(self) -> tuple[SearchPoint, ...]:
        """What was known when, from the candidates on, in seconds since `start`."""
        return self._record.points()

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        return self.state.interrupted

    def proven(self) -> dict[str, tuple[int, bool]]:
        """Tier -> (bound, whether the best plan attains it)."""
        return {name: (bound, bound == self.state.value(name)) for name, bound in self.bounds.items()}

    def trivial_bounds(self) -> dict[str, int]:
        """Bound of each tier that holds of every plan."""
        return {tier.name: self.state.trivial_bound(tier.name) for tier in self.valuation.tiers}

    def run(self, candidates: Iterable[Outcome], warmth: Warmth = COLD) -> None:
        """Improve on the candidates until every tier is proven or time is out.

        Of an inadmissible candidate the part that can be repaired is kept. What an earlier round leaves comes
        after the candidates, where these leave a tier open.
        """
        state, names = self.state, [t.name for t in self.valuation.tiers]
        k, waiting = 0, list(candidates)
        last = len(names) if self.options.tiers is None else min(self.options.tiers, len(names))
        try:
            while waiting:
                self._consider(waiting[0])
                del waiting[0]
            for bound in warmth.bounds:
                state.incumbent.tell(bound.tier, bound.value, bound.given)
            if warmth.start is not None and not all(map(state.closed, names)):
                self._consider(warmth.start)
            state.incumbent.follow(self._record)
            if state.seconds_left > 0 and not share_out(state) and self._may_stay():
                self._construct()
            self._relax_to_domains()
            while k < last:
                if state.closed(names[k]):
                    state.settle(names[k])
                    k += 1
                elif state.seconds_left <= 0 or state.interrupted:
                    break
                else:
                    k += self._solve(names, k)
                    k = state.reopen(k)
        except OutOfTime:
            state.end()  # in the middle of building a model: what is known is the answer
        except KeyboardInterrupt:
            state.interrupted = True
            for outcome in waiting:  # however early the interrupt, the plan is no worse than they are
                self._consider(outcome)
        self._add_up_open()
        for name in names[k:]:
            state.report_known(name)

    def _may_stay(self) -> bool:
        """Whether a plan without evictions may be better than the best one.

        It is not where every tier is closed, nor where the first open one is of costs and has a bound above
        zero: without evictions it would be zero, so such a plan is worse in a tier above.
        """
        state, held = self.state, list[tuple[str, int]]()
        if not state.large or state.interrupted or state.seconds_left <= 0:
            return True
        for tier in self.valuation.tiers:
            if tier.name in PREFERENCES or (tier.sense == "max" and not state.closed(tier.name)):
                return True
            if not state.closed(tier.name):
                return not self._add_up(tier.name, held, self.params.construction_share * state.seconds_left)
            held.append((tier.name, tier.value))
        return False

    def _add_up_open(self) -> None:
        """Bound the open tiers by sums once more, given the best plan's values above.

        Where time is out a moment is left for that; after Ctrl-C, only where the sums have their rows.
        Of a small model that had its time the model says more.
        """
        state, params = self.state, self.params
        in_time = state.seconds_left > 0 and not state.interrupted
        if (in_time and not state.large) or (state.interrupted and not state.sum_bounds.ready):
            return
        if all(t.name in PREFERENCES or state.closed(t.name) for t in self.valuation.tiers):
            return
        state.sum_bounds.prepare()
        moment = params.last_sums(self.options.time_limit)
        end = time.monotonic() + (max(moment, state.seconds_left) if in_time else moment)
        state.sum_bounds.of_open(state.incumbent, end, params.sums_limit)
        state.interrupted |= state.sum_bounds.interrupted
        if state.large and not state.interrupted:
            self._count_departures(end)

    def _add_up(self, name: str, held: Sequence[tuple[str, int]], seconds: float) -> int | None:
        """Bound a tier by sums, the tiers above it held at the best plan's values."""
        state = self.state
        bound = state.sum_bounds.of(name, held, min(self.params.sums_limit, seconds))
        state.interrupted |= state.sum_bounds.interrupted
        if bound is not None:
            state.incumbent.tell(name, bound, self.valuation.costs[: len(held)])
        return bound

    def _count_departures(self, until: float) -> None:
        """Bound the open tiers by who leaves each node, each given the best plan's values above."""
        state, held = self.state, list[tuple[str, int]]()
        for name, value in self.valuation.by_name().items():
            end = min(time.monotonic() + self.params.departures_limit, until)
            if name not in PREFERENCES and not state.closed(name) and time.monotonic() < until:
                bound = state.departing.bound(name, held, value, end)
                if bound is not None:
                    state.incumbent.tell(name, bound, self.valuation.costs[: len(held)])
            held.append((name, value))

    def _consider(self, outcome: Outcome) -> None:
        """Offer a candidate, or the part of it that can be repaired."""
        if (kept := repair(self.problem, outcome)) is not None:
            self.state.offer(kept)

    def _construct(self) -> None:
        """Bind in queue order, and the smallest pods first where pods are left out."""
        until = time.monotonic() + self.params.construction_share * self.state.seconds_left
        self.state.offer(*complete(self.problem, (), until=self.state.deadline))
        if self.state.leaves_out():
            self.state.offer(*smallest_first(self.problem, until, self.params.scarcity))

    def _relax_to_domains(self) -> None:
        """Take the plan for pod groups that the relaxation to domains suggests, and its bounds."""
        state = self.state
        until = time.monotonic() + self._domains.share * state.seconds_left
        if state.seconds_left <= 0 or not state.leaves_out():
            return
        assignment = self._domains.plan(until)
        if assignment is not None:
            state.offer(*ordered(self.problem, state.sequencer, assignment, until))
        costs = self.valuation.costs
        found = self._domains.bounds(self.valuation.by_name(), until)
        for k, tier in enumerate(self.valuation.tiers):
            if tier.name in found:
                state.incumbent.tell(tier.name, found[tier.name], costs[:k])

    def _solve(self, names: Sequence[str], k: int) -> int:
        """Search the tiers from the k-th on that go together; return how many are settled.

        That is none where the best plan moved in the tiers held: they have to be held at other values first.
        """
        state = self.state
        if state.large:
            run = TierRun.before_model(state, names, k)
            take(run, BEFORE_LARGE)
            if run.done() or has_alone(run) or (state.filled and too_large(state)):
                return settle(run, ())
        run = TierRun.of(state, names, k)
        return settle(run, LARGE_MODEL if run.large else SMALL_MODEL)
