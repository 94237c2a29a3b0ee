"""Pods that wait get in one by one: for each a node on which few pods have to move for it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import numpy as np

from ...framework.rules.groups import group_of
from ...framework.state.moves import Bind, Leave
from ..plans.apply import apply_moves, fits
from .starts import emptied, tightest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...encoders.problem import PodClass, Problem
    from ...framework.state.moves import Move
    from ...framework.state.state import State
    from ...framework.vocabulary.arrays import Ints

#: Nodes that are tried for one pod: those that lack least.
_TRIES: Final = 20


def room_made(problem: Problem, moves: Sequence[Move], until: float) -> tuple[Move, ...]:
    """Go on from a plan: let pods in that wait, each by moving few others within their budgets.

    Members of groups are left out: one of them alone may be none.

    Parameters
    ----------
    until : float
        When to stop, on the monotonic clock.
    """
    mobility = problem.mobility
    assert mobility is not None
    state, done = problem.state.copy(), list(moves)
    apply_moves(problem.cluster, state, moves)
    made = frozenset(mobility.successors.values())
    left = mobility.limit - sum(isinstance(move, Leave) for move in moves)
    for cls in sorted(problem.classes, key=lambda c: (-c.priority, c.index)):
        waiting = [i for i in cls.pods if i not in made and state.node_of[i] < 0]
        for pod in waiting if group_of(problem.cluster, cls.pod) is None else ():
            if time.monotonic() > until:
                return tuple(done)
            found = _let_in(problem, state, cls, pod, left)
            if found is None:
                break
            steps, state = found
            done += steps
            left -= sum(isinstance(move, Leave) for move in steps)
    return tuple(done)


def _let_in(
    problem: Problem, state: State, cls: PodClass, pod: int, left: int
) -> tuple[list[Move], State] | None:
    """Return the steps that let one pod in, and the state in which they end; None where no node was found."""
    everywhere = np.ones(problem.cluster.n_nodes, dtype=np.bool_)
    for node in _nodes(problem, state, cls):
        movers = _movers(problem, state, cls, node)
        if movers is None or len(movers) > left:
            continue
        trial = state.copy()
        everywhere[node] = False
        steps = emptied(problem, trial, movers, everywhere, tightest)
        everywhere[node] = True
        if steps is None or not fits(problem.cluster, trial, pod, node):
            continue
        step = Bind(pod, node)
        apply_moves(problem.cluster, trial, [step])
        return [*steps, step], trial
    return None


def _lacking(problem: Problem, state: State, cls: PodClass) -> Ints:
    """Return what each node lacks of each resource for one pod of a class; int64[R, N]."""
    free = problem.cluster.allocatable - state.requested
    asked = cls.request.reshape(-1, 1)
    return np.where(asked > 0, np.maximum(asked - free, 0), 0)


def _nodes(problem: Problem, state: State, cls: PodClass) -> Iterator[int]:
    """Yield the nodes where a pod of a class may stand, those that lack least first."""
    size = np.maximum(problem.cluster.allocatable, 1).astype(float)
    share = (_lacking(problem, state, cls) / size).max(axis=0)
    nodes = np.flatnonzero(cls.mask)
    yield from nodes[np.argsort(share[nodes], kind="stable")][:_TRIES].tolist()


def _movers(problem: Problem, state: State, cls: PodClass, node: int) -> list[int] | None:
    """Return pods whose room suffices together, none of them needless; None where all do not suffice."""
    usage = problem.cluster.usage
    lacking = _lacking(problem, state, cls)[:, node].copy()
    if not lacking.any():
        return []
    here = [p for v in problem.victims_on.get(node, ()) for p in v.pods if int(state.node_of[p]) == node]
    size = np.maximum(problem.cluster.allocatable[:, node], 1).astype(float)
    here.sort(key=lambda p: -float((np.minimum(usage[p], lacking) / size).sum()))
    chosen: list[int] = []
    for pod in here:
        if (lacking <= 0).all():
            break
        chosen.append(pod)
        lacking -= usage[pod]
    if (lacking > 0).any():
        return None
    for pod in list(chosen):
        if (lacking + usage[pod] <= 0).all():
            chosen.remove(pod)
            lacking += usage[pod]
    return chosen
