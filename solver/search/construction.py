"""Constructive heuristics: repair of greedy's outcome, and the smallest pods first.

Every plan is built by the framework's own filters, step by step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...framework.state.moves import Deallocate, bound_nodes, pods_leaving
from ..ordering.decoding import complete, salvage
from ..plans.nominations import derive_nominations
from ..plans.replay import inadmissible
from .params import DEFAULT

if TYPE_CHECKING:
    from ...encoders.problem import Problem
    from ...framework.state.state import State
    from ...framework.vocabulary.arrays import Ints
    from ..ordering.decoding import Completed
    from ..plans.outcome import Outcome


def repair(problem: Problem, outcome: Outcome) -> Outcome | None:
    """Return an admissible outcome in a plan's own terms; if inadmissible, what can be repaired, or None."""
    if not outcome.admissible:
        return admissible_part(problem, outcome)
    return derive_nominations(problem.cluster, problem.state, outcome.moves, outcome.allocations)


def admissible_part(problem: Problem, outcome: Outcome) -> Outcome | None:
    """Return the admissible part of an outcome, with the pods that fit beside it; None where there is none.

    Pods that were bound and evicted, evictions without a preemptor, and pods that no longer fit are left out.
    """
    undone = bound_nodes(outcome.moves).keys() & pods_leaving(outcome.moves)
    moves = [move for move in outcome.moves if isinstance(move, Deallocate) or move.pod not in undone]
    kept = salvage(problem, moves, outcome.allocations)
    found = complete(problem, kept, outcome.allocations).outcome
    return None if any(True for _ in inadmissible(problem.cluster, found.moves)) else found


def smallest_first(problem: Problem, until: float, scarcity: float = DEFAULT.scarcity) -> Completed:
    """Bind the smallest pods of each priority first, each where the least of the scarce resources is left.

    Size weights each resource by its scarcity. No pod is evicted.
    """
    weights = _weights(problem, scarcity)
    size = {c.index: float(weights @ c.request) for c in problem.classes}
    order = [i for c in sorted(problem.classes, key=lambda c: (-c.priority, size[c.index])) for i in c.pods]

    def choose(state: State, _: int, nodes: Ints) -> int:
        left = problem.cluster.allocatable[:, nodes] - state.requested[:, nodes]
        return int(nodes[np.argmin(weights @ left)])

    return complete(problem, (), order=order, choose=choose, until=until)


def _weights(problem: Problem, scarcity: float) -> np.ndarray:
    """Weight of one unit of each resource."""
    free = np.maximum(problem.free_now, 0).sum(axis=1).astype(float)
    asked = np.zeros(len(free))
    for cls in problem.classes:
        asked += cls.request.astype(float) * cls.size
    free[free <= 0] = np.inf
    return np.asarray((asked / free) ** scarcity / free)
