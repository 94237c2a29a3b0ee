"""The most gain by the fewest moves, with the rule that users have today beside it (docs/rebalance.md)."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ...encoders.build import build_problem
from ...models.errors import is_interrupt
from ...models.plan import Stats
from ...models.progress import Watch, unwatched
from ...models.rebalance import FrontPoint, Rebalance, Unmovable
from ..model.interrupts import run_to_the_end
from ..options import SolveOptions
from ..plans.greedy_baseline import greedy_outcome
from ..plans.outcome import Outcome
from .decoding import in_batches, outcome_of
from .document import rebalancing, tiers_of
from .front import front
from .making_room import room_made
from .round import MoveRound, MoveWishes, move_round
from .search import MoveSearch
from .starts import one_at_a_time, tightest
from .value import value_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...encoders.problem import Problem
    from ...models.snapshot import Snapshot
    from ..options import ProgressCallback
    from ..plans.objective import ObjectiveVector

# The share of the time that is kept back for words and replay, that which the front is drawn in, and that in
# which a simple rule may make another plan to begin with.
_WORDS_SHARE: Final = 0.1
_FRONT_SHARE: Final = 0.5
_START_SHARE: Final = 0.2

#: What the plan beside the optimum is called.
RULES: Final = {
    "admit": "kube-scheduler without moves",
    "free-nodes": "one node at a time",
    "cheapest": "one node at a time",
    "pack": "one node at a time",
    "spread": "nothing moves",
}


def rebalance(
    snapshot: Snapshot,
    wishes: MoveWishes,
    options: SolveOptions | None = None,
    progress: ProgressCallback | None = None,
    *,
    frontier: bool = False,
    watch: Watch = unwatched,
    waited: float = 0.0,
) -> Rebalance:
    """Find the moves of running pods that gain most, and of these the fewest.

    Parameters
    ----------
    options : SolveOptions, optional
        `time_limit` is for everything but the simple rule and the replay, which are never cut.
    frontier : bool
        Whether the best gain for fewer moves is searched, too, in half of the time.
    waited : float
        Seconds that it took to read the input.

    Returns
    -------
    Rebalance
        Replayed, and never worse than the rule beside it. `stats.interrupted` is true where Ctrl-C ended the
        search early.

    Raises
    ------
    KubestowError
        Where the round needs what is not supported, or a price is missing.
    ReplayFailure
        Where a plan does not pass its replay (a bug).
    """
    start = time.monotonic()
    options = options or SolveOptions()
    if options.prefer == wishes.goal:
        options = replace(options, prefer="none")
    round_ = move_round(snapshot, wishes, watch)
    problem = build_problem(round_.cluster, watch, round_.mobility)
    rule = _rule(round_, problem, watch)
    limit = options.time_limit * (1 - _WORDS_SHARE)
    whole = replace(options, time_limit=limit * (1 - _FRONT_SHARE) if frontier else limit)
    interrupted = False
    search = MoveSearch(problem, whole, progress, watch, start)
    search.state.offer(rule)  # however early an interrupt comes, the answer is no worse
    try:
        search.run(_starts(problem, rule, start + _START_SHARE * whole.time_limit))
    except BaseException as error:
        if not is_interrupt(error):
            raise
        interrupted = True
    state = search.state
    interrupted |= state.interrupted
    best, value = state.incumbent.best, state.incumbent.valuation
    bounds = {t.name: state.incumbent.bound(t.name) for t in value.tiers}
    points: tuple[FrontPoint, ...] | None = None
    if frontier:
        points = () if interrupted else front(problem, search, [rule], options, start + limit, watch)

    def words() -> Rebalance:
        return Rebalance(
            instance=snapshot.name,
            goal=wishes.goal,
            max_moves=wishes.most,
            price_unit=round_.price_unit,
            movable=len(round_.mobility.successors),
            unmovable=tuple(_unmovable(round_)),
            optimal=rebalancing(round_, in_batches(problem, best), tiers_of(value, bounds), watch),
            rule=RULES[wishes.goal],
            heuristic=rebalancing(round_, rule, tiers_of(_valued(problem, rule, options)), watch),
            front=points,
            stats=Stats(
                variables=state.size[0],
                constraints=state.size[1],
                verified=True,
                interrupted=interrupted,
            ),
        )

    found, again = run_to_the_end(words)
    seconds = round(waited + time.monotonic() - start, 3)
    stats = found.stats.model_copy(update={"wall_seconds": seconds, "interrupted": interrupted or again})
    return found.model_copy(update={"stats": stats})


def _rule(round_: MoveRound, problem: Problem, watch: Watch) -> Outcome:
    """Return the plan of the rule that users have today."""
    goal = round_.mobility.goal
    if goal == "admit":
        greedy, _ = greedy_outcome(round_.plain, watch=watch)
        return outcome_of(problem, greedy.moves)[0] if greedy.admissible else Outcome()
    if RULES[goal] == RULES["free-nodes"]:
        plan, _ = outcome_of(problem, one_at_a_time(problem))
        options = SolveOptions()
        better = _valued(problem, plan, options).costs < _valued(problem, Outcome(), options).costs
        return plan if better else Outcome()
    return Outcome()


def _starts(problem: Problem, rule: Outcome, until: float) -> Iterator[Outcome]:
    """Yield plans to begin with."""
    mobility = problem.mobility
    assert mobility is not None
    if mobility.goal == "admit":
        yield outcome_of(problem, room_made(problem, rule.moves, until))[0]
    elif mobility.goal != "spread":
        yield outcome_of(problem, one_at_a_time(problem, tightest, until))[0]


def _valued(problem: Problem, outcome: Outcome, options: SolveOptions) -> ObjectiveVector:
    assert problem.mobility is not None
    end = outcome_of(problem, outcome.moves)[1]
    return value_of(problem.cluster, problem.mobility, outcome, end, options.prefer)


def _unmovable(round_: MoveRound) -> Iterator[Unmovable]:
    pods, names = round_.cluster.pods, round_.cluster.node_names
    for i, reason in sorted(round_.staying.items()):
        info = pods[i]
        yield Unmovable(pod=info.key, node=names[info.initial_node], reason=reason)
