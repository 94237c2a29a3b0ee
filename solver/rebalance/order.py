"""The state of an order of moves under construction, and a simple rule that finds most orders.

A step is to let one pod leave, or to bind one pod of a class to one of its nodes: the successor of a pod
that left, or a pod that waits. Pods of a class are alike, so which of them goes where is decided when one is
bound.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

from ...framework.measures.group_rules import nodes_for_member
from ...framework.state.moves import Bind, Leave, Mark
from ..ordering.components import relations_of
from ..plans.apply import apply_moves, fits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...encoders.problem import Problem
    from ...framework.state.moves import Move
    from .assignment import Relocations


class MoveOrder:
    """The state of an order under construction.

    Attributes
    ----------
    state : State
    moves : list of Move
    clean : int
        How many of the moves end with nobody away.
    here : dict
        Running pods that are still to leave.
    places : Counter
        (class, node) -> how many are still to come.
    away : dict
        Class -> successors of pods that left, not bound yet.
    room : list of int
        How many more pods each budget lets be away.
    """

    def __init__(self, problem: Problem, wanted: Relocations) -> None:
        assert problem.mobility is not None
        self.problem, self.cluster, self.wanted = problem, problem.cluster, wanted
        self.successors = problem.mobility.successors
        self.class_of = {i: c.index for c in problem.classes for i in c.pods}
        self.victim_class = {p: v for v in problem.victims for p in v.pods}
        self.state = problem.state.copy()
        self.moves: list[Move] = []
        self.clean = 0
        self.room = list(problem.mobility.allowed)
        self.here = dict.fromkeys(wanted.leaving)
        self.places = Counter(wanted.counts)
        self.away: dict[int, deque[int]] = {c.index: deque() for c in problem.classes}
        never = set(self.successors.values())
        self.waiting = {c.index: deque(i for i in c.pods if i not in never) for c in problem.classes}
        self._origin = {self.successors[v]: v for v in wanted.leaving}
        self._out = 0
        self._due = Counter(self.class_of[self.successors[v]] for v in wanted.leaving)
        self._left: Counter[int] = Counter()
        for (index, _), number in wanted.counts.items():
            self._left[index] += number

    @property
    def done(self) -> bool:
        """Whether everybody is where they are to be."""
        return not self.here and not self.places and not self._out

    def index_of(self, victim: int) -> int:
        """Return the class of a running pod's successor."""
        return self.class_of[self.successors[victim]]

    def may_leave(self, pod: int) -> bool:
        """Whether the budgets of a pod let it be away now."""
        return all(self.room[b] > 0 for b in self.victim_class[pod].charges)

    def leave(self, pod: int) -> None:
        """Mark a pod and let it leave: its controller makes it anew."""
        self.state.mark(pod)
        self.state.remove(pod)
        self.moves += [Mark(pod), Leave(pod)]
        del self.here[pod]
        self._charge(pod, -1)
        index = self.index_of(pod)
        self.away[index].append(self.successors[pod])
        self._due[index] -= 1
        self._out += 1

    def candidate(self, index: int, node: int) -> int | None:
        """Return the pod of a class that would be bound to a node next; None where none is there."""
        made, waiting = self.away[index], self.waiting[index]
        node_of = self.problem.state.node_of
        found = next((i for i in made if node_of[self._origin[i]] != node), None)
        if found is not None:
            return found
        spare = self._left[index] - self._due[index] - len(made)
        return waiting[0] if waiting and spare > 0 else None

    def passes(self, pod: int, node: int) -> bool:
        """Whether a pod passes every filter on a node now, and its group takes it back."""
        return fits(self.cluster, self.state, pod, node) and (
            pod not in self._origin or bool(nodes_for_member(self.cluster, self.state, pod)[node])
        )

    def bind(self, pod: int, node: int) -> None:
        """Bind a pod that passes."""
        move = Bind(pod, node)
        apply_moves(self.cluster, self.state, [move])
        self.moves.append(move)
        index = self.class_of[pod]
        self._left[index] -= 1
        self.places[index, node] -= 1
        if not self.places[index, node]:
            del self.places[index, node]
        if pod in self._origin:
            self.away[index].remove(pod)
            self._out -= 1
            self._charge(self._origin[pod], 1)
        else:
            self.waiting[index].remove(pod)
        if not self._out:
            self.clean = len(self.moves)

    def _charge(self, pod: int, change: int) -> None:
        for b in self.victim_class[pod].charges:
            self.room[b] += change


