"""Proofs that no order of a drain exists, in the order of what they cost.

In a rolling drain one node is the first that comes back. Until then everything that is not on it, and not on
a node that is closed with it, stands where it stood, and what leaves a closed node frees nothing that may be
used. So where for each node by itself more of its pods have no room elsewhere than may be away, no order
exists.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...framework.rules.eviction_budgets import charged
from ...framework.rules.groups import group_of
from ...models.drain import Obstacle
from .every_order import EveryOrder
from .obstacles import closed_budgets, lack_of_places, lack_of_room, unmovable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from ...framework.state.moves import Change
    from ...framework.state.state import State
    from .task import Task

    Proof = Callable[[State, tuple[int, ...], "Need"], Obstacle | None]
    """Why some nodes cannot be empty before any others, since a need of their pods cannot be met."""

    MostPlaces = Callable[[State, Collection[int], Collection[int]], int]
    """The most pods that have a place at once, given the nodes that are closed."""


class Need(NamedTuple):
    """That at least so many of some pods have places elsewhere, since their budget lets no more be away."""

    pods: list[int]
    number: int
    budget: str | None = None


def certain_obstacles(task: Task) -> tuple[Obstacle, ...]:
    """Return what counting alone proves: pods that may not move, budgets, sums of room."""
    moving = task.moving
    found: list[Obstacle] = []
    if not task.options.leave_unmovable:
        found += unmovable(moving, task.nodes)
    found += closed_budgets(moving, task.pods)

    def sums(state: State, nodes: tuple[int, ...], need: Need) -> Obstacle | None:
        open_ = np.ones(moving.cluster.n_nodes, dtype=np.bool_)
        open_[[*nodes, *task.shut]] = False
        short = lack_of_places(moving, state, need.pods, need.number, open_)
        if short is not None:
            return _no_room(task, nodes, need).model_copy(update={"shortage": short})
        if need.number < len(need.pods):
            return None
        found = lack_of_room(moving, state, need.pods, open_)
        if found is None:
            return None
        some = Need(found[0], len(found[0]), need.budget)
        return _no_room(task, nodes, some).model_copy(update={"shortage": found[1]})

    return (*found, *_of_all_firsts(task, sums))


def searched_obstacles(task: Task, most_places: MostPlaces) -> tuple[Obstacle, ...]:
    """Return what the solver proves about room; empty where it does not."""

    def search(state: State, nodes: tuple[int, ...], need: Need) -> Obstacle | None:
        most = most_places(state, need.pods, {*nodes, *task.shut})
        return _no_room(task, nodes, need).model_copy(update={"fit": most}) if most < need.number else None

    return tuple(_of_all_firsts(task, search))


def tried_orders(task: Task) -> tuple[tuple[Change, ...] | None, tuple[Obstacle, ...]]:
    """Go through all orders of a small drain; return one that holds, or the obstacle that none does."""
    found = EveryOrder(task).run()
    if found.changes is not None or not found.proven or _leavers_may_help(task):
        return found.changes, ()
    pods = task.moving.cluster.pods
    return None, (
        Obstacle(
            kind="order",
            pods=tuple(pods[i].key for i in task.pods),
            nodes=tuple(map(task.name, task.nodes)),
        ),
    )


def _leavers_may_help(task: Task) -> bool:
    """Whether a pod that terminates may be needed until it has gone: these orders begin without it.

    It takes room, keeps others apart and no longer counts for spread, so that whatever passes beside it
    passes without it, but for what asks to be beside it. Groups and devices are not looked into.
    """
    cluster = task.moving.cluster
    asked = [
        term for new in task.moving.replacement.values() for term in cluster.pods[new].terms.required_affinity
    ]
    return any(
        info.pod.spec.resource_claims
        or group_of(cluster, info.index) is not None
        or any(term.matches(info.namespace, info.labels) for term in asked)
        for info in (cluster.pods[step.pod] for step in task.first_steps)
    )


def _of_all_firsts(task: Task, prove: Proof) -> Iterator[Obstacle]:
    """Yield a proof for each set of nodes of which one has to be empty first; none unless all have one."""
    state = task.start()
    found: list[Obstacle] = []
    for nodes in [(n,) for n in task.nodes] if task.rolling else [task.nodes]:
        pods = [i for n in nodes for i in task.movable_on(state, n)]
        proofs = (prove(state, nodes, need) for need in _needs(task, pods))
        proof = next((each for each in proofs if each is not None), None)
        if proof is None:
            return
        found.append(proof)
    yield from found


def _needs(task: Task, pods: list[int]) -> Iterator[Need]:
    """Yield how many of which pods have a place elsewhere when their nodes are empty.

    Those of a drain that is not rolling are all bound in the end. Until the first node of a rolling one comes
    back, no more pods of a budget are away than it allows.
    """
    if not task.rolling:
        if pods:
            yield Need(pods, len(pods))
        return
    covered: dict[str, list[int]] = defaultdict(list)
    allowed: dict[str, int] = {}
    for i in pods:
        for budget in charged(task.moving.cluster, i):
            covered[budget.key].append(i)
            allowed[budget.key] = budget.allowed
    for key, those in covered.items():
        if len(those) > allowed[key]:
            yield Need(those, len(those) - allowed[key], key)


def _no_room(task: Task, nodes: tuple[int, ...], need: Need) -> Obstacle:
    keys = [info.key for info in task.moving.cluster.pods]
    return Obstacle(
        kind="room",
        pods=tuple(keys[i] for i in need.pods),
        nodes=tuple(map(task.name, nodes)),
        budget=need.budget,
        needed=need.number,
    )
