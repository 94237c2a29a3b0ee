"""Put a set of bindings and evictions in an order in which every step passes the framework's filters.

First a quick sequence: bind what passes, let victims leave as late as possible.  Where it gets stuck, a
depth-first search over the order-sensitive part (`solver.ordering.components`) either finds an order, or
proves that there is none and names the components in conflict, or gives up at its limit.  Source: design,
"Admissible".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..model.component import EMPTY, Component
from ..plans.outcome import BIND, DEALLOCATE
from .context import OrderContext
from .dfs_order import OrderSearch
from .gangs import Gangs
from .greedy_order import QuickSequence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...encoders.problem import Problem
    from ...framework.state.state import State
    from ..plans.outcome import Move
    from .assignment import Assignment


@dataclass(frozen=True)
class OrderResult:
    """`moves` where an order was found, `conflict` where none exists, neither where the limit was reached.

    `relaxing` could have made an order possible: victims that hold room where a pod of the conflict lands,
    preemptors that could come to the node of a victim in the conflict. More of them may help, fewer never do.
    """

    moves: tuple[Move, ...] | None
    conflict: Component | None = None
    relaxing: Component = EMPTY
    partial: tuple[Move, ...] = ()


class Sequencer:
    """Finds orders for assignments of one problem.

    Attributes
    ----------
    context : OrderContext
        What the searches for an order share.
    """

    def __init__(self, problem: Problem, *, limit: int = 20_000) -> None:
        self._problem = problem
        self.context = OrderContext(problem)
        self._limit = limit

    def order(self, assignment: Assignment, deadline: float) -> OrderResult:
        """Find an order, or prove that there is none."""
        quick = QuickSequence(self.context, assignment)
        if quick.run():
            return OrderResult(tuple(quick.moves))
        base, moves = self.context.start(assignment)
        irrelevant = [v for v in sorted(assignment.victims) if self._victim_component(v) is None]
        for v in irrelevant:
            self.context.leave(base, moves, v, assignment)
        partial = tuple(quick.moves)
        for component in self._merged(assignment):
            search, found = self._search(moves, assignment, component, base, self._limit, deadline)
            if found is None:
                return self._none(search, component, assignment, partial)
            moves = found
        done = {pod for kind, pod, _ in moves if kind == BIND}
        late = sorted((i for i in assignment.placed if i not in done), key=self._place_at_last)
        moves += [(BIND, i, assignment.placed[i]) for i in late]
        if self._passes(moves, assignment):
            return OrderResult(tuple(moves))
        return self._as_a_whole(assignment, partial, deadline)

    def _place_at_last(self, pod: int) -> tuple[bool, int]:
        """Say when a pod comes that nobody looks at: in its turn, or after all whose room it would take."""
        context = self.context
        return context.class_of[pod].index in context.relations.heedless, context.rank[pod]

    def _as_a_whole(self, assignment: Assignment, partial: tuple[Move, ...], deadline: float) -> OrderResult:
        """Look at all steps together: somebody who seemed to fit in any order does not."""
        problem = self._problem
        everybody = Component(
            frozenset(c.index for c in problem.classes),
            frozenset(v.index for v in problem.victims),
            problem.devices is not None,
        )
        base, moves = self.context.start(assignment)
        search, found = self._search(moves, assignment, everybody, base, self._limit // 10, deadline)
        if found is not None:
            return OrderResult(tuple(found))
        if problem.devices is not None and not problem.devices.apart:
            return OrderResult(None, partial=partial)
        return self._none(search, everybody, assignment, partial)

    def _search(
        self,
        moves: list[Move],
        assignment: Assignment,
        component: Component,
        base: State,
        limit: int,
        deadline: float,
    ) -> tuple[OrderSearch, list[Move] | None]:
        """Add an order of a component to what comes before it, if there is one.

        Whoever looks at the devices of others may need some to be in use for a while: if deallocating as soon
        as possible leads nowhere, claims are deallocated at any time.
        """
        search = OrderSearch(self.context, assignment, component, base, limit, deadline)
        found = search.run()
        if found is not None:
            return search, [*moves, *found]
        if not (search.complete and component.devices and assignment.deallocated):
            return search, None
        held = replace(assignment, deallocated=())
        state, _ = self.context.start(held)
        for v in sorted(assignment.victims):
            if base.node_of[v] < 0:
                self.context.leave(state, [], v, held)
        search = OrderSearch(self.context, held, component, state, limit, deadline, assignment.deallocated)
        found = search.run()
        return search, None if found is None else [*(m for m in moves if m[0] != DEALLOCATE), *found]

    def _none(
        self, search: OrderSearch, component: Component, assignment: Assignment, partial: tuple[Move, ...]
    ) -> OrderResult:
        """A component is the conflict if every order of it was tried, and other devices would not help."""
        devices = self._problem.devices
        if not search.complete or (devices is not None and component.devices and devices.blurred):
            return OrderResult(None, partial=partial)
        return OrderResult(None, component, self._relaxing(component, assignment), partial)

    def _relaxing(self, component: Component, assignment: Assignment) -> Component:
        """Find what outside a component could have made an order of it possible."""
        problem = self._problem
        landing = {
            n for i, n in assignment.placed.items() if self.context.class_of[i].index in component.classes
        }
        holders = {v.index for n in landing for v in problem.victims_on.get(n, ())}
        leaving = [v for v in assignment.victims if self.context.victim_class[v].index in component.victims]
        preemptors = {
            c.index
            for c in problem.classes
            if any(c.mask[problem.state.node_of[v]] and self.context.serves(c.pod, v) for v in leaving)
        }
        return Component(frozenset(preemptors) - component.classes, frozenset(holders) - component.victims)

    def _passes(self, moves: Iterable[Move], assignment: Assignment) -> bool:
        state = self._problem.state.copy()
        for move in moves:
            kind, pod, node = move
            if kind == BIND and not self.context.fits(state, pod, node, assignment):
                return False
            self.context.play(state, [move], assignment)
        return True

    def _victim_component(self, victim: int) -> int | None:
        return self.context.relations.component_of_victim.get(self.context.victim_class[victim].index)

    def _merged(self, assignment: Assignment) -> list[Component]:
        """Components in play, joined where one's victim holds the room of another's newcomer."""
        parent = list(range(len(self.context.relations.components)))

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
                at.setdefault(int(self._problem.state.node_of[v]), set()).add(k)
        gangs = Gangs(self._problem.cluster, assignment.placed)
        for i, node in assignment.placed.items():
            k = self.context.relations.component_of_class.get(self.context.class_of[i].index)
            if k is not None:
                used.add(k)
                for n in gangs.closing(i, node) & at.keys():
                    at[n].add(k)
        for together in at.values():
            first, *rest = sorted(together)
            for k in rest:
                parent[root(k)] = root(first)
        merged: dict[int, Component] = {}
        for k in sorted(used):
            component = self.context.relations.components[k]
            merged[root(k)] = merged[root(k)] | component if root(k) in merged else component
        return list(merged.values())
