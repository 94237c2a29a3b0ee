"""Plans of moves by simple rules: what users have today, and where the search begins."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...framework.cycle.runtime import framework_for
from ...framework.measures.group_rules import nodes_for_member
from ...framework.state.moves import Bind, Leave, Mark
from ..plans.apply import apply_moves
from .value import free_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...encoders.problem import Problem
    from ...framework.state.moves import Move
    from ...framework.state.state import State
    from ...framework.vocabulary.arrays import Bools


class Choice(Protocol):
    """Chooses the node of a pod among some that are open; -1 for none."""

    def __call__(self, problem: Problem, state: State, pod: int, within: Bools) -> int:
        """Return the node."""


def first(problem: Problem, state: State, pod: int, within: Bools) -> int:
    """Choose the first node that passes."""
    feasible = framework_for(problem.cluster, pod).bindable(state, pod)
    feasible = feasible[within[feasible]]
    return int(feasible[0]) if len(feasible) else -1


def tightest(problem: Problem, state: State, pod: int, within: Bools) -> int:
    """Choose the node with the least room left, as a share of what it has."""
    feasible = framework_for(problem.cluster, pod).bindable(state, pod)
    feasible = feasible[within[feasible]]
    if len(feasible) == 0:
        return -1
    size = np.maximum(problem.cluster.allocatable[:2, feasible], 1).astype(float)
    left = 1 - state.requested[:2, feasible].astype(float) / size
    return int(feasible[np.argmin(left.sum(axis=0))])


def one_at_a_time(
    problem: Problem, choose: Choice = first, until: float | None = None, begin: Sequence[Move] = ()
) -> tuple[Move, ...]:
    """Empty one node after the other, the one first whose pods are least, if all its pods go elsewhere.

    It is how Karpenter consolidates by single nodes: a node is emptied whole or left alone, none that was
    emptied takes a pod again, and pods go to the first node that takes them. With prices the load is looked
    at by price. No pod moves twice, so a node that took one stays.

    Parameters
    ----------
    until : float, optional
        When to stop, on the monotonic clock.
    begin : sequence of Move
        What is done first: pods that wait are bound.
    """
    mobility = problem.mobility
    assert mobility is not None
    state = problem.state.copy()
    apply_moves(problem.cluster, state, begin)
    moves = list(begin)
    open_nodes = ~free_nodes(problem.cluster, mobility, state)
    taken = {step.node for step in begin if isinstance(step, Bind)}
    most = mobility.limit
    for node, pods in candidates(problem):
        if until is not None and time.monotonic() > until:
            break
        if node in taken or len(pods) > most:
            continue
        open_nodes[node] = False
        trial = state.copy()
        steps = emptied(problem, trial, pods, open_nodes, choose)
        if steps is None:
            open_nodes[node] = True
            continue
        state = trial
        moves += steps
        most -= len(pods)
        taken.update(step.node for step in steps if isinstance(step, Bind))
    return tuple(moves)


def these_emptied(problem: Problem, nodes: Sequence[int], until: float) -> tuple[Move, ...]:
    """Empty some nodes, the least loaded first, into all others, where there is least room left.

    A node of which some pod finds no place is left alone.

    Parameters
    ----------
    until : float
        When to stop, on the monotonic clock.
    """
    mobility = problem.mobility
    assert mobility is not None
    state = problem.state.copy()
    moves: list[Move] = []
    open_nodes = np.ones(problem.cluster.n_nodes, dtype=np.bool_)
    open_nodes[list(nodes)] = False
    wanted = frozenset(nodes)
    most = mobility.limit
    for node, pods in candidates(problem):
        if time.monotonic() > until:
            break
        if node not in wanted or len(pods) > most:
            continue
        trial = state.copy()
        steps = emptied(problem, trial, pods, open_nodes, tightest)
        if steps is not None:
            state = trial
            moves += steps
            most -= len(pods)
    return tuple(moves)


def emptied(
    problem: Problem, state: State, pods: list[int], within: Bools, choose: Choice
) -> list[Move] | None:
    """Move some pods of a node to others, in batches that budgets admit; None where one finds no node.

    The state is changed.
    """
    mobility = problem.mobility
    assert mobility is not None
    moves: list[Move] = []
    waiting = list(pods)
    while waiting:
        batch = list(_batch(problem, waiting))
        if not batch:
            return None
        gone = set(batch)
        waiting = [i for i in waiting if i not in gone]
        for i in batch:
            state.mark(i)
            state.remove(i)
            moves += [Mark(i), Leave(i)]
        for i in batch:
            made = mobility.successors[i]
            node = choose(problem, state, made, within & nodes_for_member(problem.cluster, state, made))
            if node < 0:
                return None
            step = Bind(made, node)
            apply_moves(problem.cluster, state, [step])
            moves.append(step)
    return moves


def _batch(problem: Problem, pods: list[int]) -> Iterator[int]:
    """Yield the pods that may be away together, the first ones first."""
    mobility = problem.mobility
    assert mobility is not None
    room = list(mobility.allowed)
    for i in pods:
        charged = mobility.charges[i]
        if all(room[b] > 0 for b in charged):
            for b in charged:
                room[b] -= 1
            yield i


def candidates(problem: Problem) -> Iterator[tuple[int, list[int]]]:
    """Yield the nodes that may be emptied with their pods, the least loaded and the largest first."""
    mobility, cluster = problem.mobility, problem.cluster
    assert mobility is not None
    on_node: dict[int, list[int]] = {}
    for i in mobility.successors:
        on_node.setdefault(int(problem.state.node_of[i]), []).append(i)
    size = np.maximum(cluster.allocatable, 1).astype(float)

    def load(node: int) -> float:
        used = sum((cluster.usage[i] for i in on_node[node]), np.zeros(len(cluster.resources)))
        share = float((used / size[:, node])[:2].max())
        return share if mobility.prices is None else share / max(float(mobility.prices[node]), 1e-9)

    for node in sorted((n for n in on_node if not mobility.kept[n]), key=lambda n: (load(n), n)):
        yield (
            node,
            sorted(on_node[node], key=lambda i: (-cluster.pods[i].priority, -int(cluster.usage[i][0]), i)),
        )
