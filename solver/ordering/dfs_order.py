"""An order by depth-first search with memory over the order-sensitive part."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ...framework.state.moves import Bind, Mark
from ..plans.apply import deallocate
from .gangs import Gangs

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from ...framework.state.moves import Move
    from ...framework.state.state import State
    from ..model.component import Component
    from .assignment import Assignment
    from .context import OrderContext

# Greatest depth of the search; larger components are left to the greedy order.
DEEPEST = 400


class Verdict(Enum):
    """How a search ended."""

    FOUND = "found"
    NONE_EXISTS = "none exists"
    LIMIT_REACHED = "limit reached"


@dataclass(frozen=True)
class DfsResult:
    """How a search ended, and the order where one was found."""

    verdict: Verdict
    moves: tuple[Move, ...] = ()


class DfsOrder:
    """Depth-first search with memory over the orders of one component.

    Parameters
    ----------
    claims : iterable of int
        Claims to deallocate at any time (places in `claim_keys`); those of the assignment are deallocated as
        soon as they can be.
    """

    def __init__(
        self,
        context: OrderContext,
        assignment: Assignment,
        component: Component,
        base: State,
        limit: int,
        deadline: float,
        claims: Iterable[int] = (),
    ) -> None:
        self._context = context
        self._assignment = assignment
        self._limit = limit
        self._deadline = deadline
        self._state = base.copy()
        self._claims = set(claims)
        self._complete = True
        self._moves: list[Move] = []
        self._seen: set[tuple[object, ...]] = set()
        # pods of a class on a node are alike, but where others look at devices, only with the same devices
        self._groups: dict[tuple[int, int, Hashable], list[int]] = {}
        for i in sorted(assignment.placed, key=context.rank.__getitem__, reverse=True):
            index = context.class_of[i].index
            if index in component.classes:
                given = context.devices_of(i, assignment) if component.choosing else ()
                self._groups.setdefault((index, assignment.placed[i], given), []).append(i)
        # Victims of other components left already: what needs them present is in their component.
        for v in sorted(assignment.victims):
            if self._state.node_of[v] >= 0 and context.victim_class[v].index not in component.victims:
                context.leave(self._state, [], v, assignment)
        self._victims = [
            v for v in sorted(assignment.victims) if context.victim_class[v].index in component.victims
        ]
        # A victim that only spread constraints look at is of no use once it is marked.
        self._idle = {v for v in self._victims if not context.relations.supports(context.victim_class[v])}
        self._gangs = Gangs(context.cluster, assignment.placed)
        self._outside: dict[int, list[int]] = {}
        for i, node in assignment.placed.items():
            if context.class_of[i].index not in component.classes:
                self._outside.setdefault(node, []).append(i)

    def run(self) -> DfsResult:
        """Find an order of the component's moves, or prove that none exists, or stop at the limit."""
        if sum(len(g) for g in self._groups.values()) + 2 * len(self._victims) > DEEPEST:
            return DfsResult(Verdict.LIMIT_REACHED)
        if self._descend():
            return DfsResult(Verdict.FOUND, tuple(self._moves))
        return DfsResult(Verdict.NONE_EXISTS if self._complete else Verdict.LIMIT_REACHED)

    def _descend(self) -> bool:
        present = [v for v in self._victims if self._state.node_of[v] >= 0]
        if not present and not any(self._groups.values()):
            return True
        key = (
            tuple(len(g) for g in self._groups.values()),
            tuple((v, bool(self._state.terminating[v])) for v in present),
            self._state.bindings(),
            frozenset(self._claims),
        )
        if key in self._seen:
            return False
        self._seen.add(key)
        if len(self._seen) > self._limit or time.monotonic() > self._deadline:
            self._complete = False
            return False
        return self._bind_one(present) or self._move_victim(present) or self._deallocate_one()

    def _bind_one(self, present: list[int]) -> bool:
        for (_, node, _), group in self._groups.items():
            if not group or not self._context.fits(self._state, group[-1], node, self._assignment):
                continue
            pod = group.pop()
            self._gangs.begin(pod)
            move = Bind(pod, node)
            self._context.apply(self._state, [move], self._assignment)
            self._moves.append(move)
            if all(self._has_preemptor(v) for v in present) and self._descend():
                return True
            self._moves.pop()
            self._state.take_back(pod)
            self._gangs.undo(pod)
            group.append(pod)
            if not self._complete:
                return False
        return False

    def _has_preemptor(self, victim: int) -> bool:
        nodes = self._context.nodes_of_preemptors[victim]
        inside = (g[-1] for (_, at, _), g in self._groups.items() if at in nodes and g)
        outside = (p for n in nodes for p in self._outside.get(n, ()))
        return any(self._context.serves(p, victim) and not self._gangs.begun(p) for p in (*inside, *outside))

    def _move_victim(self, present: list[int]) -> bool:
        for v in present:
            if v not in self._idle and not self._state.terminating[v]:
                self._state.mark(v)
                self._moves.append(Mark(v))
                if self._descend():
                    return True
                self._moves.pop()
                self._state.unmark(v)
            else:
                before, steps = self._state.copy(), len(self._moves)
                self._context.leave(self._state, self._moves, v, self._assignment)
                if self._descend():
                    return True
                del self._moves[steps:]
                self._state = before
            if not self._complete:
                return False
        return False

    def _deallocate_one(self) -> bool:
        for claim in sorted(self._claims) if self._complete else ():
            before = self._state.copy()
            done = deallocate(self._context.cluster, self._state, [claim])
            if not done:
                continue
            self._claims.remove(claim)
            self._moves += done
            if self._descend():
                return True
            self._moves.pop()
            self._claims.add(claim)
            self._state = before
            if not self._complete:
                return False
        return False
