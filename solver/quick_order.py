"""The quick way to an order: bind what passes, let victims leave as late as possible."""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..framework import names
from ..framework.runtime import framework_for
from .gangs import Gangs
from .outcome import BIND

if TYPE_CHECKING:
    from .order import Assignment, Sequencer

# What these refuse they refuse until a victim leaves the node.
LOCAL = frozenset({names.NODE_RESOURCES_FIT, names.NODE_PORTS})


@dataclass(eq=False)
class _Group:
    """Pods of one class that go to one node, in queue order."""

    cls: int
    node: int
    pods: deque[int] = field(default_factory=deque)


class QuickSequence:
    """Bind what passes, carriers of order-sensitive rules first; a victim leaves when nothing else moves.

    A group that waits for room on its node is not looked at again before a victim has left the node.
    """

    def __init__(self, sequencer: Sequencer, assignment: Assignment) -> None:
        self._s = sequencer
        self._assignment = assignment
        self._state, self.moves = sequencer.start(assignment)
        self._victims: dict[int, list[int]] = {}
        pods = sequencer.cluster.pods
        for v in sorted(assignment.victims, key=lambda v: (pods[v].priority, -pods[v].start.timestamp(), v)):
            self._victims.setdefault(int(self._state.node_of[v]), []).append(v)
        groups: dict[tuple[int, int], _Group] = {}
        for i in sorted(assignment.placed, key=sequencer.rank.__getitem__):
            key = (sequencer.class_of[i].index, assignment.placed[i])
            groups.setdefault(key, _Group(*key)).pods.append(i)
        relations = sequencer.relations
        classes = sequencer.problem.classes
        carriers = {c: relations.carries(classes[c]) for c, _ in groups}
        related = {c: c in relations.component_of_class for c, _ in groups}
        self._phases: tuple[dict[_Group, None], ...] = ({}, {}, {})
        self._phase_of: dict[_Group, dict[_Group, None]] = {}
        self._on_node: dict[int, list[_Group]] = {}
        for group in groups.values():
            phase = self._phases[0 if carriers[group.cls] else 1 if related[group.cls] else 2]
            phase[group] = None
            self._phase_of[group] = phase
            self._on_node.setdefault(group.node, []).append(group)
        self._gangs = Gangs(sequencer.cluster, assignment.placed)
        self._left = len(assignment.placed)
        self._queue = [
            (min(sequencer.rank[g.pods[0]] for g in self._on_node[node]), node)
            for node in self._victims
            if node in self._on_node
        ]
        heapq.heapify(self._queue)

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
            if not self._left:
                return not any(self._victims.values())
            if not self._release():
                return False

    def _round(self, groups: dict[_Group, None], *, once: bool) -> bool:
        """Bind one pod of each group that passes (or of the first one only); true if any was bound."""
        bound = False
        for group in list(groups):
            pod, node = group.pods[0], group.node
            needed = self._needed(pod, node)
            if needed or not self._s.fits(self._state, pod, node, self._assignment):
                if self._waits(pod, node, needed=needed):
                    del groups[group]
                continue
            group.pods.popleft()
            if not group.pods:
                del groups[group]
            self._left -= 1
            self._gangs.begin(pod)
            self._s.play(self._state, [(BIND, pod, node)], self._assignment)
            self.moves.append((BIND, pod, node))
            bound = True
            if once:
                break
        return bound

    def _waits(self, pod: int, node: int, *, needed: bool) -> bool:
        """Whether a pod that was refused is refused until a victim leaves its node."""
        if needed:
            return not self._gangs.has(pod)
        status = framework_for(self._s.cluster, pod).filter_node(self._state, pod, node)
        return status.plugin in LOCAL

    def _needed(self, pod: int, node: int) -> bool:
        """Whether a victim that still runs would be left without a preemptor: it must leave first."""
        if not self._victims:
            return False
        nodes = self._gangs.closing(pod, node)
        return any(not self._served(v, n, pod) for n in nodes for v in self._victims.get(n, ()))

    def _served(self, victim: int, node: int, besides: int | None = None) -> bool:
        """Whether a pod that waits for the victim's node may be its preemptor, besides a pod and its gang."""
        return any(
            len(g.pods) > (g.pods[0] == besides)
            and self._s.serves(g.pods[0], victim)
            and not self._gangs.begun(g.pods[0])
            and not self._gangs.same(g.pods[0], besides)
            for g in self._on_node.get(node, ())
            if g.pods
        )

    def _release(self) -> bool:
        """Let one victim leave: the least important on the node of the first pod in the queue that waits."""
        aside: list[tuple[int, int]] = []
        released = False
        while self._queue and not released:
            known, node = heapq.heappop(self._queue)
            first = min((self._s.rank[g.pods[0]] for g in self._on_node[node] if g.pods), default=None)
            if first is None or not self._victims[node]:
                continue
            if first > known:  # its first pods have been bound since
                heapq.heappush(self._queue, (first, node))
                continue
            aside.append((first, node))
            released = self._release_on(node)
        for entry in aside:
            heapq.heappush(self._queue, entry)
        return released

    def _release_on(self, node: int) -> bool:
        for v in self._victims[node]:
            if self._served(v, node):
                self._victims[node].remove(v)
                self._s.leave(self._state, self.moves, v, self._assignment)
                for group in self._on_node[node]:
                    if group.pods:
                        self._phase_of[group][group] = None
                return True
        return False
