"""`kubestow drain`: an order in which nodes become empty and no budget breaks, or a proof that none exists.

1. What no order can change: pods that may not move, budgets that allow nothing, sums of room.
2. An order: greedy, by the round's best plan, or as the drain by name happens to go.
3. Where none was found: whether all pods have a place at all; all orders, if they are few.

Whatever is printed as an order was replayed. Source: docs/model.md, "Moves"; docs/drain.md.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ...framework.rules.movable import WITH_NODE, WORDS
from ...models.drain import Drain, DrainStats, InNameOrder, Refused, Staying, Stranded
from ...models.errors import is_interrupt
from ...models.progress import unwatched
from ..model.interrupts import run_to_the_end
from ..options import SolveOptions
from . import in_name_order
from .drained import check_drained, faults_of_drain, stages_of
from .emptying import Emptying
from .proofs import certain_obstacles, searched_obstacles, tried_orders
from .replay import follow
from .steps import steps_of
from .task import DrainOptions, task_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from ...framework.state.moves import Change
    from ...framework.state.state import State
    from ...models.drain import Obstacle, Verdict
    from ...models.progress import Watch
    from ...models.snapshot import Snapshot
    from ..options import ProgressCallback
    from .task import Task

__all__ = ["DrainOptions", "drain"]

# Seconds of a search for which no time is left.
_INSTANT: Final = 1e-6

# Movable pods up to which all orders are gone through.
_FEW: Final = 12


def drain(
    snapshot: Snapshot,
    nodes: Collection[str],
    wanted: DrainOptions,
    search: SolveOptions | None = None,
    progress: ProgressCallback | None = None,
    *,
    watch: Watch = unwatched,
    waited: float = 0.0,
) -> Drain:
    """Find an order in which nodes become empty, or prove that there is none.

    Parameters
    ----------
    nodes : collection of str
        Names of nodes of the snapshot.
    search : SolveOptions, optional
        `time_limit` is for everything; what is greedy is not cut.
    waited : float
        Seconds that it took to read the input.

    Returns
    -------
    Drain
        Where Ctrl-C came with what is known by then, the drain by name if that is one
        (`stats.interrupted`); before that is done it is raised.

    Raises
    ------
    KubestowError
        Where the cluster needs what this release does not support.
    """
    start = time.monotonic()
    search = search or SolveOptions()
    task = task_of(snapshot, nodes, wanted, watch)
    decision = _Decision(task, search, progress, watch, start)
    named = in_name_order.InNameOrder(task)
    watch("draining by name")
    by_name = named.run()
    interrupted = not _until_interrupted(decision, by_name)
    if decision.changes is not None:
        order = decision.changes
        _, again = run_to_the_end(lambda: check_drained(task, order, watch))
        interrupted |= again
    changes = decision.changes or ()
    stages = stages_of(task, changes)
    once_open = None
    if not interrupted and decision.obstacles and all(each.kind == "budget" for each in decision.obstacles):
        closed = frozenset(each.budget for each in decision.obstacles)
        left = max(search.time_limit - (time.monotonic() - start), _INSTANT)
        easier = replace(search, time_limit=left)
        opened = drain(_opened(snapshot, closed), nodes, wanted, easier, progress, watch=watch)
        interrupted = opened.stats.interrupted
        once_open = None if interrupted else opened.verdict
    moves = [move for stage in stages for batch in stage.batches for move in batch.moves]
    staying = tuple(_staying(task))
    return Drain(
        instance=snapshot.name,
        nodes=tuple(map(task.name, task.nodes)),
        rolling=wanted.rolling,
        verdict=decision.verdict,
        moves=len(moves),
        waits=sum(move.waits for move in moves),
        stages=stages,
        steps=steps_of(task.moving.cluster, changes),
        staying=staying,
        obstacles=decision.obstacles,
        once_open=once_open,
        uncordoned=tuple(map(task.name, sorted(task.shut))) if decision.changes is not None else (),
        in_name_order=_told(task, named, by_name, [each for each in staying if each.blocks]),
        stats=DrainStats(
            wall_seconds=round(waited + time.monotonic() - start, 3),
            verified=decision.changes is not None,
            interrupted=interrupted,
        ),
    )


def _until_interrupted(decision: _Decision, by_name: in_name_order.NamedRun) -> bool:
    """Decide; where Ctrl-C comes take the drain by name if it holds, and return False."""
    try:
        decision.decide(by_name)
    except BaseException as error:
        if not is_interrupt(error):
            raise
        decision.take(by_name)
        return False
    return True


def _opened(snapshot: Snapshot, budgets: Collection[str | None]) -> Snapshot:
    """Return a cluster in which some budgets allow one disruption each."""
    return replace(
        snapshot,
        pod_disruption_budgets=tuple(
            item.model_copy(update={"status": item.status.model_copy(update={"disruptions_allowed": 1})})
            if item.key in budgets
            else item
            for item in snapshot.pod_disruption_budgets
        ),
    )


class _Decision:
    """The way to the verdict.

    Attributes
    ----------
    changes : sequence or None
        An order; None for none found.
    obstacles : tuple
        The proof that there is none; empty for none found.
    """

    def __init__(
        self,
        task: Task,
        search: SolveOptions,
        progress: ProgressCallback | None,
        watch: Watch,
        start: float,
    ) -> None:
        self._task = task
        self._search = search
        self._progress = progress
        self._watch = watch
        self._deadline = start + search.time_limit
        self.changes: Sequence[Change] | None = None
        self.obstacles: tuple[Obstacle, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """What is known in the end."""
        if self.changes is not None:
            return "possible"
        return "impossible" if self.obstacles else "undecided"

    def decide(self, by_name: in_name_order.NamedRun) -> None:
        """Find an order or a proof."""
        task = self._task
        self.obstacles = certain_obstacles(task)
        if self.obstacles:
            return
        emptied = Emptying(task, self._places, self._deadline, self._watch).run()
        if not emptied.left:
            self.changes = (*task.first_steps, *emptied.changes)
        elif not self.take(by_name):
            self.obstacles = searched_obstacles(task, self._most_places)
            if not self.obstacles and len(task.pods) <= _FEW:
                found, self.obstacles = tried_orders(task)
                self.changes = None if found is None else (*task.first_steps, *found)

    def take(self, by_name: in_name_order.NamedRun) -> bool:
        """Take the drain by name for the answer, where it is one; return whether it is."""
        if by_name.finished and self._holds(by_name.changes):
            self.changes = (*self._task.first_steps, *by_name.changes)
        return self.changes is not None

    def _holds(self, changes: Sequence[Change]) -> bool:
        """Whether a drain by name is a drain in the sense of docs/model.md."""
        task = self._task
        fault = follow(task.moving, (*task.first_steps, *changes), task.shut).fault
        return not fault and not any(faults_of_drain(task, changes))

    def _left(self) -> SolveOptions | None:
        """Return the search that there is time for; None for no more."""
        left = self._deadline - time.monotonic()
        return replace(self._search, time_limit=left) if left > 0 else None

    def _places(self, state: State, pods: Collection[int], closed: Collection[int]) -> dict[int, int]:
        from .rounds import places

        search = self._left()
        if search is None:
            return {}
        return places(self._task.moving, state, pods, closed, search, self._progress)

    def _most_places(self, state: State, pods: Collection[int], closed: Collection[int]) -> int:
        from .rounds import most_places

        search = self._left()
        if search is None:
            return len(pods)
        return most_places(
            self._task.moving,
            state,
            pods,
            closed,
            search,
            self._progress,
            others_stand=(self._task.rolling or 1) == 1,
        )


def _staying(task: Task) -> Iterator[Staying]:
    cluster, nodes = task.moving.cluster, frozenset(task.nodes)
    for i, reason in task.moving.movable.reasons.items():
        info = cluster.pods[i]
        if info.initial_node in nodes:
            yield Staying(
                pod=info.key,
                node=task.name(info.initial_node),
                reason=reason,
                words=WORDS[reason],
                blocks=reason not in WITH_NODE and not task.options.leave_unmovable,
            )


def _told(
    task: Task, named: in_name_order.InNameOrder, run: in_name_order.NamedRun, blocking: Sequence[Staying]
) -> InNameOrder:
    never = {each.node for each in blocking}
    keys = [info.key for info in task.moving.cluster.pods]
    return InNameOrder(
        finished=run.finished and not blocking,
        emptied=tuple(name for name in map(task.name, run.emptied) if name not in never),
        moves=run.moves,
        stranded=tuple(
            Stranded(pod=keys[i], node=task.name(n), message=named.message(i))
            for i, n in run.stranded.items()
        ),
        refused=tuple(
            Refused(pod=keys[i], node=task.name(n), budget=budget) for i, (n, budget) in run.refused.items()
        ),
        blocked=len(blocking),
    )
