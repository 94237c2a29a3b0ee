"""Put a set of bindings and evictions in an order in which every step passes the framework's filters.

First a greedy order: bind what passes, let victims leave as late as possible. Where it gets stuck, a
depth-first search over the order-sensitive part (`solver.ordering.components`) either finds an order, or
proves that there is none and names the components in conflict, or gives up at its limit.

Source: docs/model.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...framework.state.moves import Bind, Deallocate, bound_nodes
from ..model.component import EMPTY, Component
from .context import OrderContext
from .dfs_order import DfsOrder, DfsResult, Verdict
from .gangs import Gangs
from .greedy_order import GreedyOrder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...encoders.problem import Problem
    from ...framework.state.moves import Move
    from ...framework.state.state import State
    from .assignment import Assignment


@dataclass(frozen=True)
class OrderResult:
    """`moves` where an order was found, `conflict` where none exists, neither where the limit was reached.

    `relaxing` could have made an order possible: victims that hold room where a pod of the conflict lands,
    preemptors that could come for a victim in the conflict. More of them may help, fewer never do.
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
        greedy = GreedyOrder(self.context, assignment)
        if greedy.run():
            return OrderResult(tuple(greedy.moves))
        base, moves = self.context.start(assignment)
        irrelevant = [v for v in sorted(assignment.victims) if self._victim_component(v) is None]
        for v in irrelevant:
            self.context.leave(base, moves, v, assignment)
        partial = tuple(greedy.moves)
        for component in self._merged(assignment):
            found = self._search(moves, assignment, component, base, self._limit, deadline)
            if found.verdict is not Verdict.FOUND:
                return self._none(found.verdict, component, assignment, partial)
            moves = list(found.moves)
        done = bound_nodes(moves)
        late = sorted((i for i in assignment.placed if i not in done), key=self._place_at_last)
        moves += [Bind(i, assignment.placed[i]) for i in late]
        if self._passes(moves, assignment):
            return OrderResult(tuple(moves))
        return self._as_a_whole(assignment, partial, deadline)

    def _place_at_last(self, pod: int) -> tuple[bool, int]:
        """Sort key of a pod that no filter looks at: heedless classes last, otherwise queue order."""
        context = self.context
        return context.class_of[pod].index in context.relations.heedless, context.rank[pod]

    def _as_a_whole(self, assignment: Assignment, partial: tuple[Move, ...], deadline: float) -> OrderResult:
        """Search all steps together: a pod that seemed to fit in any order does not."""
        problem = self._problem
        whole = Component(
            frozenset(c.index for c in problem.classes),
            frozenset(v.index for v in problem.victims),
            problem.devices is not None,
        )
        base, moves = self.context.start(assignment)
        found = self._search(moves, assignment, whole, base, self._limit // 10, deadline)
        if found.verdict is Verdict.FOUND:
            return OrderResult(found.moves)
        if problem.devices is not None and not problem.devices.apart:
            return OrderResult(None, partial=partial)
        return self._none(found.verdict, whole, assignment, partial)

    def _search(
        self,
        moves: list[Move],
        assignment: Assignment,
        component: Component,
        base: State,
        limit: int,
        deadline: float,
    ) -> DfsResult:
        """Append an order of a component to the moves before it, if one is found.

        A claim whose constraints depend on the devices of others may need some to stay allocated for a while:
        if deallocating as soon as possible finds no order, claims may be deallocated at any time.
        """
        found = DfsOrder(self.context, assignment, component, base, limit, deadline).run()
        if found.verdict is Verdict.FOUND:
            return replace(found, moves=(*moves, *found.moves))
        if found.verdict is Verdict.LIMIT_REACHED or not (component.choosing and assignment.deallocated):
            return found
        held = replace(assignment, deallocated=())
        state, _ = self.context.start(held)
        for v in sorted(assignment.victims):
            if base.node_of[v] < 0:
                self.context.leave(state, [], v, held)
        found = DfsOrder(self.context, held, component, state, limit, deadline, assignment.deallocated).run()
        if found.verdict is not Verdict.FOUND:
            return found
        before = (move for move in moves if not isinstance(move, Deallocate))
        return replace(found, moves=(*before, *found.moves))

    def _none(
        self, verdict: Verdict, component: Component, assignment: Assignment, partial: tuple[Move, ...]
    ) -> OrderResult:
        """Return a component as the conflict if it has no order, and other devices would not help."""
        devices = self._problem.devices
        if verdict is Verdict.LIMIT_REACHED or (
            devices is not None and component.choosing and devices.blurred
        ):
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
            if any(
                c.mask[list(self.context.nodes_of_preemptors[v])].any() and self.context.serves(c.pod, v)
                for v in leaving
            )
        }
        return Component(frozenset(preemptors) - component.classes, frozenset(holders) - component.victims)

    def _passes(self, moves: Iterable[Move], assignment: Assignment) -> bool:
        state = self._problem.state.copy()
        for move in moves:
            if isinstance(move, Bind) and not self.context.fits(state, move.pod, move.node, assignment):
                return False
            self.context.apply(state, [move], assignment)
        return True

    def _victim_component(self, victim: int) -> int | None:
        return self.context.relations.component_of_victim.get(self.context.victim_class[victim].index)

    def _merged(self, assignment: Assignment) -> list[Component]:
        """Components of the assignment, joined where a victim of one makes way for a newcomer of another."""
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
                for n in self.context.nodes_of_preemptors[v]:
                    at.setdefault(n, set()).add(k)
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
