"""All orders of a small drain: one that holds, or the proof that none does.

A position is where every pod is and which nodes are closed; each is looked at once. Source: docs/model.md,
"Moves".
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ...framework.rules.eviction_budgets import charged
from ...framework.state.moves import Bind, Cordon, Uncordon
from ..plans.apply import apply_moves
from .batches import leave
from .sequence import fits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...framework.state.moves import Change
    from ...framework.state.state import State
    from .task import Task

#: Positions that are looked at before the search gives up.
EFFORT: Final = 3_000


@dataclass(frozen=True)
class Found:
    """An order, or none: then `proven` says whether there is none."""

    changes: tuple[Change, ...] | None
    proven: bool


@dataclass(frozen=True)
class _Position:
    """A moment of a drain.

    Attributes
    ----------
    state : State
    todo, closed : frozenset of int
        Nodes of the drain: to come, and being drained; the others have come back.
    out : dict
        Replacement that is not bound yet -> the pod that left, and the node it left.
    steps : tuple
    """

    state: State
    todo: frozenset[int]
    closed: frozenset[int]
    out: dict[int, tuple[int, int]]
    steps: tuple[Change, ...]

    def key(self) -> tuple[object, ...]:
        places = self.state.node_of.tobytes()
        return places, self.todo, self.closed, frozenset(self.out.items()), self.state.bindings()


class EveryOrder:
    """The search through the orders of a drain."""

    def __init__(self, task: Task, effort: int = EFFORT) -> None:
        self._task = task
        self._moving = task.moving
        self._nodes = frozenset(task.nodes)
        self._shut = task.shut
        self._rolling = task.rolling
        self._effort = effort

    def run(self) -> Found:
        """Search from where the input stands."""
        closed = frozenset[int]() if self._rolling else self._nodes
        first = tuple(Cordon(n) for n in sorted(closed - self._shut))
        stack = [_Position(self._task.start(), self._nodes - closed, closed, {}, first)]
        seen: set[tuple[object, ...]] = set()
        while stack:
            position = stack.pop()
            if self._is_end(position):
                return Found(position.steps, proven=False)
            key = position.key()
            if key in seen:
                continue
            if len(seen) == self._effort:
                return Found(None, proven=False)
            seen.add(key)
            stack += reversed(list(self._next(position)))
        return Found(None, proven=True)

    def _is_end(self, position: _Position) -> bool:
        if position.out or position.todo:
            return False
        if self._rolling:
            return not position.closed
        return not any(self._task.movable_on(position.state, n) for n in position.closed)

    def _next(self, position: _Position) -> Iterator[_Position]:
        """Yield the positions one step on, the most promising first."""
        yield from self._binds(position)
        yield from self._returns(position)
        yield from self._leaves(position)
        yield from self._closes(position)

    def _returns(self, position: _Position) -> Iterator[_Position]:
        if not self._rolling:
            return
        for node in sorted(position.closed):
            if not self._task.movable_on(position.state, node):
                yield _Position(
                    position.state,
                    position.todo,
                    position.closed - {node},
                    position.out,
                    (*position.steps, Uncordon(node)),
                )

    def _binds(self, position: _Position) -> Iterator[_Position]:
        moving, shut = self._moving, position.closed | (position.todo & self._shut)
        for new in sorted(position.out):
            for node in range(moving.cluster.n_nodes):
                if node in shut or not fits(moving, position.state, new, node):
                    continue
                state = position.state.copy()
                apply_moves(moving.cluster, state, [Bind(new, node)])
                out = {i: where for i, where in position.out.items() if i != new}
                yield self._with(position, state, out, [Bind(new, node)])

    def _leaves(self, position: _Position) -> Iterator[_Position]:
        cluster = self._moving.cluster
        taken = Counter(b.key for old, _ in position.out.values() for b in charged(cluster, old))
        for node in sorted(position.closed):
            for pod in self._task.movable_on(position.state, node):
                if all(taken[budget.key] < budget.allowed for budget in charged(cluster, pod)):
                    state = position.state.copy()
                    steps = leave(state, pod)
                    out = {**position.out, self._moving.replaced_by(pod): (pod, node)}
                    yield self._with(position, state, out, steps)

    def _closes(self, position: _Position) -> Iterator[_Position]:
        if self._rolling and len(position.closed) < self._rolling:
            for node in sorted(position.todo):
                step = () if node in self._shut else (Cordon(node),)
                yield _Position(
                    position.state,
                    position.todo - {node},
                    position.closed | {node},
                    position.out,
                    (*position.steps, *step),
                )

    def _with(
        self,
        position: _Position,
        state: State,
        out: dict[int, tuple[int, int]],
        steps: Sequence[Change],
    ) -> _Position:
        return _Position(state, position.todo, position.closed, out, (*position.steps, *steps))
