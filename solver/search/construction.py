"""Plans to start from, beside the one in queue order: what is left of greedy's, and small pods first.

Every plan comes from the framework's own filters, step by step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...framework.state.moves import Deallocate, bound_nodes, pods_leaving
from ..ordering.decoding import complete, salvage
from ..plans.nominations import derive_nominations
from ..plans.replay import inadmissible

if TYPE_CHECKING:
    from ...encoders.problem import Problem
    from ...framework.state.state import State
    from ...framework.vocabulary.arrays import Ints
    from ..plans.outcome import Outcome

# How much more a resource counts that is asked for more: the ratio of what is asked and what is free, to this
# power.
SCARCITY = 4


def standing(problem: Problem, outcome: Outcome) -> Outcome | None:
    """Give an admissible outcome in a plan's own terms; of another one what stands by itself, if anything."""
    if not outcome.admissible:
        return repaired(problem, outcome)
    return derive_nominations(problem.cluster, problem.state, outcome.moves, outcome.allocations)


def repaired(problem: Problem, outcome: Outcome) -> Outcome | None:
    """Keep of an inadmissible outcome what stands by itself, and bind what still fits.

    Left out are pods that were bound and evicted, evictions that nobody's coming justifies, and whoever has
    no room then.
    """
    undone = bound_nodes(outcome.moves).keys() & pods_leaving(outcome.moves)
    moves = [move for move in outcome.moves if isinstance(move, Deallocate) or move.pod not in undone]
    kept = salvage(problem, moves, outcome.allocations)
    found = complete(problem, kept, outcome.allocations)
    return None if any(True for _ in inadmissible(problem.cluster, found.moves)) else found


def small_first(problem: Problem, until: float) -> Outcome:
    """Bind the small pods of each priority first, each where it leaves the least of what is scarce.

    Small is who asks for little of the resources of which much is asked for.  Nobody is evicted.
    """
    weights = _weights(problem)
    size = {c.index: float(weights @ c.request) for c in problem.classes}
    order = [i for c in sorted(problem.classes, key=lambda c: (-c.priority, size[c.index])) for i in c.pods]

    def choose(state: State, _: int, nodes: Ints) -> int:
        left = problem.cluster.allocatable[:, nodes] - state.requested[:, nodes]
        return int(nodes[np.argmin(weights @ left)])

    return complete(problem, (), order=order, choose=choose, until=until)


def _weights(problem: Problem) -> np.ndarray:
    """Worth of one unit of each resource."""
    free = np.maximum(problem.free_now, 0).sum(axis=1).astype(float)
    asked = np.zeros(len(free))
    for cls in problem.classes:
        asked += cls.request.astype(float) * cls.size
    free[free <= 0] = np.inf
    return np.asarray((asked / free) ** SCARCITY / free)