def greedy_order(problem: Problem, wanted: Relocations, *, in_batches: bool = True) -> MoveOrder:
    """Follow a simple rule until nothing moves any more; `done` says whether that was the end.

    In batches everybody leaves whose place is open now, as far as budgets admit; otherwise one pod at a time.
    Where no place is open, somebody leaves who stands in the way.
    """
    return _Rule(MoveOrder(problem, wanted), in_batches=in_batches).run()


class _Rule:
    """Binds what passes and lets pods leave; looks again only at places where something changed."""

    def __init__(self, order: MoveOrder, *, in_batches: bool) -> None:
        self._order, self._in_batches = order, in_batches
        self._relations = relations_of(order.problem)
        self._stale = set(order.places)
        self._on_node: dict[int, list[tuple[int, int]]] = {}
        self._of_class: dict[int, list[tuple[int, int]]] = {}
        self._in_component: dict[int, list[tuple[int, int]]] = {}
        for place in order.places:
            self._on_node.setdefault(place[1], []).append(place)
            self._of_class.setdefault(place[0], []).append(place)
            component = self._relations.component_of_class.get(place[0])
            if component is not None:
                self._in_component.setdefault(component, []).append(place)

    def run(self) -> MoveOrder:
        """Go on until everybody is in place, or nothing moves."""
        order = self._order
        while True:
            self._bind_all()
            if order.done or not order.here or not self._let_leave():
                return order

    def _changed(self, node: int, component: int | None) -> None:
        """Record that a pod came to a node or left it."""
        if self._order.problem.devices is not None:
            self._stale.update(self._order.places)
        self._stale.update(self._on_node.get(node, ()))
        if component is not None:
            self._stale.update(self._in_component.get(component, ()))

    def _bind_all(self) -> None:
        """Bind whatever passes, carriers of rules about other pods first."""
        order, relations = self._order, self._relations
        while self._stale:
            trying = sorted(self._stale, key=lambda place: (not self._carries(place[0]), place))
            self._stale.clear()
            for index, node in trying:
                while (index, node) in order.places:
                    pod = order.candidate(index, node)
                    if pod is None or not order.passes(pod, node):
                        break
                    order.bind(pod, node)
                    self._changed(node, relations.component_of_class.get(index))

    def _carries(self, index: int) -> bool:
        return self._relations.carries(self._order.problem.classes[index])

    def _open_places(self, index: int) -> int:
        """Count the places of a class where one of its pods would pass now."""
        order = self._order
        pod = order.problem.classes[index].pod
        places = (p for p in self._of_class.get(index, ()) if p in order.places)
        return sum(order.places[place] for place in places if order.passes(pod, place[1]))

    def _let_leave(self) -> bool:
        """Let the next pods leave; false where nobody may."""
        order = self._order
        victims = sorted(order.here, key=lambda v: (order.index_of(v), v))
        open_now: dict[int, int] = {}
        left = False
        for v in victims:
            if not order.may_leave(v):
                continue
            index = order.index_of(v)
            if index not in open_now:
                open_now[index] = self._open_places(index) - len(order.away[index])
            if open_now[index] > 0:
                open_now[index] -= 1
                self._leave(v)
                left = True
                if not self._in_batches:
                    return True
        if left:
            return True
        first = next(self._in_the_way(victims), None)
        if first is not None:
            self._leave(first)
        return first is not None

    def _in_the_way(self, victims: Sequence[int]) -> Iterator[int]:
        """Yield who may leave: first from nodes that pods wait for already, then where any are to come."""
        order, home = self._order, self._order.problem.state.node_of
        awaited = {n for c, n in order.places if order.candidate(c, n) is not None}
        coming = {n for _, n in order.places}
        for nodes in (awaited, coming):
            yield from (v for v in victims if int(home[v]) in nodes and order.may_leave(v))
        yield from (v for v in victims if order.may_leave(v))

    def _leave(self, pod: int) -> None:
        order = self._order
        home, index = int(order.state.node_of[pod]), order.index_of(pod)
        order.leave(pod)
        of = self._relations.component_of_victim
        self._changed(home, of.get(order.victim_class[pod].index))
        self._stale.update(self._of_class.get(index, ()))
