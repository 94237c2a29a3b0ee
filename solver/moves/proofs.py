"""Proofs that no order of a drain exists, in the order of what they cost.

In a rolling drain one node is the first that is empty. Until then everything that is not on it, and not on a
node that is closed with it, stands where it stood, and what leaves a closed node frees nothing that may be
used. So where each node by itself has too little room elsewhere, no order exists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...models.drain import Obstacle
from .every_order import EveryOrder
from .obstacles import closed_budgets, lack_of_room, unmovable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from ...framework.state.moves import Change
    from ...framework.state.state import State
    from .task import Task

    Proof = Callable[[State, tuple[int, ...], list[int]], Obstacle | None]
    """Why some nodes, given with their pods, cannot be empty before any others."""

    MostPlaces = Callable[[State, Collection[int], Collection[int]], int]
    """The most pods that have a place at once, given the nodes that are closed."""


def certain_obstacles(task: Task) -> tuple[Obstacle, ...]:
    """Return what counting alone proves: pods that may not move, budgets, sums of room."""
    moving = task.moving
    found: list[Obstacle] = []
    if not task.options.leave_unmovable:
        found += unmovable(moving, task.nodes)
    found += closed_budgets(moving, task.pods)

    def sums(state: State, nodes: tuple[int, ...], pods: list[int]) -> Obstacle | None:
        open_ = np.ones(moving.cluster.n_nodes, dtype=np.bool_)
        open_[[*nodes, *task.shut]] = False
        short = lack_of_room(moving, state, pods, open_)
        if short is None:
            return None
        return _no_room(task, nodes, short[0]).model_copy(update={"shortage": short[1]})

    return (*found, *_of_all_firsts(task, sums))


def searched_obstacles(task: Task, most_places: MostPlaces) -> tuple[Obstacle, ...]:
    """Return what the solver proves about room; empty where it does not."""

    def search(state: State, nodes: tuple[int, ...], pods: list[int]) -> Obstacle | None:
        most = most_places(state, pods, {*nodes, *task.shut})
        if most >= len(pods):
            return None
        return _no_room(task, nodes, pods).model_copy(update={"fit": most})

    return tuple(_of_all_firsts(task, search))


def tried_orders(task: Task) -> tuple[tuple[Change, ...] | None, tuple[Obstacle, ...]]:
    """Go through all orders of a small drain; return one that holds, or the obstacle that none does."""
    found = EveryOrder(task).run()
    if found.changes is not None or not found.proven:
        return found.changes, ()
    pods = task.moving.cluster.pods
    return None, (
        Obstacle(
            kind="order",
            pods=tuple(pods[i].key for i in task.pods),
            nodes=tuple(map(task.name, task.nodes)),
        ),
    )


def _of_all_firsts(task: Task, prove: Proof) -> Iterator[Obstacle]:
    """Yield a proof for each set of nodes of which one has to be empty first; none unless all have one."""
    state = task.start()
    found: list[Obstacle] = []
    for nodes in [(n,) for n in task.nodes] if task.rolling else [task.nodes]:
        pods = [i for n in nodes for i in task.movable_on(state, n)]
        proof = prove(state, nodes, pods) if pods else None
        if proof is None:
            return
        found.append(proof)
    yield from found


def _no_room(task: Task, nodes: tuple[int, ...], pods: Collection[int]) -> Obstacle:
    keys = [info.key for info in task.moving.cluster.pods]
    return Obstacle(kind="room", pods=tuple(keys[i] for i in pods), nodes=tuple(map(task.name, nodes)))
