"""Put a set of bindings and evictions in an order in which every step passes the framework's filters.

First a quick sequence: bind what passes, let victims leave as late as possible.  Where it gets stuck, a
depth-first search over the order-sensitive part (`solver.ordering.components`) either finds an order, or
proves that there is none and names the components to blame, or gives up at its limit.  Source: design,
"Admissible".
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..plans.apply import deallocate, fits, play
from ..plans.outcome import BIND, DEALLOCATE, LEAVE, MARK
from ..plans.preemptors import serves
from .components import NOBODY, Component, Relations
from .dfs_order import OrderSearch
from .gangs import Gangs
from .greedy_order import QuickSequence

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from ...encoders.problem import Problem
    from ...framework.dra.allocation import Allocation
    from ...framework.state.state import State
    from ..plans.outcome import Move


@dataclass(frozen=True)
class Assignment:
    """A solution: pods on nodes, the running pods that leave, and what becomes of claims.

    `deallocated` are places in `claim_keys`: claims that give their devices of the input back, free of cost.
    """

    placed: Mapping[int, int]
    victims: frozenset[int]
    allocations: Mapping[str, Allocation] = field(default_factory=dict)
    deallocated: tuple[int, ...] = ()


@dataclass(frozen=True)
class OrderResult:
    """`moves` where an order was found, `blame` where none exists, neither where the limit was reached.

    `relief` could have made an order possible: victims that hold room where a blamed pod lands, preemptors
    that could come to the node of a blamed victim.  More of them may help, fewer never do.
    """

    moves: tuple[Move, ...] | None
    blame: Component | None = None
    relief: Component = NOBODY
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
        self.rank = {i: k for k, i in enumerate(problem.cluster.pending)}

    def order(self, assignment: Assignment, deadline: float) -> OrderResult:
        """Find an order, or prove that there is none."""
        quick = QuickSequence(self, assignment)
        if quick.run():
            return OrderResult(tuple(quick.moves))
        base, moves = self.start(assignment)
        irrelevant = [v for v in sorted(assignment.victims) if self._victim_component(v) is None]
        for v in irrelevant:
            self.leave(base, moves, v, assignment)
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
        return self.class_of[pod].index in self.relations.heedless, self.rank[pod]

    def _as_a_whole(self, assignment: Assignment, partial: tuple[Move, ...], deadline: float) -> OrderResult:
        """Look at all steps together: somebody who seemed to fit in any order does not."""
        problem = self.problem
        everybody = Component(
            frozenset(c.index for c in problem.classes),
            frozenset(v.index for v in problem.victims),
            problem.devices is not None,
        )
        base, moves = self.start(assignment)
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
        search = OrderSearch(self, assignment, component, base, limit, deadline)
        found = search.run()
        if found is not None:
            return search, [*moves, *found]
        if not (search.complete and component.devices and assignment.deallocated):
            return search, None
        held = replace(assignment, deallocated=())
        state, _ = self.start(held)
        for v in sorted(assignment.victims):
            if base.node_of[v] < 0:
                self.leave(state, [], v, held)
        search = OrderSearch(self, held, component, state, limit, deadline, assignment.deallocated)
        found = search.run()
        return search, None if found is None else [*(m for m in moves if m[0] != DEALLOCATE), *found]

    def _none(
        self, search: OrderSearch, component: Component, assignment: Assignment, partial: tuple[Move, ...]
    ) -> OrderResult:
        """Blame a component if the search looked at every order of it, and other devices would not help."""
        devices = self.problem.devices
        if not search.complete or (devices is not None and component.devices and devices.blurred):
            return OrderResult(None, partial=partial)
        return OrderResult(None, component, self._relief(component, assignment), partial)

    def _relief(self, component: Component, assignment: Assignment) -> Component:
        """Find who outside a component could have made an order of it possible."""
        problem = self.problem
        landing = {n for i, n in assignment.placed.items() if self.class_of[i].index in component.classes}
        holders = {v.index for n in landing for v in problem.victims_on.get(n, ())}
        leaving = [v for v in assignment.victims if self.victim_class[v].index in component.victims]
        preemptors = {
            c.index
            for c in problem.classes
            if any(c.mask[problem.state.node_of[v]] and self.serves(c.pod, v) for v in leaving)
        }
        return Component(frozenset(preemptors) - component.classes, frozenset(holders) - component.victims)

    def _passes(self, moves: Iterable[Move], assignment: Assignment) -> bool:
        state = self.problem.state.copy()
        for move in moves:
            kind, pod, node = move
            if kind == BIND and not self.fits(state, pod, node, assignment):
                return False
            self.play(state, [move], assignment)
        return True

    def fits(self, state: State, pod: int, node: int, assignment: Assignment) -> bool:
        """Whether a pod passes every filter on a node now, with its devices."""
        return fits(self.cluster, state, pod, node, assignment.allocations)

    def play(self, state: State, moves: Iterable[Move], assignment: Assignment) -> None:
        """Let moves happen."""
        play(self.cluster, state, moves, assignment.allocations)

    def start(self, assignment: Assignment) -> tuple[State, list[Move]]:
        """Return the state in which an order begins: deallocations are free, and come as soon as they can.

        Where that leads nowhere, they may come later (`_search`).
        """
        state = self.problem.state.copy()
        return state, deallocate(self.cluster, state, assignment.deallocated)

    def leave(self, state: State, moves: list[Move], victim: int, assignment: Assignment) -> None:
        """Take a victim away, marked first, and the devices of claims that only it kept from being freed."""
        if not state.terminating[victim]:
            state.mark(victim)
            moves.append((MARK, victim, -1))
        state.remove(victim)
        moves.append((LEAVE, victim, -1))
        moves += deallocate(self.cluster, state, assignment.deallocated)

    def devices_of(self, pod: int, assignment: Assignment) -> Hashable:
        """Return a key that is equal for pods of a class to which the same devices are given."""
        devices = self.problem.devices
        keys = () if devices is None else devices.private_keys(pod, assignment.placed[pod])
        given = (assignment.allocations[key].results for key in keys if key in assignment.allocations)
        return tuple(tuple((r.request, r.id) for r in results) for results in given)

    def serves(self, pod: int, victim: int) -> bool:
        """Whether a pod on the victim's node may be its preemptor."""
        return serves(self.cluster, pod, victim)

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
        gangs = Gangs(self.cluster, assignment.placed)
        for i, node in assignment.placed.items():
            k = self.relations.component_of_class.get(self.class_of[i].index)
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
            component = self.relations.components[k]
            merged[root(k)] = merged[root(k)] | component if root(k) in merged else component
        return list(merged.values())
