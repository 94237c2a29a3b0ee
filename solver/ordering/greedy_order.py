"""A greedy order: bind what passes, let victims leave as late as possible."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from ...framework.state.moves import Bind
from .gangs import Gangs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...encoders.problem import PodClass
    from .assignment import Assignment
    from .components import Relations
    from .context import OrderContext


class GreedyOrder:
    """Bind what passes, carriers of order-sensitive rules first; a victim leaves when nothing else moves.

    A group of pods (one class, one node) that was refused is tried again when something changed that it may
    look at: its node, or its component of order-sensitive rules. Gangs and devices may look at everything.
    """

    def __init__(self, context: OrderContext, assignment: Assignment) -> None:
        self._context = context
        self._assignment = assignment
        self._state, self.moves = context.start(assignment)
        # by the nodes of their preemptors: the nodes of all its members for a group that is evicted whole
        self._victims: dict[int, list[int]] = {}
        pods = context.cluster.pods
        for v in sorted(assignment.victims, key=lambda v: (pods[v].priority, -pods[v].start.timestamp(), v)):
            for n in context.nodes_of_preemptors[v]:
                self._victims.setdefault(n, []).append(v)
        groups: dict[tuple[int, int], deque[int]] = {}
        for i in sorted(assignment.placed, key=context.rank.__getitem__):
            groups.setdefault((context.class_of[i].index, assignment.placed[i]), deque()).append(i)
        self._gangs = Gangs(context.cluster, assignment.placed)
        relations, problem = context.relations, context.problem
        self._apart = problem.devices is None and not self._gangs.nodes
        self._groups = [
            _Group(
                number=number,
                node=node,
                phase=_phase(relations, problem.classes[c]),
                component=relations.component_of_class.get(c),
                pods=members,
            )
            for number, ((c, node), members) in enumerate(groups.items())
        ]
        self._on_node: dict[int, list[_Group]] = {}
        self._in_component: dict[int, list[_Group]] = {}
        for group in self._groups:
            self._on_node.setdefault(group.node, []).append(group)
            if group.component is not None:
                self._in_component.setdefault(group.component, []).append(group)
        self._stale = False
        self._left = len(assignment.placed)
        self._to_try: tuple[dict[int, _Group], ...] = ({}, {}, {}, {})
        self._try_again(self._groups)
        firsts = ((self._first(node), node) for node in self._victims)
        self._waiting = [(first, node) for first, node in firsts if first is not None]
        heapify(self._waiting)

    def run(self) -> bool:
        """Fill `moves`; false where nothing moves any more and something is left."""
        looked_at_all = False
        while True:
            if self._round(0, once=False) or self._round(1, once=True) or self._round(2, once=False):
                looked_at_all = False
                continue
            if not self._left:
                return not any(self._victims.values())
            if self._release() or self._round(3, once=self._others_wait()):
                looked_at_all = False
            elif looked_at_all:
                return False
            else:
                looked_at_all = True
                self._try_again(self._groups)

    def _others_wait(self) -> bool:
        return any(group.pods and group.phase < 3 for group in self._groups)

    def _round(self, phase: int, *, once: bool) -> bool:
        """Bind one pod of each group that passes (or of the first one only); true if any was bound."""
        bound = False
        if self._stale:
            self._stale = False
            self._try_again(self._groups)
        to_try = self._to_try[phase]
        for number in sorted(to_try):
            group = self._groups[number]
            pod, node = group.pods[0], group.node
            if self._needed(pod, node) or not self._context.fits(self._state, pod, node, self._assignment):
                del to_try[number]
                continue
            group.pods.popleft()
            self._left -= 1
            if not group.pods:
                del to_try[number]
            self._gangs.begin(pod)
            move = Bind(pod, node)
            self._context.apply(self._state, [move], self._assignment)
            self.moves.append(move)
            self._changed(node, group.component)
            bound = True
            if once:
                break
        return bound

    def _changed(self, node: int, component: int | None) -> None:
        """Record that a pod came to a node or left it."""
        if not self._apart:
            self._stale = True
            return
        self._try_again(self._on_node.get(node, ()))
        if component is not None:
            self._try_again(self._in_component.get(component, ()))

    def _try_again(self, groups: Iterable[_Group]) -> None:
        for group in groups:
            if group.pods:
                self._to_try[group.phase][group.number] = group

    def _needed(self, pod: int, node: int) -> bool:
        """Whether a victim that still runs would be left without a preemptor: it must leave first."""
        if not self._victims:
            return False
        nodes = self._gangs.closing(pod, node)
        return any(not self._served(v, pod) for n in nodes for v in self._victims.get(n, ()))

    def _served(self, victim: int, besides: int | None = None) -> bool:
        """Whether a pod that waits may be the victim's preemptor, besides a pod and its gang."""
        return any(
            len(g.pods) > (g.pods[0] == besides)
            and self._context.serves(g.pods[0], victim)
            and not self._gangs.begun(g.pods[0])
            and not self._gangs.same(g.pods[0], besides)
            for n in self._context.nodes_of_preemptors[victim]
            for g in self._on_node.get(n, ())
            if g.pods
        )

    def _release(self) -> bool:
        """Remove one victim: the least important that makes way for the first waiting pod of the queue."""
        passed_over = []
        found = False
        while self._waiting and not found:
            rank, node = heappop(self._waiting)
            victims = self._victims[node]
            first = self._first(node)
            if first is None or not victims:
                continue
            if first != rank:
                heappush(self._waiting, (first, node))
                continue
            victim = next((v for v in victims if self._served(v)), None)
            passed_over.append((rank, node))
            if victim is not None:
                left = int(self._state.node_of[victim])
                for n in self._context.nodes_of_preemptors[victim]:
                    self._victims[n].remove(victim)
                self._context.leave(self._state, self.moves, victim, self._assignment)
                relations, index = self._context.relations, self._context.victim_class[victim].index
                self._changed(left, relations.component_of_victim.get(index))
                found = True
        for entry in passed_over:
            heappush(self._waiting, entry)
        return found

    def _first(self, node: int) -> int | None:
        """Rank in the queue of the first pod that waits for a node; None where none does."""
        ranks = (self._context.rank[g.pods[0]] for g in self._on_node.get(node, ()) if g.pods)
        return min(ranks, default=None)


def _phase(relations: Relations, cls: PodClass) -> int:
    if cls.index in relations.heedless:
        return 3
    if relations.carries(cls):
        return 0
    return 1 if cls.index in relations.component_of_class else 2


@dataclass
class _Group:
    """Pods of one class that wait for one node, the first of the queue first.

    Attributes
    ----------
    phase : int
        0 for carriers of order-sensitive rules, 1 for pods that these count, 2 for others; 3 for pods that
        take what others look for without looking themselves: they come when nothing else moves.
    component : int or None
        The component of order-sensitive rules that the class belongs to.
    """

    number: int
    node: int
    phase: int
    component: int | None
    pods: deque[int]
