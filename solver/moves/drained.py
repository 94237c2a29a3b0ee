"""A drain's steps: their check as a drain, and their words.

The check knows the steps alone: they are replayed, every node of the drain is closed and then empty, and of a
rolling one no more are drained at a time than may be, and each comes back empty.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ...framework.state.moves import Bind, Cordon, Leave, Uncordon
from ...models.drain import Stage
from ...models.moves import Batch, Move
from ..plans.replay import ReplayFailure
from .replay import follow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ...framework.state.moves import Change
    from ...models.progress import Watch
    from .task import Task


def check_drained(task: Task, changes: Sequence[Change], watch: Watch) -> None:
    """Check that steps are those of a drain.

    Raises
    ------
    ReplayFailure
        Naming the first step or node that does not hold.
    """
    run = follow(task.moving, changes, task.shut, watch)
    fault = run.fault or next(faults_of_drain(task, changes), "")
    if fault:
        raise ReplayFailure(f"the drain fails its replay: {fault}")


def faults_of_drain(task: Task, changes: Sequence[Change]) -> Iterator[str]:
    """Yield where steps that are possible one by one are no drain of the task's nodes."""
    moving = task.moving
    where = {i: moving.cluster.pods[i].initial_node for i in moving.replacement}
    held = Counter(where.values())
    closed = set(task.shut)
    begun: set[int] = set()
    done: set[int] = set()
    for number, change in enumerate(changes):
        match change:
            case Cordon(node):
                closed.add(node)
                begun.add(node)
            case Leave(pod) if pod in where:
                home = where.pop(pod)
                held[home] -= 1
                begun.add(home)
                if home not in closed:
                    yield f"step {number} takes {moving.cluster.pods[pod].key} from a node that is open"
            case Bind(pod, node):
                held[node] += 1
                where[pod] = node
            case Uncordon(node):
                if held[node]:
                    yield f"step {number} takes {task.name(node)} back before it is empty"
                closed.discard(node)
                done.add(node)
        if task.rolling and len(begun - done) > task.rolling:
            yield f"step {number} has more than {task.rolling} nodes drained at a time"
    for node in task.nodes:
        if node not in done if task.rolling else held[node]:
            yield f"{task.name(node)} is not emptied"


def stages_of(task: Task, changes: Iterable[Change]) -> tuple[Stage, ...]:
    """Write down which nodes are drained together, and the batches of each stage.

    A batch is a longest run of marks and leaves before the next bind. A stage of a rolling drain ends when no
    node is being drained; any other drain is one stage.
    """
    talk = _Telling(task)
    for change in changes:
        talk.hear(change)
    return talk.stages()


class _Telling:
    """Stages and batches as the steps go by."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._where = {i: task.moving.cluster.pods[i].initial_node for i in task.moving.replacement}
        self._moves: list[tuple[int, int, int]] = []
        self._target: dict[int, int] = {}
        self._out: dict[int, int] = {}
        self._waiting: set[int] = set()
        self._stages: list[tuple[list[int], list[list[int]]]] = []
        self._nodes: dict[int, None] = {}
        self._active: set[int] = set()
        self._batches: list[list[int]] = []
        self._leaving = False

    def hear(self, change: Change) -> None:
        match change:
            case Cordon(node):
                self._begin(node)
            case Leave(pod) if pod in self._where:
                self._begin(self._where[pod])
                self._leave(pod)
            case Bind(pod, node):
                self._leaving = False
                self._where[pod] = node
                self._target[self._out.pop(pod)] = node
            case Uncordon(node):
                self._begin(node)
                self._active.discard(node)
                self._waiting.update(self._out.values())
                if not self._active:
                    self._end()

    def stages(self) -> tuple[Stage, ...]:
        if self._nodes:
            self._end()
        return tuple(
            Stage(
                nodes=tuple(map(self._task.name, nodes)),
                batches=tuple(Batch(moves=tuple(map(self._move, batch))) for batch in batches),
            )
            for nodes, batches in self._stages
        )

    def _begin(self, node: int) -> None:
        self._active.add(node)
        self._nodes[node] = None

    def _end(self) -> None:
        self._stages.append(([*self._nodes], self._batches))
        self._nodes, self._batches, self._leaving = {}, [], False

    def _leave(self, pod: int) -> None:
        if not self._leaving:
            self._batches.append([])
        self._leaving = True
        new = self._task.moving.replaced_by(pod)
        number = self._out[new] = len(self._moves)
        self._moves.append((pod, self._where[pod], new))
        self._batches[-1].append(number)

    def _move(self, number: int) -> Move:
        old, source, new = self._moves[number]
        pods, name = self._task.moving.cluster.pods, self._task.name
        return Move(
            pod=pods[old].key,
            source=name(source),
            replacement=pods[new].key,
            target=name(self._target[number]),
            waits=number in self._waiting,
        )
