"""Pod groups that the model by domains cannot tell apart: it counts them instead of naming each.

Groups are of one type if their newcomers ask for the same on the same nodes, as many of them have to come,
their domains are those of one key, and the CompositePodGroups above them that have a domain to choose are the
same. Which of a type stands where does not matter then: any two may trade places in any plan, as far as room
goes. A group with running members, or of pods that look at more than room, is a type by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...framework.rules.composites import above
from ...framework.rules.groups import groups
from ...framework.volumes.uses import uses_of
from ..pod_groups import classes_of

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable

    from ...framework.rules.composites import Composite
    from ...framework.rules.groups import Group
    from ...framework.vocabulary.arrays import Bools
    from ..problem import PodClass, Problem


@dataclass(frozen=True, eq=False)
class GroupType:
    """Groups that are alike.

    Attributes
    ----------
    groups : tuple of Group
        In the order of their numbers.
    classes : tuple of PodClass
        The pending members of the first of them; those of the others are like these, one by one.
    key : str
        The key whose domains they are counted by, empty for the cluster as one domain.
    chooser : Composite or None
        The nearest CompositePodGroup above them that has a domain to choose.
    """

    groups: tuple[Group, ...]
    classes: tuple[PodClass, ...]
    key: str
    chooser: Composite | None

    @property
    def first(self) -> Group:
        """A group that stands for all."""
        return self.groups[0]

    @property
    def size(self) -> int:
        """How many groups are of this type."""
        return len(self.groups)

    @property
    def missing(self) -> int:
        """How many of each group have to come."""
        return self.first.quorum - len(self.first.running)

    @property
    def whole(self) -> bool:
        """Whether each of them comes with all its pending members, or with none."""
        return len(self.classes) == 1 and self.classes[0].size == self.missing


def asking(problem: Problem) -> dict[int, list[PodClass]]:
    """Return the classes of the groups with pending members that ask for anything, by the groups' numbers."""
    found = {
        group.index: classes_of(problem, group)
        for group in groups(problem.cluster)
        if group.waits is None and group.pending and (group.constrained or above(problem.cluster, group))
    }
    return {index: classes for index, classes in found.items() if classes}


def group_types(problem: Problem, choosing: Collection[int], within: Bools) -> list[GroupType]:
    """Divide the groups that ask for anything into types.

    Parameters
    ----------
    choosing : collection of int
        The CompositePodGroups, by number, that have a domain to choose.
    within : bool array (N,)
        The nodes that matter.
    """
    cluster = problem.cluster
    shapes = _Shapes(problem, within)
    found: dict[Hashable, GroupType] = {}
    for index, classes in asking(problem).items():
        group, parents = groups(cluster)[index], above(cluster, groups(cluster)[index])
        chooser = next((item for item in parents if item.index in choosing), None)
        ordered = sorted(((shapes.of(cls), cls) for cls in classes), key=lambda pair: pair[0])
        name = (
            index if group.running else (),
            group.quorum,
            _region_key(group, parents),
            None if chooser is None else chooser.index,
            tuple(shape for shape, _ in ordered),
        )
        known = found.get(name)
        if known is None:
            ours = tuple(cls for _, cls in ordered)
            found[name] = GroupType((group,), ours, _region_key(group, parents), chooser)
        else:
            found[name] = GroupType((*known.groups, group), known.classes, known.key, chooser)
    return list(found.values())


def _region_key(group: Group, parents: Collection[Composite]) -> str:
    for each in (group, *parents):
        if each.topology_keys:
            return each.topology_keys[0]
    return ""


class _Shapes:
    """Numbers classes: equal for those that may trade places with each other in any plan."""

    def __init__(self, problem: Problem, within: Bools) -> None:
        self._problem = problem
        self._within = within
        self._uses = uses_of(problem.cluster)
        self._numbers: dict[Hashable, int] = {}

    def of(self, cls: PodClass) -> int:
        """Return the number of a class's shape."""
        name = self._name(cls) if self._looks_at_room_alone(cls) else cls.index
        return self._numbers.setdefault(name, len(self._numbers))

    def _looks_at_room_alone(self, cls: PodClass) -> bool:
        info = self._problem.cluster.pods[cls.pod]
        return not (
            info.ports
            or info.pod.spec.resource_claims
            or cls.served
            or any(pod in self._uses.pods for pod in cls.pods)
        )

    def _name(self, cls: PodClass) -> Hashable:
        return (
            self._problem.cluster.pods[cls.pod].scheduler,
            cls.size,
            cls.priority,
            cls.preempts,
            cls.bounded,
            cls.request.tobytes(),
            np.where(self._within, cls.limit, 0).tobytes(),
        )
