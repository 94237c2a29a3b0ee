"""Independent parts of a round: pods and nodes that nothing ties to the rest.

Two things belong to one part when a chain of ties joins them.  A tie is

- a node and each class that may stand there (resources, ports, disks, limits, who preempts whom);
- a spread constraint: the classes that carry it, and whatever may come or go that it counts;
- an affinity or anti-affinity term: its carriers, pending or evictable, and whatever it matches;
- a pod group: its pending and its evictable members;
- a budget that all its evictable pods together would exceed;
- volumes and claims: who uses one, or may have one bound; all who need devices are one part;
- a soft criterion of the same kinds, where ``--prefer scores`` asks for it.

What cannot change (running pods that no plan evicts, nodes where nobody can land) ties nothing: it is a
constant on both sides.  So the filters of a pod of one part never see a step of another part, and the
admissible plans of the round are exactly the unions of one admissible plan for each part, interleaved in any
way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...encoders.pod_groups import classes_of
from ...encoders.topology_spread import spread_groups
from ...framework.dra.index import device_index
from ...framework.measures.preferences import schedule_anyway
from ...framework.rules.affinity import (
    matches_all,
    matches_existing,
    matches_incoming,
    preferred_affinity,
    preferred_anti_affinity,
    required_affinity,
    required_anti_affinity,
)
from ...framework.rules.groups import groups
from ...framework.rules.spread import fallen_back_constraints, hard_constraints
from ...framework.volumes.uses import uses_of
from ..ordering.components import Relations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ...encoders.problem import PodClass, Problem, VictimClass


@dataclass(frozen=True)
class Part:
    """Pods of the queue that can be planned without looking at the others.

    Attributes
    ----------
    pods : tuple of int
        Pods of the queue, by number.
    nodes : frozenset of int
        Where they may stand.
    weight : int
        Pairs of a class and a node: the size of the model, roughly.
    devices : bool
        Whether some of them need devices.
    """

    pods: tuple[int, ...]
    nodes: frozenset[int]
    weight: int
    devices: bool = False

    def __or__(self, other: Part) -> Part:
        return Part(
            tuple(sorted((*self.pods, *other.pods))),
            self.nodes | other.nodes,
            self.weight + other.weight,
            self.devices or other.devices,
        )


def find_parts(problem: Problem, prefer: str = "none") -> list[Part]:
    """Divide a round, the smallest part first; pods that can stand nowhere are parts of their own."""
    cluster = problem.cluster
    ties = _Ties(cluster.n_nodes, len(problem.classes))
    for cls in problem.classes:
        ties.join([cls], np.flatnonzero(cls.mask).tolist())
    for classes, victims in _relations(problem, prefer):
        if ties.one:
            break  # most clusters are one by their nodes already
        ties.join(classes, [v.node for v in victims])
    index = device_index(cluster)
    found = []
    for classes, nodes in ties.components(problem.classes):
        pods = tuple(sorted(i for c in classes for i in c.pods))
        devices = index is not None and any(index.needs_devices(c.pod) for c in classes)
        weight = sum(int(c.mask.sum()) for c in classes)
        found.append(Part(pods, frozenset(nodes), weight, devices))
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


Tie = tuple["list[PodClass] | tuple[PodClass, ...]", "list[VictimClass] | tuple[VictimClass, ...]"]


def _relations(problem: Problem, prefer: str) -> Iterator[Tie]:
    yield from _spread(problem, soft=prefer == "scores")
    yield from _affinity(problem, soft=prefer == "scores")
    for component in Relations(problem).components:
        yield (
            [problem.classes[c] for c in component.classes],
            [problem.victims[v] for v in component.victims],
        )
    yield from _groups(problem)
    yield from _budgets(problem)
    yield from _volumes(problem)
    yield from _devices(problem)


def _spread(problem: Problem, *, soft: bool) -> Iterator[Tie]:
    for constraints_of in (hard_constraints, fallen_back_constraints, *([schedule_anyway] if soft else ())):
        for group in spread_groups(problem, constraints_of):
            yield [*group.carriers, *group.matching.classes], group.matching.victims


def _affinity(problem: Problem, *, soft: bool) -> Iterator[Tie]:
    cluster = problem.cluster

    def tie(carrier: PodClass | None, victim: VictimClass | None, matches: Callable[[int], bool]) -> Tie:
        found = problem.select(problem.by_labels(matches))
        return (
            [*found.classes, *([] if carrier is None else [carrier])],
            [*found.victims, *([] if victim is None else [victim])],
        )

    for cls in problem.classes:
        attracting = required_affinity(cluster, cls.pod)
        if attracting:
            yield tie(cls, None, partial(matches_all, cluster, attracting))
        wishes = (*preferred_affinity(cluster, cls.pod), *preferred_anti_affinity(cluster, cls.pod))
        for term in (*required_anti_affinity(cluster, cls.pod), *(wishes if soft else ())):
            # upstream resolves namespaces in two ways, as one that comes and as one that is there already
            yield tie(cls, None, partial(matches_incoming, cluster, term))
            yield tie(cls, None, partial(matches_existing, cluster, term))
    for victim in problem.victims:
        for term in required_anti_affinity(cluster, victim.pod):
            yield tie(None, victim, partial(matches_existing, cluster, term))


def _groups(problem: Problem) -> Iterator[Tie]:
    class_of = {p: v for v in problem.victims for p in v.pods}
    for group in groups(problem.cluster):
        yield classes_of(problem, group), [class_of[p] for p in group.running if p in class_of]


def _budgets(problem: Problem) -> Iterator[Tie]:
    """Budgets that could be exceeded: one that cannot is no constraint at all."""
    covered: dict[int, list[VictimClass]] = {}
    for v in problem.victims:
        for b in v.charges:
            covered.setdefault(b, []).append(v)
    for b, victims in covered.items():
        if sum(v.size for v in victims) > problem.budgets[b].allowed:
            yield [], victims


def _volumes(problem: Problem) -> Iterator[Tie]:
    """Everyone who uses a claim that others use as well (what may be bound is among the relations)."""
    uses = uses_of(problem.cluster)
    class_of = {p: c for c in problem.classes for p in c.pods}
    victim_of = {p: v for v in problem.victims for p in v.pods}
    for users in uses.users.values():
        if len(users) > 1:
            coming = [class_of[p] for p in users if p in class_of]
            yield coming, [victim_of[p] for p in users if p in victim_of]


def _devices(problem: Problem) -> Iterator[Tie]:
    """Everyone who needs devices: pools may be reached from many nodes, and claims be shared."""
    index = device_index(problem.cluster)
    if index is not None:
        needing = [c for c in problem.classes if index.needs_devices(c.pod) or index.follows(c.pod)]
        if needing:
            yield needing, [v for v in problem.victims if index.asks(v.pod)]
