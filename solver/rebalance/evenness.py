"""How even loads can become by so many moves, pods looked at as if all were alike.

The squared load of a node of k pods falls by 2k − 1 with the pod that leaves, then by 2k − 3, and so on; it
rises by 2k + 1 with the pod that comes, then by 2k + 3. With m moves the sum falls by no more than the m
largest of the first less the m smallest of the second: a node that is among both gains less than it costs.
Pods that may not move stay, and a node takes pods up to its slots, if any class of those that move may stand
there; every other rule is left out, so what holds here holds of every plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...encoders.moves import leavers_of

if TYPE_CHECKING:
    from ...encoders.problem import Problem


def least_squares(problem: Problem, most: int) -> list[int]:
    """Return the least sum of squared loads after 0, 1, ... moves, as long as it falls.

    Parameters
    ----------
    most : int
        Most moves.
    """
    cluster = problem.cluster
    movable = np.zeros(cluster.n_nodes, dtype=np.int64)
    for v in problem.victims:
        movable[v.node] += v.size
    fixed = np.bincount(problem.state.node_of[list(problem.fixed_pods)], minlength=cluster.n_nodes)
    loads = fixed + movable
    reached = np.zeros(cluster.n_nodes, dtype=np.bool_)
    for index in leavers_of(problem):
        reached |= problem.classes[index].mask
    most = min(most, int(movable.sum()))
    gains = [
        2 * k - 1 - 2 * j for k, m in zip(loads.tolist(), movable.tolist(), strict=True) for j in range(m)
    ]
    slots = np.where(reached, np.clip(cluster.allowed_pods - loads, 0, most), 0)
    costs = [2 * k + 1 + 2 * j for k, s in zip(loads.tolist(), slots.tolist(), strict=True) for j in range(s)]
    gains.sort(reverse=True)
    costs.sort()
    found = [int((loads**2).sum())]
    for gain, cost in zip(gains[:most], costs[:most], strict=False):
        if gain <= cost:
            break
        found.append(found[-1] - gain + cost)
    return found
