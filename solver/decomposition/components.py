"""Independent parts of a round: pods and nodes that nothing ties to the rest.

Two things belong to one part when a chain of ties joins them. A tie is

- a node and each class that may stand there (resources, ports, disks, limits, preemption);
- what can matter to each other on different nodes by a family (`Family.ties`): carriers of a constraint and
  what it counts, members of a group, victims of a budget, users of a claim;
- what a preference adds to that (`Preference.ties`);
- what an order must look at together (`solver.ordering.components`).

What cannot change (running pods that no plan evicts, nodes where no pending pod can be placed) ties nothing:
it is a constant on both sides. So the filters of a pod of one part never see a step of another part, and the
admissible plans of the round are exactly the unions of one admissible plan for each part, interleaved in any
way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...encoders import ENCODERS, PREFERENCES
from ...encoders.family import Tie
from ..ordering.components import Relations

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...encoders.problem import PodClass, Problem


@dataclass(frozen=True)
class Part:
    """Pods of the queue that can be planned independently of the others.

    Attributes
    ----------
    pods : tuple of int
        Pods of the queue, by number.
    nodes : frozenset of int
        Where they may stand.
    weight : int
        Pairs of a class and a node: the size of the model, roughly.
    own_moves : bool
        Whether moves without a pod belong here: claims are deallocated.
    """

    pods: tuple[int, ...]
    nodes: frozenset[int]
    weight: int
    own_moves: bool = False

    def __or__(self, other: Part) -> Part:
        return Part(
            tuple(sorted((*self.pods, *other.pods))),
            self.nodes | other.nodes,
            self.weight + other.weight,
            self.own_moves or other.own_moves,
        )


def find_parts(problem: Problem, prefer: str = "none") -> list[Part]:
    """Divide a round, the smallest part first; pods that can stand nowhere are parts of their own."""
    ties = _Ties(problem.cluster.n_nodes, len(problem.classes))
    for cls in problem.classes:
        ties.join([cls], np.flatnonzero(cls.mask).tolist())
    for classes, victims in _ties(problem, prefer):
        if ties.one:
            break  # most clusters are one by their nodes already
        ties.join(classes, [v.node for v in victims])
    found = []
    for classes, nodes in ties.components(problem.classes):
        pods = tuple(sorted(i for c in classes for i in c.pods))
        own_moves = any(family.own_moves(problem, c) for c in classes for family in ENCODERS)
        weight = sum(int(c.mask.sum()) for c in classes)
        found.append(Part(pods, frozenset(nodes), weight, own_moves))
    return sorted(found, key=lambda part: (part.weight, part.pods))


def merged(parts: Iterable[Part], least: int) -> list[Part]:
    """Put small parts together until each has at least this weight: starting a search has a price."""
    found: list[Part] = []
    heap: Part | None = None
    for part in parts:
        heap = part if heap is None else heap | part
        if heap.weight >= least:
            found.append(heap)
            heap = None
    if heap is not None:
        if found:
            heap |= found.pop()
        found.append(heap)
    return found


class _Ties:
    """Components of nodes and classes under construction, as one label for each."""

    def __init__(self, nodes: int, classes: int) -> None:
        self._nodes = nodes
        self._label = np.arange(nodes + classes)

    def join(self, classes: Iterable[PodClass], nodes: Iterable[int]) -> None:
        """Make one component of all that is given."""
        members = [*nodes, *(self._nodes + c.index for c in classes)]
        labels = np.unique(self._label[members])
        if len(labels) > 1:
            self._label[np.isin(self._label, labels)] = labels[0]

    @property
    def one(self) -> bool:
        """Whether all classes are one component."""
        return len(np.unique(self._label[self._nodes :])) <= 1

    def components(self, classes: Iterable[PodClass]) -> Iterator[tuple[list[PodClass], list[int]]]:
        """Yield classes and nodes of each component that has a class."""
        members: dict[int, list[PodClass]] = {}
        for cls in classes:
            members.setdefault(int(self._label[self._nodes + cls.index]), []).append(cls)
        for label, found in members.items():
            yield found, np.flatnonzero(self._label[: self._nodes] == label).tolist()


def _ties(problem: Problem, prefer: str) -> Iterator[Tie]:
    """Yield what the families and the preference tie, and what an order ties."""
    for family in ENCODERS:
        yield from family.ties(problem)
    if prefer in PREFERENCES:
        yield from PREFERENCES[prefer].ties(problem)
    for component in Relations(problem).components:
        yield Tie(
            [problem.classes[c] for c in component.classes],
            [problem.victims[v] for v in component.victims],
        )
