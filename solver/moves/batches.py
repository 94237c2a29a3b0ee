"""Moves in batches: as many pods leave as the budgets let, and all are bound before the next leave.

A batch stands only if every replacement in it passes on some node; otherwise it is taken back, and those that
passed are tried without the others.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ...framework.rules.eviction_budgets import charged
from ...framework.state.moves import Bind, Leave, Mark
from ..plans.apply import apply_moves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ...framework.state.moves import Change
    from ...framework.state.state import State
    from .moving import Moving

    Choose = Callable[[State, int, int], int]
    """The node for a replacement in a state, given the pod that it replaces; -1 for none."""


class Batches:
    """Moves that are carried out in a state as they are decided.

    Attributes
    ----------
    state : State
        Where the moves end; it is the caller's, or a copy of it where a batch was taken back.
    changes : list
        The steps so far.
    """

    def __init__(self, moving: Moving, state: State, choose: Choose) -> None:
        self.state = state
        self.changes: list[Change] = []
        self._moving = moving
        self._choose = choose
        # What is bound beside pods does not come undone by taking pods away.
        self._undone_by_copy = state.volumes is not None or state.claims is not None
        self._start = state.copy() if self._undone_by_copy else None
        self._homes: list[int] = []

    def run(self, pods: Iterable[int], *, whole: bool = False) -> list[int]:
        """Move running pods, the first ones first as far as that goes; return those that could not move.

        Parameters
        ----------
        whole : bool
            Whether to stop where one cannot move that its budget lets: then not all can, but for pods that
            others have to make way for in an order of their own.
        """
        waiting = list(pods)
        while waiting:
            allowed = self._within_budgets(waiting)
            done = self._batch(allowed)
            if whole and len(done) < len(allowed):
                # Once more, now that the others have moved.
                late = frozenset(done)
                done = [*done, *self._batch([pod for pod in allowed if pod not in late])]
                if len(done) < len(allowed):
                    gone = frozenset(done)
                    return [pod for pod in waiting if pod not in gone]
            done = done or self._one(waiting)
            if not done:
                break
            gone = frozenset(done)
            waiting = [pod for pod in waiting if pod not in gone]
        return waiting

    def run_at_once(self, pods: Iterable[int]) -> bool:
        """Move running pods, the first ones first; stop, and return false, as soon as one finds no place."""
        waiting = list(pods)
        while waiting:
            batch = self._within_budgets(waiting)
            if not batch or len(self._try(batch)) < len(batch):
                return False
            gone = frozenset(batch)
            waiting = [pod for pod in waiting if pod not in gone]
        return True

    def undo(self) -> State:
        """Take all moves back; return the state of the start."""
        if self._start is not None:
            return self._start
        state = self.state
        for change in reversed(self.changes):
            if isinstance(change, Bind):
                state.remove(change.pod)
            elif isinstance(change, Leave):
                state.place(change.pod, self._homes.pop())
        self.changes = []
        return state

    def _batch(self, batch: Sequence[int]) -> Sequence[int]:
        """Move as many of a batch at once as filters let; return them."""
        while batch:
            bound = self._try(batch)
            if len(bound) == len(batch):
                break
            batch = [pod for pod in batch if pod in bound]
        return batch

    def _one(self, waiting: Sequence[int]) -> Sequence[int]:
        return next(([pod] for pod in self._within_budgets(waiting, alone=True) if self._try([pod])), [])

    def _within_budgets(self, waiting: Iterable[int], *, alone: bool = False) -> list[int]:
        """Return pods that may leave together, or each alone."""
        taken: Counter[str] = Counter()
        batch: list[int] = []
        for pod in waiting:
            budgets = charged(self._moving.cluster, pod)
            if all(taken[budget.key] < budget.allowed for budget in budgets):
                if not alone:
                    taken.update(budget.key for budget in budgets)
                batch.append(pod)
        return batch

    def _try(self, batch: Sequence[int]) -> dict[int, int]:
        """Let a batch leave and bind who passes; that stands only where all do. Return who passes."""
        moving, state = self._moving, self.state
        before = state.copy() if self._undone_by_copy else None
        homes = {pod: int(state.node_of[pod]) for pod in batch}
        steps: list[Change] = []
        for pod in batch:
            steps += leave(state, pod)
        bound: dict[int, int] = {}
        again = True
        while again:
            again = False
            for pod in batch:
                if pod in bound:
                    continue
                new = moving.replaced_by(pod)
                node = self._choose(state, new, pod)
                if node >= 0 and node != homes[pod]:
                    bind = Bind(new, node)
                    apply_moves(moving.cluster, state, [bind])
                    steps.append(bind)
                    bound[pod] = node
                    again = len(bound) < len(batch)
        if len(bound) == len(batch):
            self.changes += steps
            self._homes += homes.values()
        elif before is not None:
            self.state = before
        else:
            for pod in reversed(bound):
                state.remove(moving.replaced_by(pod))
            for pod, home in homes.items():
                state.place(pod, home)
        return bound


def leave(state: State, pod: int) -> list[Change]:
    """Mark a pod and take it away; return the steps."""
    state.mark(pod)
    state.remove(pod)
    return [Mark(pod), Leave(pod)]
