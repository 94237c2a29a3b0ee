"""The search for the best moves: tier after tier, as any round is searched (docs/model.md)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import numpy as np

from ...models import tiers
from ...models.progress import Watch, unwatched
from ..deadline import OutOfTime
from ..model.interrupts import run_interruptibly
from ..search import phases
from ..search.params import DEFAULT, SearchParams
from ..search.tier_run import TierRun
from .decoding import outcome_of
from .packed import packed
from .state import MoveState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...encoders.problem import Problem
    from ..options import ProgressCallback, SolveOptions
    from ..plans.outcome import Outcome

# Seconds, and the share of a tier's time, for the bound by sums; the shares for patterns and their choice.
_SUMS_LIMIT: Final = 5.0
_SUMS_SHARE: Final = 0.2
_PATTERN_SHARE: Final = 0.15
_CHOICE_SHARE: Final = 0.15


def add_up(run: TierRun) -> None:
    """Bound the tier by sums over the nodes (`solver.rebalance.sums`)."""
    state = run.state
    assert isinstance(state, MoveState)
    solver = state.model.new_solver(min(_SUMS_LIMIT, run.share(_SUMS_SHARE) - time.monotonic()))
    bound, interrupted = run_interruptibly(
        lambda: state.sums.bound(run.name, state.held, solver), solver.stop_search
    )
    state.interrupted |= interrupted
    if bound is not None:
        state.tell(run.name, bound)


def pack(run: TierRun) -> None:
    """Sharpen the sums by what fits a node in whole pods, and make a plan of such patterns."""
    state = run.state
    assert isinstance(state, MoveState)
    if run.name not in state.sums.goals or state.packed_for:
        return
    state.packed_for = run.name
    packing = state.packing
    packing.see(state.best_end.node_of.astype(np.int64))
    packing.tighten(run.share(_PATTERN_SHARE))
    if tiers.FREE_NODES not in state.sums.goals:
        return
    chosen = packing.chosen(run.share(_CHOICE_SHARE) - time.monotonic(), state.options.workers)
    if chosen is not None:
        plan, end = outcome_of(state.problem, packed(state.problem, packing, chosen))
        if state.allows(plan):
            state.offer(plan, end)
            state.report_known(run.name)


def relax(run: TierRun) -> None:
    """Bound the tier by the linear relaxation, where the sums do not speak of it: they are as tight."""
    assert isinstance(run.state, MoveState)
    if run.name not in run.state.sums.goals:
        phases.relax(run)


_SMALL: Final = phases.SMALL_MODEL
_LARGE: Final = (
    pack,
    add_up,
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

    def _solve(self, names: list[str], k: int) -> int:
        """Search the tiers from the k-th on that go together; return how many are settled."""
        run = TierRun.of(self.state, names, k)
        for phase in _LARGE if run.large else _SMALL:
            if not run.open():
                break
            phase(run)
            if run.settled:
                return len(run.group)
        if self.state.moved():
            return 0
        self.state.settle(run.name)
        return 1
