"""Emptying nodes, all at once or a few at a time: greedy placing first, then the round's best plan.

Each try is taken back where it does not move every pod. Where no node of a rolling drain can be emptied so,
pods wait until their node is back, as their budgets let them. Nodes of a rolling drain go in the order of how
little is on them; a replacement prefers nodes that need not be drained any more.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ...framework.rules.eviction_budgets import charged
from ...framework.state.moves import Bind, Cordon, Uncordon
from ..plans.apply import apply_moves
from .batches import Batches, leave
from .obstacles import lack_of_places, lack_of_room
from .placing import by_scores, largest_first, tightly
from .sequence import sequence

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from ...framework.state.moves import Change
    from ...framework.state.state import State
    from ...models.progress import Watch
    from .batches import Choose
    from .task import Task

    Placing = Callable[[State, Collection[int], Collection[int]], dict[int, int]]
    """Targets of pods in a state, given the nodes that are closed; without those that have none."""

# Nodes that a rolling drain looks at before one is taken whose pods have to wait for it, those with the least
# on them first, and those of them that are tried with the round's best plan.
_TRIED: Final = 16
_PLANNED: Final = 4


@dataclass(frozen=True)
class Emptied:
    """What came of it.

    Attributes
    ----------
    changes : tuple
        The steps, as far as it went.
    left : tuple of int
        Nodes that could not be emptied; none where it went.
    """

    changes: tuple[Change, ...]
    left: tuple[int, ...]


class Emptying:
    """The nodes of a drain.

    Parameters
    ----------
    task : Task
    placing : callable
        The round's best plan, for where greedy placing fails.
    deadline : float
        When to stop asking for it (`time.monotonic`).
    watch : Watch
    """

    def __init__(self, task: Task, placing: Placing, deadline: float, watch: Watch) -> None:
        moving = task.moving
        self._task = task
        self._moving = moving
        self._state = task.start()
        self._nodes = task.nodes
        self._shut = task.shut
        self._rolling = task.rolling
        self._placing = placing
        self._deadline = deadline
        self._watch = watch
        # How many nodes are tried, and how many together: fewer where that was in vain, more where not.
        self._tried = _TRIED
        self._together = task.rolling or 1
        # How often each node was tried by itself in vain: others come first.
        self._vain: Counter[int] = Counter()
        n = moving.cluster.n_nodes
        self._open = np.ones(n, dtype=np.bool_)
        self._open[list(task.shut)] = False
        self._settled = np.ones(n, dtype=np.bool_)
        self._settled[list(task.nodes)] = False
        scores = by_scores(moving, self._open, self._settled)
        self._choices = (scores, tightly(moving, self._open, self._settled))

    def run(self) -> Emptied:
        """Empty the nodes."""
        if not self._rolling:
            steps = self._greedily(self._nodes)
            steps = self._by_plan(self._nodes) if steps is None else steps
            return Emptied(steps or (), () if steps is not None else self._nodes)
        found: list[Change] = []
        names = self._moving.cluster.node_names
        todo = sorted(self._nodes, key=lambda n: (len(self._pods_on(n)), names[n]))
        while todo:
            self._watch("draining: nodes", len(self._nodes) - len(todo), len(self._nodes))
            stage = self._next(sorted(todo, key=self._vain.__getitem__))
            if stage is None:
                break
            group, steps = stage
            found += steps
            self._open[list(group)] = self._settled[list(group)] = True
            gone = frozenset(group)
            todo = [n for n in todo if n not in gone]
        return Emptied(tuple(found), tuple(todo))

    def _cordons(self, nodes: Sequence[int]) -> Iterator[Change]:
        return (Cordon(n) for n in nodes if n not in self._shut)

    def _pods_on(self, node: int) -> list[int]:
        return self._task.movable_on(self._state, node)

    def _next(self, todo: Sequence[int]) -> tuple[tuple[int, ...], tuple[Change, ...]] | None:
        """Empty the next nodes, as many together as may be and as goes; None where none can be emptied."""
        first = max(self._tried, self._together)
        for nodes in (todo[:first], todo[first:]):
            able = [n for n in nodes if self._may_have_room((n,))]
            found = self._first_greedily(self._groups(able)) or self._first_greedily(
                ((node,) for node in able), thoroughly=True
            )
            if found is not None:
                self._tried = min(2 * self._tried, _TRIED)
                self._together = min(2 * len(found[0]), self._rolling or 1)
                return found
            self._tried, self._together = max(self._tried // 2, 1), 1
            for node in able[:_PLANNED]:
                steps = self._by_plan((node,))
                if steps is not None:
                    return (node,), (*steps, Uncordon(node))
            for node in nodes:
                steps = self._waiting(node)
                if steps is not None:
                    return (node,), steps
        return None

    def _first_greedily(
        self, groups: Iterable[tuple[int, ...]], *, thoroughly: bool = False
    ) -> tuple[tuple[int, ...], tuple[Change, ...]] | None:
        """Empty the first of some groups of nodes that greedy placing empties; None for none."""
        for group in groups:
            steps = self._greedily(group, thoroughly=thoroughly)
            if steps is not None:
                return group, (*steps, *(Uncordon(n) for n in group))
            if len(group) == 1:
                self._vain[group[0]] += 1
        return None

    def _groups(self, able: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Yield what to try: the first nodes together, ever fewer of them, then each by itself."""
        size = min(self._together, len(able))
        while size > 1:
            yield tuple(able[:size])
            size //= 2
        yield from ((node,) for node in able)

    def _may_have_room(self, nodes: tuple[int, ...]) -> bool:
        """Whether sums let all pods of some nodes have places elsewhere."""
        pods = [i for n in nodes for i in self._pods_on(n)]
        open_ = self._open.copy()
        open_[list(nodes)] = False
        short = lack_of_places(self._moving, self._state, pods, len(pods), open_)
        return short is None and lack_of_room(self._moving, self._state, pods, open_) is None

    def _greedily(self, nodes: tuple[int, ...], *, thoroughly: bool = True) -> tuple[Change, ...] | None:
        """Move all pods of some nodes by greedy choices; None where these do not move them all.

        Parameters
        ----------
        thoroughly : bool
            Whether the second choice is tried, too, and pods once more that found no place.
        """
        pods = [i for n in nodes for i in self._pods_on(n)]
        if any(budget.allowed < 1 for i in pods for budget in charged(self._moving.cluster, i)):
            return None
        was = self._open[list(nodes)].copy()
        self._open[list(nodes)] = False
        for choose in self._choices if thoroughly else self._choices[:1]:
            batches = Batches(self._moving, self._state, choose)
            order = largest_first(self._moving.cluster, pods)
            if not batches.run(order, whole=True) if thoroughly else batches.run_at_once(order):
                self._state = batches.state
                return (*self._cordons(nodes), *batches.changes)
            self._state = batches.undo()
        self._open[list(nodes)] = was
        return None

    def _by_plan(self, nodes: tuple[int, ...]) -> tuple[Change, ...] | None:
        """Move all pods of some nodes as the round's best plan has it; None where that does not go."""
        pods = [i for n in nodes for i in self._pods_on(n)]
        if time.monotonic() >= self._deadline:
            return None
        closed = {*nodes, *np.flatnonzero(~self._open).tolist()}
        targets = self._placing(self._state, pods, closed)
        if len(targets) < len(pods):
            return None
        ordered = sequence(self._moving, self._state, targets)
        if ordered.changes is None:
            return None
        self._state = ordered.state
        self._open[list(nodes)] = False
        return (*self._cordons(nodes), *ordered.changes)

    def _waiting(self, node: int) -> tuple[Change, ...] | None:
        """Empty a node of which some pods wait until it is back, as few as greedy placing leaves.

        None where their budgets do not let them, or one has no place even then.
        """
        pods = self._pods_on(node)
        if any(budget.allowed < 1 for i in pods for budget in charged(self._moving.cluster, i)):
            return None
        before = self._state.copy()
        was = bool(self._open[node])
        self._open[node] = False
        scores, tight = self._choices
        batches = Batches(self._moving, self._state, tight)
        left = batches.run(largest_first(self._moving.cluster, pods))
        state = batches.state
        steps = [*self._cordons((node,)), *batches.changes]
        taken = Counter(budget.key for pod in left for budget in charged(self._moving.cluster, pod))
        if all(taken[b.key] <= b.allowed for pod in left for b in charged(self._moving.cluster, pod)):
            for pod in left:
                steps += leave(state, pod)
            self._open[node] = True
            steps.append(Uncordon(node))
            bound = [self._bind(state, pod, scores) for pod in left]
            if None not in bound:
                self._state = state
                return (*steps, *(bind for bind in bound if bind is not None))
        self._state, self._open[node] = before, was
        return None

    def _bind(self, state: State, old: int, choose: Choose) -> Bind | None:
        """Bind what replaces a pod that has left; None where it has no place."""
        new = self._moving.replaced_by(old)
        node = choose(state, new, old)
        if node < 0:
            return None
        bind = Bind(new, node)
        apply_moves(self._moving.cluster, state, [bind])
        return bind
