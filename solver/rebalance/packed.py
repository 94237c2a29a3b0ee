"""A plan from patterns: each taken by the node where most of it stands already, then put in an order."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ...framework.state.moves import Bind
from ..plans.apply import apply_moves
from .assignment import Relocations
from .order import greedy_order
from .starts import emptied, tightest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...encoders.problem import Problem
    from ...framework.state.moves import Move
    from ...framework.state.state import State
    from ...framework.vocabulary.arrays import Bools
    from .order import MoveOrder
    from .packing import Packing
    from .patterns import NodeType, Pattern


def packed(problem: Problem, packing: Packing, chosen: Sequence[Mapping[Pattern, int]]) -> tuple[Move, ...]:
    """Return a plan that takes patterns as far as every filter and every budget lets it.

    Who finds no place as the patterns have it goes where there is least room left, or stays.
    """
    standing = _standing(problem)
    taken: dict[int, Pattern] = {}
    for kind, often in zip(packing.types, chosen, strict=True):
        taken.update(_handed_out(kind, often, standing))
    order = greedy_order(problem, _relocations(problem, standing, taken))
    if order.done:
        return tuple(order.moves)
    nodes = np.zeros(problem.cluster.n_nodes, dtype=np.bool_)
    nodes[list(taken)] = True
    return _finished(problem, order, nodes)


def _standing(problem: Problem) -> list[dict[int, list[int]]]:
    """Of each node, the pods that may move, by the class of what comes in their place."""
    mobility = problem.mobility
    assert mobility is not None
    class_of = {i: c.index for c in problem.classes for i in c.pods}
    found: list[dict[int, list[int]]] = [{} for _ in range(problem.cluster.n_nodes)]
    for pod, made in mobility.successors.items():
        found[int(problem.state.node_of[pod])].setdefault(class_of[made], []).append(pod)
    return found


def _handed_out(
    kind: NodeType, often: Mapping[Pattern, int], standing: Sequence[Mapping[int, Sequence[int]]]
) -> dict[int, Pattern]:
    """Give each pattern to a node, the best matches first; nodes that somebody keeps stay as they are."""
    left = Counter({pattern: number for pattern, number in often.items() if pattern})
    pairs = [
        (sum(min(number, len(standing[node].get(c, ()))) for c, number in pattern), place, node)
        for place, pattern in enumerate(left)
        for node in kind.nodes
    ]
    patterns = list(left)
    found: dict[int, Pattern] = {}
    for _, place, node in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
        pattern = patterns[place]
        if node not in found and left[pattern] > 0:
            left[pattern] -= 1
            found[node] = pattern
    if kind.kept:
        for node in kind.nodes:
            here = tuple(sorted((c, len(pods)) for c, pods in standing[node].items()))
            found.setdefault(node, here)
    return found


def _relocations(
    problem: Problem, standing: Sequence[Mapping[int, Sequence[int]]], taken: Mapping[int, Pattern]
) -> Relocations:
    """Return who leaves, and where they go: patterns may have room for more than there are."""
    leaving: list[int] = []
    due: Counter[int] = Counter()
    for node, here in enumerate(standing):
        wanted = dict(taken.get(node, ()))
        for c, pods in here.items():
            gone = pods[wanted.get(c, 0) :]
            leaving += gone
            due[c] += len(gone)
    counts: Counter[tuple[int, int]] = Counter()
    for node, pattern in taken.items():
        for c, number in pattern:
            come = min(due[c], number - len(standing[node].get(c, ())))
            if come > 0:
                counts[c, node] = come
                due[c] -= come
    return Relocations(tuple(sorted(leaving)), counts)


def _finished(problem: Problem, order: MoveOrder, nodes: Bools) -> tuple[Move, ...]:
    """Place who is away where there is least room left, then try to empty the other nodes one by one.

    Where somebody who is away finds no place, the plan goes back to when nobody was.
    """
    mobility = problem.mobility
    assert mobility is not None
    moves, state = list(order.moves), order.state.copy()
    for made in [i for pods in order.away.values() for i in pods]:
        step = _step(problem, state, made, nodes)
        if step is None:
            moves = order.moves[: order.clean]
            state = problem.state.copy()
            apply_moves(problem.cluster, state, moves)
            break
        apply_moves(problem.cluster, state, [step])
        moves.append(step)
    for node in np.flatnonzero(~nodes).tolist():
        pods = [i for i in mobility.successors if int(state.node_of[i]) == node]
        trial = state.copy()
        more = emptied(problem, trial, pods, nodes, tightest) if pods else []
        if more:
            moves += more
            state = trial
    return tuple(moves)


def _step(problem: Problem, state: State, made: int, nodes: Bools) -> Bind | None:
    node = tightest(problem, state, made, nodes)
    return None if node < 0 else Bind(made, node)
