"""The drain that users have: node by node by name, and kube-scheduler places what comes back as it comes.

All nodes are cordoned first, unless the drain is rolling. Of each node, or of as many as are drained at a
time, the pods are evicted by name as soon as their budgets let; the scheduler tries what waits after each of
these attempts, by priority, on the node with the best score. It evicts nothing. A node that cannot be emptied
stops the drain; one that is empty comes back whether or not its pods run again.

Source: kubectl drain.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...framework.cycle.cycle import find_node
from ...framework.cycle.runtime import framework_for
from ...framework.rules.eviction_budgets import charged
from ...framework.state.moves import Bind, Cordon, Uncordon
from ..plans.apply import apply_moves
from .batches import leave
from .placing import by_scores

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...framework.state.moves import Change
    from .task import Task


@dataclass
class NamedRun:
    """What came of it.

    Attributes
    ----------
    changes : list
        The steps as they happened; they are those of a plan where `finished`.
    emptied : list of int
        Nodes that are empty of movable pods, or came back.
    moves : int
        Pods that were bound again, each time.
    stranded : dict
        Pod that left and whose replacement waits -> the node it left.
    refused : dict
        Pod that could not be evicted -> its node, and the budget that refuses it.
    """

    changes: list[Change] = field(default_factory=list)
    emptied: list[int] = field(default_factory=list)
    moves: int = 0
    stranded: dict[int, int] = field(default_factory=dict)
    refused: dict[int, tuple[int, str]] = field(default_factory=dict)
    finished: bool = False


class InNameOrder:
    """The run."""

    def __init__(self, task: Task) -> None:
        self._moving = task.moving
        self._task = task
        self._state = task.start()
        self._open = np.ones(task.moving.cluster.n_nodes, dtype=np.bool_)
        self._open[list(task.shut)] = False
        # A drain that is not prepared prefers no node.
        self._choose = by_scores(task.moving, self._open, self._open)
        self._out: dict[int, tuple[int, int]] = {}
        self._taken: Counter[str] = Counter()
        self._found = NamedRun()

    def run(self) -> NamedRun:
        """Drain; return what came of it."""
        run, nodes, rolling = self._found, self._task.nodes, self._task.rolling
        if not rolling:
            self._cordon(nodes)
        size = rolling or 1
        for group in (nodes[first : first + size] for first in range(0, len(nodes), size)):
            if rolling:
                self._cordon(group)
            while self._evict(group) | self._schedule():
                pass
            left = [i for n in group for i in self._pods_on(n)]
            if left:
                self._refuse(left)
                run.emptied += [n for n in group if not self._pods_on(n)]
                break
            run.emptied += group
            if rolling:
                self._open[list(group)] = True
                run.changes += [Uncordon(n) for n in group]
                self._schedule()
        run.stranded = dict(self._out.values())
        run.finished = not run.refused and not run.stranded
        return run

    def message(self, old: int) -> str:
        """Return kube-scheduler's words about a stranded pod's replacement at the end."""
        cluster, new = self._moving.cluster, self._moving.replaced_by(old)
        cycle = find_node(framework_for(cluster, new), self._state, new, self._open)
        return cycle.message(cluster.n_nodes)

    def _cordon(self, nodes: Sequence[int]) -> None:
        self._found.changes += [Cordon(n) for n in nodes if self._open[n]]
        self._open[list(nodes)] = False

    def _pods_on(self, node: int) -> list[int]:
        pods = self._moving.cluster.pods
        return sorted(self._task.movable_on(self._state, node), key=lambda i: pods[i].key)

    def _evict(self, nodes: Sequence[int]) -> bool:
        """Evict what the budgets let; tell whether anything left."""
        any_left = False
        for node in nodes:
            for pod in self._pods_on(node):
                budgets = charged(self._moving.cluster, pod)
                if all(self._taken[budget.key] < budget.allowed for budget in budgets):
                    self._taken.update(budget.key for budget in budgets)
                    self._out[self._moving.replaced_by(pod)] = pod, node
                    self._found.changes += leave(self._state, pod)
                    any_left = True
        return any_left

    def _schedule(self) -> bool:
        """Place what waits, by priority; tell whether anything was placed."""
        pods = self._moving.cluster.pods
        any_placed = False
        for new in sorted(self._out, key=lambda i: (-pods[i].priority, i)):
            old, _ = self._out[new]
            node = self._choose(self._state, new, old)
            if node < 0:
                continue
            bind = Bind(new, node)
            apply_moves(self._moving.cluster, self._state, [bind])
            self._found.changes.append(bind)
            self._found.moves += 1
            self._taken.subtract(budget.key for budget in charged(self._moving.cluster, old))
            del self._out[new]
            any_placed = True
        return any_placed

    def _refuse(self, pods: Sequence[int]) -> None:
        for pod in pods:
            full: Iterator[str] = (
                budget.key
                for budget in charged(self._moving.cluster, pod)
                if self._taken[budget.key] >= budget.allowed
            )
            self._found.refused[pod] = int(self._state.node_of[pod]), next(full)
