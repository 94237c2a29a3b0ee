"""Put a set of bindings and evictions in an order in which every step passes the framework's filters.

First a quick sequence: bind what passes, let victims leave as late as possible.  Where it gets stuck, a
depth-first search over the order-sensitive part (`solver.relations`) either finds an order, or proves that
there is none and names the components to blame, or gives up at its limit.  Source: design, "Admissible".
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..framework.runtime import framework_for
from .outcome import BIND, LEAVE, MARK, Move
from .relations import Component, Relations

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..encoders.problem import Problem
    from ..framework.state import State


#: Steps that the depth-first search may nest; larger components are left to the quick sequence.
DEEPEST = 400


@dataclass(frozen=True)
class Assignment:
    """A solution: pods on nodes, and the running pods that leave."""

    placed: Mapping[int, int]
    victims: frozenset[int]


@dataclass(frozen=True)
class OrderResult:
    """`moves` where an order was found, `blame` where none exists, neither where the limit was reached."""

    moves: tuple[Move, ...] | None
    blame: Component | None = None
    partial: tuple[Move, ...] = ()


class Sequencer:
    """Finds orders for assignments of one problem."""

    def __init__(self, problem: Problem, *, limit: int = 20_000) -> None:
        self.problem = problem
        self.cluster = problem.cluster
        self.relations = Relations(problem)
        self._limit = limit
        self.class_of = {i: c for c in problem.classes for i in c.pods}
        self.victim_class = {i: v for v in problem.victims for i in v.pods}
        rank = {i: k for k, i in enumerate(problem.cluster.pending)}
        self.rank = rank

    def order(self, assignment: Assignment, deadline: float) -> OrderResult:
        """Find an order, or prove that there is none."""
        quick = _Quick(self, assignment)
        if quick.run():
            return OrderResult(tuple(quick.moves))
        blame = None
        moves: list[Move] = []
        irrelevant = [v for v in sorted(assignment.victims) if self._victim_component(v) is None]
        base = self.problem.state.copy()
        for v in irrelevant:
            _leave(base, moves, v)
        for component in self._merged(assignment):
            search = _Exhaustive(self, assignment, component, base, self._limit, deadline)
            found = search.run()
            if found is None:
                if search.complete:
                    blame = component
                    return OrderResult(None, blame, tuple(quick.moves))
                return OrderResult(None, None, tuple(quick.moves))
            moves += found
        done = {pod for kind, pod, _ in moves if kind == BIND}
        late = sorted((i for i in assignment.placed if i not in done), key=self.rank.__getitem__)
        moves += [(BIND, i, assignment.placed[i]) for i in late]
        if self._passes(moves):
            return OrderResult(tuple(moves))
        return OrderResult(None, None, tuple(quick.moves))

    def _passes(self, moves: Iterable[Move]) -> bool:
        state = self.problem.state.copy()
        for kind, pod, node in moves:
            if kind == BIND:
                if not self.fits(state, pod, node):
                    return False
                state.place(pod, node)
            elif kind == MARK:
                state.mark(pod)
            else:
                state.remove(pod)
        return True

    def fits(self, state: State, pod: int, node: int) -> bool:
        """Whether a pod passes every filter on a node now."""
        return framework_for(self.cluster, pod).filter_node(state, pod, node).ok

    def serves(self, pod: int, victim: int) -> bool:
        """Whether a pod on the victim's node may be its preemptor."""
        p, v = self.cluster.pods[pod], self.cluster.pods[victim]
        return p.preempts and p.priority > v.priority

    def _victim_component(self, victim: int) -> int | None:
        return self.relations.component_of_victim.get(self.victim_class[victim].index)

    def _merged(self, assignment: Assignment) -> list[Component]:
        """Components in play, joined where one's victim holds the room of another's newcomer."""
        parent = list(range(len(self.relations.components)))

        def root(k: int) -> int:
            while parent[k] != k:
                k = parent[k]
            return k

        at: dict[int, set[int]] = {}
        used: set[int] = set()
        for v in assignment.victims:
            k = self._victim_component(v)
            if k is not None:
                used.add(k)
                at.setdefault(int(self.problem.state.node_of[v]), set()).add(k)
        for i, node in assignment.placed.items():
            k = self.relations.component_of_class.get(self.class_of[i].index)
            if k is not None:
                used.add(k)
                if node in at:
                    at[node].add(k)
        for together in at.values():
            first, *rest = sorted(together)
            for k in rest:
                parent[root(k)] = root(first)
        merged: dict[int, Component] = {}
        for k in sorted(used):
            component = self.relations.components[k]
            merged[root(k)] = merged[root(k)] | component if root(k) in merged else component
        return list(merged.values())


def _leave(state: State, moves: list[Move], victim: int) -> None:
    if not state.terminating[victim]:
        state.mark(victim)
        moves.append((MARK, victim, -1))
    state.remove(victim)
    moves.append((LEAVE, victim, -1))


