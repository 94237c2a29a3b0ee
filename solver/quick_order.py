"""The quick way to an order: bind what passes, let victims leave as late as possible."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from .gangs import Gangs
from .outcome import BIND

if TYPE_CHECKING:
    from .order import Assignment, Sequencer


class QuickSequence:
    """Bind what passes, carriers of order-sensitive rules first; a victim leaves when nothing else moves."""

    def __init__(self, sequencer: Sequencer, assignment: Assignment) -> None:
        self._s = sequencer
        self._assignment = assignment
        self._state, self.moves = sequencer.start(assignment)
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
        self._gangs = Gangs(sequencer.cluster, assignment.placed)
        self._on_node: dict[int, list[deque[int]]] = {}
        for (_, node), group in groups.items():
            self._on_node.setdefault(node, []).append(group)

    def run(self) -> bool:
        """Fill `moves`; false where nothing moves any more and something is left."""
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
            if self._needed(pod, node) or not self._s.fits(self._state, pod, node, self._assignment):
                continue
            group.popleft()
            self._gangs.begin(pod)
            self._s.play(self._state, [(BIND, pod, node)], self._assignment)
            self.moves.append((BIND, pod, node))
            bound = True
            if once:
                break
        return bound

    def _needed(self, pod: int, node: int) -> bool:
        """Whether a victim that still runs would be left without a preemptor: it must leave first."""
        if not self._victims:
            return False
        nodes = self._gangs.closing(pod, node)
        return any(not self._served(v, n, pod) for n in nodes for v in self._victims.get(n, ()))

    def _served(self, victim: int, node: int, besides: int | None = None) -> bool:
        """Whether a pod that waits for the victim's node may be its preemptor, besides a pod and its gang."""
        return any(
            len(g) > (g[0] == besides)
            and self._s.serves(g[0], victim)
            and not self._gangs.begun(g[0])
            and not self._gangs.same(g[0], besides)
            for g in self._on_node.get(node, ())
            if g
        )

    def _release(self) -> bool:
        """Let one victim leave: the least important on the node of the first pod in the queue that waits."""
        waiting = sorted(
            ((self._s.rank[g[0]], node) for node, groups in self._on_node.items() for g in groups if g),
        )
        for _, node in waiting:
            for v in self._victims.get(node, ()):
                if self._served(v, node):
                    self._victims[node].remove(v)
                    self._s.leave(self._state, self.moves, v, self._assignment)
                    return True
        return False
