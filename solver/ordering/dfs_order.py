"""The thorough way to an order: depth-first search with memory over the order-sensitive part."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ..plans.apply import deallocate
from ..plans.outcome import BIND, MARK, Move
from .gangs import Gangs

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from ...framework.state.state import State
    from .components import Component
    from .sequencer import Assignment, Sequencer

# Steps that the search may nest; larger components are left to the quick sequence.
DEEPEST = 400


class OrderSearch:
    """Depth-first search with memory over the orders of one component.

    Parameters
    ----------
    claims : iterable of int
        Claims to deallocate at any time (places in `claim_keys`); those of the assignment are deallocated as
        soon as they can be.
    """

    def __init__(
        self,
        sequencer: Sequencer,
        assignment: Assignment,
        component: Component,
        base: State,
        limit: int,
        deadline: float,
        claims: Iterable[int] = (),
    ) -> None:
        self._s = sequencer
        self._assignment = assignment
        self._limit = limit
        self._deadline = deadline
        self._state = base.copy()
        self._claims = set(claims)
        self.complete = True
        self._moves: list[Move] = []
        self._seen: set[tuple[object, ...]] = set()
        # pods of a class on a node are alike, but where others look at devices, only with the same devices
        self._groups: dict[tuple[int, int, Hashable], list[int]] = {}
        for i in sorted(assignment.placed, key=sequencer.rank.__getitem__, reverse=True):
            index = sequencer.class_of[i].index
            if index in component.classes:
                given = sequencer.devices_of(i, assignment) if component.devices else ()
                self._groups.setdefault((index, assignment.placed[i], given), []).append(i)
        # Victims of other components left already: whoever needs them present is in their component.
        for v in sorted(assignment.victims):
            if self._state.node_of[v] >= 0 and sequencer.victim_class[v].index not in component.victims:
                sequencer.leave(self._state, [], v, assignment)
        self._victims = [
            v for v in sorted(assignment.victims) if sequencer.victim_class[v].index in component.victims
        ]
        # Staying on after its mark is of use to nobody where only spread constraints look at a victim.
        self._idle = {v for v in self._victims if not sequencer.relations.supports(sequencer.victim_class[v])}
        self._gangs = Gangs(sequencer.cluster, assignment.placed)
        self._outside: dict[int, list[int]] = {}
        for i, node in assignment.placed.items():
            if sequencer.class_of[i].index not in component.classes:
                self._outside.setdefault(node, []).append(i)

    def run(self) -> list[Move] | None:
        """Return an order of the component's moves; None with `complete` true proves that there is none."""
        if sum(len(g) for g in self._groups.values()) + 2 * len(self._victims) > DEEPEST:
            self.complete = False
            return None
        return list(self._moves) if self._descend() else None

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
            self.complete = False
            return False
        return self._bind_one(present) or self._move_victim(present) or self._deallocate_one()

    def _bind_one(self, present: list[int]) -> bool:
        for (_, node, _), group in self._groups.items():
            if not group or not self._s.fits(self._state, group[-1], node, self._assignment):
                continue
            pod = group.pop()
            self._gangs.begin(pod)
            self._s.play(self._state, [(BIND, pod, node)], self._assignment)
            self._moves.append((BIND, pod, node))
            if all(self._has_preemptor(v) for v in present) and self._descend():
                return True
            self._moves.pop()
            self._state.take_back(pod)
            self._gangs.undo(pod)
            group.append(pod)
            if not self.complete:
                return False
        return False

    def _has_preemptor(self, victim: int) -> bool:
        node = int(self._s.problem.state.node_of[victim])
        inside = (g[-1] for (_, at, _), g in self._groups.items() if at == node and g)
        return any(
            self._s.serves(p, victim) and not self._gangs.begun(p)
            for p in (*inside, *self._outside.get(node, ()))
        )

    def _move_victim(self, present: list[int]) -> bool:
        for v in present:
            if v not in self._idle and not self._state.terminating[v]:
                self._state.mark(v)
                self._moves.append((MARK, v, -1))
                if self._descend():
                    return True
                self._moves.pop()
                self._state.unmark(v)
            else:
                before, steps = self._state.copy(), len(self._moves)
                self._s.leave(self._state, self._moves, v, self._assignment)
                if self._descend():
                    return True
                del self._moves[steps:]
                self._state = before
            if not self.complete:
                return False
        return False

    def _deallocate_one(self) -> bool:
        for claim in sorted(self._claims) if self.complete else ():
            before = self._state.copy()
            done = deallocate(self._s.cluster, self._state, [claim])
            if not done:
                continue
            self._claims.remove(claim)
            self._moves += done
            if self._descend():
                return True
            self._moves.pop()
            self._claims.add(claim)
            self._state = before
            if not self.complete:
                return False
        return False