class _Quick:
    """Bind what passes, carriers of order-sensitive rules first; a victim leaves when nothing else moves."""

    def __init__(self, sequencer: Sequencer, assignment: Assignment) -> None:
        self._s = sequencer
        self._state = sequencer.problem.state.copy()
        self.moves: list[Move] = []
        self._victims: dict[int, list[int]] = {}
        pods = sequencer.cluster.pods
        for v in sorted(assignment.victims, key=lambda v: (pods[v].priority, -pods[v].start.timestamp(), v)):
            self._victims.setdefault(int(self._state.node_of[v]), []).append(v)
        groups: dict[tuple[int, int], deque[int]] = {}
        for i in sorted(assignment.placed, key=sequencer.rank.__getitem__):
            groups.setdefault((sequencer.class_of[i].index, assignment.placed[i]), deque()).append(i)
        relations = sequencer.relations
        classes = sequencer.problem.classes
        carriers = {c: relations.carries(classes[c]) for c, _ in groups}
        related = {c: c in relations.component_of_class for c, _ in groups}
        self._phases = [
            {k: g for k, g in groups.items() if carriers[k[0]]},
            {k: g for k, g in groups.items() if related[k[0]] and not carriers[k[0]]},
            {k: g for k, g in groups.items() if not related[k[0]]},
        ]
        self._on_node: dict[int, list[deque[int]]] = {}
        for (_, node), group in groups.items():
            self._on_node.setdefault(node, []).append(group)

    def run(self) -> bool:
        carriers, counted, others = self._phases
        while True:
            if self._round(carriers, once=False):
                continue
            if self._round(counted, once=True):
                continue
            if self._round(others, once=False):
                continue
            if not any(carriers.values()) and not any(counted.values()) and not any(others.values()):
                return not any(self._victims.values())
            if not self._release():
                return False

    def _round(self, groups: dict[tuple[int, int], deque[int]], *, once: bool) -> bool:
        """Bind one pod of each group that passes (or of the first one only); true if any was bound."""
        bound = False
        for (_, node), group in groups.items():
            if not group:
                continue
            pod = group[0]
            if self._needed(pod, node) or not self._s.fits(self._state, pod, node):
                continue
            group.popleft()
            self._state.place(pod, node)
            self.moves.append((BIND, pod, node))
            bound = True
            if once:
                break
        return bound

    def _needed(self, pod: int, node: int) -> bool:
        """Whether a victim still on the node has no other preemptor than this pod: it must leave first."""
        waiting = self._victims.get(node)
        if not waiting:
            return False
        rest = [g[0] for g in self._on_node[node] if g and len(g) > (g[0] == pod)]
        return any(self._s.serves(pod, v) and not any(self._s.serves(p, v) for p in rest) for v in waiting)

    def _release(self) -> bool:
        """Let one victim leave: the least important on the node of the first pod in the queue that waits."""
        waiting = sorted(
            ((self._s.rank[g[0]], node) for node, groups in self._on_node.items() for g in groups if g),
        )
        for _, node in waiting:
            for v in self._victims.get(node, ()):
                if any(self._s.serves(g[0], v) for g in self._on_node[node] if g):
                    self._victims[node].remove(v)
                    _leave(self._state, self.moves, v)
                    return True
        return False


class _Exhaustive:
    """Depth-first search with memory over the orders of one component."""

    def __init__(
        self,
        sequencer: Sequencer,
        assignment: Assignment,
        component: Component,
        base: State,
        limit: int,
        deadline: float,
    ) -> None:
        self._s = sequencer
        self._limit = limit
        self._deadline = deadline
        self._state = base.copy()
        self.complete = True
        self._moves: list[Move] = []
        self._seen: set[tuple[object, ...]] = set()
        self._groups: dict[tuple[int, int], list[int]] = {}
        for i in sorted(assignment.placed, key=sequencer.rank.__getitem__, reverse=True):
            index = sequencer.class_of[i].index
            if index in component.classes:
                self._groups.setdefault((index, assignment.placed[i]), []).append(i)
        # Victims of other components left already: whoever needs them present is in their component.
        for v in sorted(assignment.victims):
            if self._state.node_of[v] >= 0 and sequencer.victim_class[v].index not in component.victims:
                self._state.remove(v)
        self._victims = [
            v for v in sorted(assignment.victims) if sequencer.victim_class[v].index in component.victims
        ]
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
        )
        if key in self._seen:
            return False
        self._seen.add(key)
        if len(self._seen) > self._limit or time.monotonic() > self._deadline:
            self.complete = False
            return False
        return self._bind_one(present) or self._move_victim(present)

    def _bind_one(self, present: list[int]) -> bool:
        for (_, node), group in self._groups.items():
            if not group or not self._s.fits(self._state, group[-1], node):
                continue
            pod = group.pop()
            self._state.place(pod, node)
            self._moves.append((BIND, pod, node))
            if all(self._has_preemptor(v) for v in present) and self._descend():
                return True
            self._moves.pop()
            self._state.remove(pod)
            group.append(pod)
            if not self.complete:
                return False
        return False

    def _has_preemptor(self, victim: int) -> bool:
        node = int(self._s.problem.state.node_of[victim])
        inside = (g[-1] for (_, at), g in self._groups.items() if at == node and g)
        return any(self._s.serves(p, victim) for p in (*inside, *self._outside.get(node, ())))

    def _move_victim(self, present: list[int]) -> bool:
        for v in present:
            node = int(self._state.node_of[v])
            if not self._state.terminating[v]:
                self._state.mark(v)
                self._moves.append((MARK, v, -1))
                if self._descend():
                    return True
                self._moves.pop()
                self._state.unmark(v)
            else:
                self._state.remove(v)
                self._moves.append((LEAVE, v, -1))
                if self._descend():
                    return True
                self._moves.pop()
                self._state.place(v, node)
                self._state.mark(v)
            if not self.complete:
                return False
        return False
