"""Who can matter to whose filters: the order-sensitive part of a round.

A pod whose filters do not look at other pods' labels, and that no such filter counts, may be bound after all
others; a victim that no such filter counts may leave before all others: neither changes whether an order
exists.  What remains falls into components that never look at each other, so that an order can be sought for
each, and a missing order be blamed on few variables (the cut).

Source: kube-scheduler 1.34.1: only PodTopologySpread and InterPodAffinity read other pods' labels; volumes
and devices have rules of their own (`solver.ordering.volumes`, `solver.ordering.devices`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ...framework.rules.affinity import (
    matches_all,
    matches_existing,
    matches_incoming,
    required_affinity,
    required_anti_affinity,
)
from ...framework.rules.spread import hard_constraints, spread_matches
from ...framework.vocabulary import names
from ...framework.volumes.uses import uses_of
from ..model.component import Component
from .devices import device_relations
from .volumes import volume_relations

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...encoders.problem import PodClass, Problem, VictimClass
    from ...framework.index.cluster import Cluster


class Relations:
    """Order-sensitive components of a problem, independent of any solution.

    Attributes
    ----------
    heedless : frozenset of int
        Classes that take what others look for without looking for it themselves.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._groups: dict[tuple[str, int], set[tuple[str, int]]] = {}
        self._carriers: set[int] = set()
        self._supporting: set[int] = set()
        for cls in problem.classes:
            self._relate(cls)
        for carrier, classes, victims in volume_relations(problem):
            self._join(carrier, classes, victims)
            self._supporting |= {v.index for v in victims}
        claiming, holding = device_relations(problem)
        self._supporting |= {v.index for v in holding}
        self._claiming = frozenset(c.index for c in claiming)
        for cls in claiming:
            self._join(cls, claiming, holding)
        self.heedless = frozenset(c.index for c in problem.classes if _takes_unasked(problem, c))
        self.components = self._collect()
        self.component_of_class = {c: k for k, comp in enumerate(self.components) for c in comp.classes}
        self.component_of_victim = {v: k for k, comp in enumerate(self.components) for v in comp.victims}

    def carries(self, cls: PodClass) -> bool:
        """Whether the class's own filters look at other pods."""
        return cls.index in self._carriers

    def supports(self, victim: VictimClass) -> bool:
        """Whether somebody may need what the victim is or has until it leaves, though it is to leave."""
        return victim.index in self._supporting

    def _relate(self, cls: PodClass) -> None:
        problem, cluster = self._problem, self._problem.cluster
        for constraint in hard_constraints(cluster, cls.pod):
            ask = problem.by_labels(partial(spread_matches, cluster, constraint, cls.pod))
            self._join_matching(cls, ask)
        terms = required_affinity(cluster, cls.pod)
        if terms and problem.asking(names.INTER_POD_AFFINITY, [cls]):
            ask = problem.by_labels(partial(matches_all, cluster, terms))
            self._join_matching(cls, ask)
            self._supporting |= {v.index for v in problem.victims if ask(v.pod)}
        lopsided = [c for c in problem.classes if _one_way(cluster, cls.pod, c.pod)]
        if lopsided:
            self._join(cls, lopsided, [])

    def _join_matching(self, carrier: PodClass, ask: Callable[[int], bool]) -> None:
        problem = self._problem
        self._join(
            carrier, [c for c in problem.classes if ask(c.pod)], [v for v in problem.victims if ask(v.pod)]
        )

    def _join(self, carrier: PodClass, classes: list[PodClass], victims: list[VictimClass]) -> None:
        self._carriers.add(carrier.index)
        members = {("c", carrier.index)}
        for item in [("c", c.index) for c in classes] + [("v", v.index) for v in victims]:
            members |= self._groups.get(item, {item})
        members |= self._groups.get(("c", carrier.index), set())
        for item in members:
            self._groups[item] = members

    def _collect(self) -> tuple[Component, ...]:
        unique = {id(g): g for g in self._groups.values()}
        found = []
        for group in unique.values():
            classes = frozenset(i for kind, i in group if kind == "c")
            victims = frozenset(i for kind, i in group if kind == "v")
            found.append(Component(classes, victims, not self._claiming.isdisjoint(classes)))
        return tuple(found)


def _takes_unasked(problem: Problem, cls: PodClass) -> bool:
    """Whether a class takes room of nodes that others' profiles look for and its own does not.

    It had better be bound when they are there already.
    """
    cluster = problem.cluster
    profile = cluster.profile(cls.pod)
    others = [c for c in problem.classes if cluster.profile(c.pod) is not profile]
    if not others:
        return False
    unasked = (cluster.usage[cls.pod] > 0) & (cls.request == 0)
    if any((c.bounded and not cls.bounded) or bool((unasked & (c.request > 0)).any()) for c in others):
        return True
    uses = uses_of(cluster).of(cls.pod)
    taken = {
        names.NODE_PORTS: bool(cluster.pods[cls.pod].ports),
        names.VOLUME_RESTRICTIONS: bool(uses.disks or uses.claims),
        names.NODE_VOLUME_LIMITS: bool(uses.claims or uses.inline),
    }
    return any(
        takes and not profile.filters(plugin) and any(problem.asking(plugin, others))
        for plugin, takes in taken.items()
    )


def _one_way(cluster: Cluster, a: int, b: int) -> bool:
    """Whether some anti-affinity between two pending pods holds in one order of binding only."""

    def refused(later: int, earlier: int) -> frozenset[str]:
        if not cluster.profile(later).filters(names.INTER_POD_AFFINITY):
            return frozenset()
        own = {
            t.topology_key
            for t in required_anti_affinity(cluster, later)
            if matches_incoming(cluster, t, earlier)
        }
        theirs = {
            t.topology_key
            for t in required_anti_affinity(cluster, earlier)
            if matches_existing(cluster, t, later)
        }
        return frozenset(own | theirs)

    return refused(a, b) != refused(b, a)
