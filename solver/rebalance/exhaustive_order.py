"""An order of moves by depth-first search with memory, or the proof that none exists."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Final

from ...encoders.moves import leavers_of
from ...framework.measures.group_rules import nodes_for_member
from ...framework.state.moves import Bind, Leave, Mark
from ..ordering.components import relations_of
from ..ordering.dfs_order import Verdict
from ..plans.apply import apply_moves, fits

if TYPE_CHECKING:
    from ...encoders.problem import Problem, VictimClass
    from ...framework.state.moves import Move
    from ...framework.state.state import State
    from .assignment import Relocations

#: Situations that are looked at, and pods that move or come, at most.
LIMIT: Final = 20_000
_DEEPEST: Final = 200


class ExhaustiveOrder:
    """Every order of the moves of one solution, by classes: who is alike is not tried twice.

    A situation is how many of each class of running pods are marked and gone, and how many of each class came
    to each node. Which budgets are charged follows from that as long as pods of a class charge the same.
    """

    def __init__(self, problem: Problem, wanted: Relocations, deadline: float) -> None:
        assert problem.mobility is not None
        self._problem, self._cluster, self._wanted = problem, problem.cluster, wanted
        self._deadline = deadline
        self._state: State = problem.state.copy()
        self._moves: list[Move] = []
        self._complete = True
        self._seen: set[tuple[object, ...]] = set()
        self._successors = successors = problem.mobility.successors
        class_of = {pod: v for v in problem.victims for pod in v.pods}
        self._leaving: dict[int, list[int]] = {}
        for pod in reversed(wanted.leaving):
            self._leaving.setdefault(class_of[pod].index, []).append(pod)
        self._marked: dict[int, list[int]] = {v: [] for v in self._leaving}
        self._class_of = {v.index: index for index, victims in leavers_of(problem).items() for v in victims}
        never = set(successors.values())
        self._waiting = {c.index: [i for i in reversed(c.pods) if i not in never] for c in problem.classes}
        self._away: dict[int, list[int]] = {c.index: [] for c in problem.classes}
        self._places = Counter(wanted.counts)
        self._room = list(problem.mobility.allowed)
        self._origin = {successors[v]: v for v in wanted.leaving}
        self._victim_of = class_of
        relations = relations_of(problem)
        self._related = relations.component_of_victim
        self._alike = all(
            len({v.charges for v in victims if v.index in self._leaving}) <= 1
            for victims in leavers_of(problem).values()
        )

    def run(self) -> tuple[Verdict, tuple[Move, ...]]:
        """Find an order, or prove that none exists, or stop at the limit."""
        problem = self._problem
        size = len(self._wanted.leaving) + sum(self._wanted.counts.values())
        if size > _DEEPEST:
            return Verdict.LIMIT_REACHED, ()
        if self._descend():
            return Verdict.FOUND, tuple(self._moves)
        # with other devices than the allocator's choice there might be one
        whole = self._complete and self._alike and problem.devices is None
        return (Verdict.NONE_EXISTS if whole else Verdict.LIMIT_REACHED), ()

    def _descend(self) -> bool:
        if not any(self._leaving.values()) and not any(self._marked.values()) and not self._places:
            return True
        key = (
            tuple(len(pods) for pods in self._leaving.values()),
            tuple(len(pods) for pods in self._marked.values()),
            tuple(sorted(self._places.items())),
            self._state.bindings(),
        )
        if key in self._seen:
            return False
        self._seen.add(key)
        if len(self._seen) > LIMIT or time.monotonic() > self._deadline:
            self._complete = False
            return False
        return self._bind_one() or self._leave_one() or self._mark_one()

    def _bind_one(self) -> bool:
        for index, node in sorted(self._places):
            pod = self._candidate(index, node)
            if pod is None or not self._passes(pod, node):
                continue
            self._move(Bind(pod, node), index)
            if self._descend():
                return True
            self._unbind(pod, node, index)
            if not self._complete:
                return False
        return False

    def _passes(self, pod: int, node: int) -> bool:
        """Whether a pod passes every filter, and its group takes it back."""
        return fits(self._cluster, self._state, pod, node) and (
            pod not in self._origin or bool(nodes_for_member(self._cluster, self._state, pod)[node])
        )

    def _candidate(self, index: int, node: int) -> int | None:
        """Return the pod that comes next: a successor from elsewhere, or a pod that waits and has a place."""
        home = self._problem.state.node_of
        away = self._away[index]
        found = next((i for i in reversed(away) if home[self._origin[i]] != node), None)
        if found is not None:
            return found
        due = sum(
            len(pods)
            for of in (self._leaving, self._marked)
            for v, pods in of.items()
            if self._class_of[v] == index
        )
        left = sum(number for (c, _), number in self._places.items() if c == index)
        waiting = self._waiting[index]
        return waiting[-1] if waiting and left > due + len(away) else None

    def _move(self, move: Bind, index: int) -> None:
        apply_moves(self._cluster, self._state, [move])
        self._moves.append(move)
        self._places[index, move.node] -= 1
        self._places += Counter()
        if move.pod in self._origin:
            self._away[index].remove(move.pod)
            self._charge(self._origin[move.pod], 1)
        else:
            self._waiting[index].remove(move.pod)

    def _unbind(self, pod: int, node: int, index: int) -> None:
        self._state.take_back(pod)
        self._moves.pop()
        self._places[index, node] += 1
        if pod in self._origin:
            self._away[index].append(pod)
            self._charge(self._origin[pod], -1)
        else:
            self._waiting[index].append(pod)

    def _charge(self, victim: int, change: int) -> None:
        for b in self._victim_of[victim].charges:
            self._room[b] += change

    def _leave_one(self) -> bool:
        """Let a pod leave that is marked, or mark it first."""
        for source in (self._marked, self._leaving):
            for v, pods in source.items():
                if not pods or not (source is self._marked or self._may_leave(self._problem.victims[v])):
                    continue
                before, steps, pod = self._state.copy(), len(self._moves), pods.pop()
                if source is self._leaving:
                    self._mark(pod)
                self._state.remove(pod)
                self._moves.append(Leave(pod))
                made = self._successors[pod]
                self._away[self._class_of[v]].append(made)
                if self._descend():
                    return True
                self._away[self._class_of[v]].remove(made)
                if source is self._leaving:
                    self._charge(pod, 1)
                del self._moves[steps:]
                self._state = before
                pods.append(pod)
                if not self._complete:
                    return False
        return False

    def _mark_one(self) -> bool:
        """Mark a pod that others need while it holds what it has, so that spread no longer counts it."""
        for v, pods in self._leaving.items():
            if not pods or v not in self._related or not self._may_leave(self._problem.victims[v]):
                continue
            pod = pods.pop()
            self._mark(pod)
            self._marked[v].append(pod)
            if self._descend():
                return True
            self._marked[v].pop()
            self._moves.pop()
            self._charge(pod, 1)
            self._state.unmark(pod)
            pods.append(pod)
            if not self._complete:
                return False
        return False

    def _mark(self, pod: int) -> None:
        self._state.mark(pod)
        self._moves.append(Mark(pod))
        self._charge(pod, -1)

    def _may_leave(self, victim: VictimClass) -> bool:
        return all(self._room[b] > 0 for b in victim.charges)
