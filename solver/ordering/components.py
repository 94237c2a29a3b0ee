"""Order-sensitive components: classes and victims whose filters depend on each other's presence.

A pod whose filters do not look at other pods' labels, and that no such filter counts, may be bound after all
others; a victim that no such filter counts may leave before all others: neither changes whether an order
exists. What remains falls into components that never look at each other, so that an order can be sought for
each, and a cut for a missing order involves few variables. Each family states its relations
(`encoders.family.Family.order_sensitive`).

Source: kube-scheduler 1.34.1: only PodTopologySpread and InterPodAffinity read other pods' labels; volumes
and devices have rules of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...encoders import ENCODERS
from ..model.component import Component

if TYPE_CHECKING:
    from ...encoders.family import Relation
    from ...encoders.problem import PodClass, Problem, VictimClass


class Relations:
    """Order-sensitive components of a problem, independent of any solution.

    Attributes
    ----------
    heedless : frozenset of int
        Classes that take what the filters of others check, without a filter of their own for it.
    """

    def __init__(self, problem: Problem) -> None:
        self._groups: dict[tuple[str, int], set[tuple[str, int]]] = {}
        self._carriers: set[int] = set()
        self._supporting: set[int] = set()
        self._choosing: set[int] = set()
        for family in ENCODERS:
            for relation in family.order_sensitive(problem):
                self._relate(relation)
        self.heedless = frozenset(c.index for c in problem.classes if _is_heedless(problem, c))
        self.components = self._collect()
        self.component_of_class = {c: k for k, comp in enumerate(self.components) for c in comp.classes}
        self.component_of_victim = {v: k for k, comp in enumerate(self.components) for v in comp.victims}

    def carries(self, cls: PodClass) -> bool:
        """Whether the class's own filters look at other pods."""
        return cls.index in self._carriers

    def supports(self, victim: VictimClass) -> bool:
        """Whether a pod may need the victim, or what it holds, until the victim leaves."""
        return victim.index in self._supporting

    def _relate(self, relation: Relation) -> None:
        carrier = ("c", relation.carrier.index)
        self._carriers.add(relation.carrier.index)
        if relation.supporting:
            self._supporting |= {v.index for v in relation.victims}
        if relation.choosing:
            self._choosing.add(relation.carrier.index)
        members = {carrier} | self._groups.get(carrier, set())
        for item in [("c", c.index) for c in relation.classes] + [("v", v.index) for v in relation.victims]:
            members |= self._groups.get(item, {item})
        for item in members:
            self._groups[item] = members

    def _collect(self) -> tuple[Component, ...]:
        unique = {id(g): g for g in self._groups.values()}
        found = []
        for group in unique.values():
            classes = frozenset(i for kind, i in group if kind == "c")
            victims = frozenset(i for kind, i in group if kind == "v")
            found.append(Component(classes, victims, not self._choosing.isdisjoint(classes)))
        return tuple(found)


def _is_heedless(problem: Problem, cls: PodClass) -> bool:
    """Whether a class takes what the filters of other profiles check and its own do not.

    Such a class is bound after them.
    """
    profile = problem.cluster.profile(cls.pod)
    others = [c for c in problem.classes if problem.cluster.profile(c.pod) is not profile]
    return bool(others) and any(family.heedless(problem, cls, others) for family in ENCODERS)


def relations_of(problem: Problem) -> Relations:
    """Return a problem's relations, computed the first time they are asked for."""
    return problem.memo("relations", lambda: Relations(problem))
