"""A solution of the model as pods: who leaves, and how many of which class go to which node."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...encoders.moves import leavers_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...encoders.problem import Problem
    from ..model.solution import Solution


@dataclass(frozen=True)
class Relocations:
    """Who leaves, and where pods of each class go.

    Attributes
    ----------
    leaving : tuple of int
        Running pods, by index.
    counts : dict
        (class, node) -> how many come: successors of who left, and pods that wait.
    """

    leaving: tuple[int, ...]
    counts: Mapping[tuple[int, int], int]


def relocations(problem: Problem, solution: Solution, *, cancel: bool = True) -> Relocations:
    """Name who leaves in a solution.

    Parameters
    ----------
    cancel : bool
        Whether a pod stays where one of its class would come to its node: the end is the same.
    """
    counts = Counter(solution.counts)
    leaving = Counter(solution.leaving)
    for index, victims in leavers_of(problem).items() if cancel else ():
        for v in victims:
            both = min(leaving[v.index], counts[index, v.node])
            leaving[v.index] -= both
            counts[index, v.node] -= both
    gone = sorted(pod for v in problem.victims for pod in v.pods[: leaving[v.index]])
    return Relocations(tuple(gone), {key: number for key, number in sorted(counts.items()) if number})


def overlaps(problem: Problem, solution: Solution) -> bool:
    """Whether a pod leaves a node to which one of its class comes."""
    return any(
        solution.leaving.get(v.index, 0) and solution.counts.get((index, v.node), 0)
        for index, victims in leavers_of(problem).items()
        for v in victims
    )
