"""The search for the best moves: tier after tier, as any round is searched (docs/model.md)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from ...models import tiers
from ...models.progress import Watch, unwatched
from ...models.tiers import PREFERENCES
from ..deadline import OutOfTime
from ..model.cp_solver import cp_solver
from ..model.interrupts import run_interruptibly
from ..search import phases
from ..search.params import DEFAULT, SearchParams
from ..search.tier_run import TierRun
from .decoding import outcome_of
from .packed import packed
from .starts import these_emptied
from .state import MoveState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ortools.sat.python import cp_model

    from ...encoders.problem import Problem
    from ..options import ProgressCallback, SolveOptions
    from ..plans.outcome import Outcome

# Seconds for the bound of a tier by sums, at most; the shares of the time for patterns and for their choice.
_SUMS_LIMIT: Final = 5.0
_PATTERN_SHARE: Final = 0.15
_CHOICE_SHARE: Final = 0.2


def relax(run: TierRun) -> None:
    """Bound the tier by the linear relaxation, unless the sums speak of it and are as tight."""
    assert isinstance(run.state, MoveState)
    if run.name not in run.state.sums.goals or run.name in PREFERENCES:
        phases.relax(run)


_SMALL: Final = phases.SMALL_MODEL
_LARGE: Final = (
    phases.improve_briefly,
    relax,
    phases.search_for_a_share,
    phases.improve_to_the_end,
)


class MoveSearch:
    """The search for the best plan of moves of one problem."""

    def __init__(
        self,
        problem: Problem,
        options: SolveOptions,
        progress: ProgressCallback | None = None,
        watch: Watch = unwatched,
        start: float | None = None,
        params: SearchParams = DEFAULT,
    ) -> None:
        begin = time.monotonic() if start is None else start
        self.state = MoveState(problem, options, params, progress, begin, watch)

    def run(self, candidates: Iterable[Outcome] = ()) -> None:
        """Improve on some plans until every tier is proven or the time is out."""
        state = self.state
        for outcome in candidates:
            state.offer(outcome)
        names = [t.name for t in state.incumbent.valuation.tiers]
        k = 0
        try:
            if state.large:
                self._pack()
                self._add_up()
            while k < len(names) and not state.interrupted:
                if state.closed(names[k]):
                    state.settle(names[k])
                    k += 1
                elif state.seconds_left <= 0:
                    break
                else:
                    k = state.reopen(k + self._solve(names, k))
        except OutOfTime:
            state.end()
        except KeyboardInterrupt:
            state.interrupted = True
        for name in names[k:]:
            state.report_known(name)

    def _pack(self) -> None:
        """Sharpen the sums by what fits a node in whole pods, and make a plan of such patterns."""
        state = self.state
        packing = state.packing
        packing.see(state.best_end.node_of.tolist())
        packing.tighten(self._after(_PATTERN_SHARE))
        if tiers.FREE_NODES not in state.sums.goals:
            return
        seconds = self._after(_CHOICE_SHARE) - time.monotonic()
        solver = self._solver(seconds, state.options.workers)
        mobility = state.problem.mobility
        if mobility is not None and mobility.most is not None:
            nodes, interrupted = run_interruptibly(lambda: state.sums.freest((), solver), solver.stop_search)
            state.interrupted |= interrupted
            plan = these_emptied(state.problem, nodes, self._after(_CHOICE_SHARE))
            state.offer(*outcome_of(state.problem, plan))
            return
        chosen, interrupted = run_interruptibly(lambda: packing.chosen(solver), solver.stop_search)
        state.interrupted |= interrupted
        if chosen is not None:
            state.offer(*outcome_of(state.problem, packed(state.problem, packing, chosen)))

    def _add_up(self) -> None:
        """Bound each tier by sums over the nodes, given the best plan's values above."""
        state, held = self.state, list[tuple[str, int]]()
        for k, tier in enumerate(state.incumbent.valuation.tiers):
            if state.interrupted:
                return
            solver = self._solver(min(_SUMS_LIMIT, state.seconds_left))
            bound = self._bound(tier.name, held, solver)
            if bound is not None:
                state.incumbent.tell(tier.name, bound, state.incumbent.valuation.costs[:k])
                state.report(tier.name, tier.value, bound)
            held.append((tier.name, tier.value))

    def _bound(self, name: str, held: list[tuple[str, int]], solver: cp_model.CpSolver) -> int | None:
        sums = self.state.sums
        bound, interrupted = run_interruptibly(lambda: sums.bound(name, held, solver), solver.stop_search)
        self.state.interrupted |= interrupted
        return bound

    def _solver(self, seconds: float, workers: int = 1) -> cp_model.CpSolver:
        solver = cp_solver(workers=workers, seed=self.state.options.seed)
        solver.parameters.max_time_in_seconds = max(seconds, 0.1)
        return solver

    def _after(self, share: float) -> float:
        """Return when a share of the time that is left is over."""
        return time.monotonic() + share * max(self.state.seconds_left, 0.0)

    def _solve(self, names: list[str], k: int) -> int:
        """Search the tiers from the k-th on that go together; return how many are settled."""
        run = TierRun.of(self.state, names, k)
        return phases.settle(run, _LARGE if run.large else _SMALL)
