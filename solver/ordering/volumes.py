"""Who can matter to whose volumes, beyond what holds in every order.

Disks, exclusive claims and limits hold in the end or in no order.  Three things depend on it: which pod
takes the smallest volume, where the first of several users of an unbound claim has it bound, and whether a
volume that pods share, or that a VolumeAttachment names, is there when a pod comes to a node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...encoders.volume_binding import looking, open_claims
from ...framework.vocabulary import names
from ...framework.volumes.attachments import attachments_of
from ...framework.volumes.offers import offers_of
from ...framework.volumes.provisioning import provisioning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...encoders.problem import PodClass, Problem, VictimClass

Relation = tuple["PodClass", list["PodClass"], list["VictimClass"]]
"""A class that looks at others, the classes that it looks at, the victim classes that it looks at."""


def volume_relations(problem: Problem) -> Iterator[Relation]:
    """Find the classes whose volumes depend on the order in which others come and go."""
    yield from _bindings(problem)
    yield from _attachments(problem)


def _bindings(problem: Problem) -> Iterator[Relation]:
    """Classes that may take one volume, or that share an unbound claim, where it matters who comes first."""
    for classes in _rivals(problem):
        if not _any_order_will_do(problem, classes):
            for cls in classes:
                yield cls, classes, []


def _rivals(problem: Problem) -> list[list[PodClass]]:
    """Divide the classes that may take volumes, or share unbound claims, into those that never meet."""
    offers = offers_of(problem.cluster)
    parent = list(range(len(problem.classes)))

    def root(c: int) -> int:
        while parent[c] != c:
            c = parent[c]
        return c

    first: dict[object, int] = {}
    for cls in problem.classes:
        for claim in looking(problem, cls):
            volumes = (v for members in offers.groups(claim.wish).values() for v in members)
            for item in (*volumes, *([claim.key] if claim.shared else ())):
                parent[root(cls.index)] = root(first.setdefault(item, cls.index))
    rivals: dict[int, list[PodClass]] = {}
    roots = {root(c) for c in first.values()}
    for cls in problem.classes:
        if root(cls.index) in roots:
            rivals.setdefault(root(cls.index), []).append(cls)
    return list(rivals.values())


def _any_order_will_do(problem: Problem, classes: list[PodClass]) -> bool:
    """Whether smallest-first finds volumes for all in any order, if there are volumes for all.

    So it is where every node reaches one group of volumes, claims only differ in size, and nobody who takes a
    volume could do without: then to take the smallest that is large enough never harms a larger claim.
    """
    offers = offers_of(problem.cluster)
    claims = [claim for cls in classes for claim in open_claims(problem, cls)]
    if len(claims) < sum(len(looking(problem, cls)) for cls in classes):
        return False  # who takes nothing comes before those who do
    if any(claim.shared or not provisioning(problem.cluster, claim.wish).all() for claim in claims):
        return False
    suiting: dict[int, list[tuple[int, ...]]] = {}
    for wish in {claim.wish for claim in claims}:
        for g, volumes in offers.groups(wish).items():
            suiting.setdefault(g, []).append(volumes)
    reached = np.zeros(problem.cluster.n_nodes, dtype=np.int64)
    for g, lists in suiting.items():
        reached += offers.masks[g]
        longest = max(lists, key=len)
        if any(volumes != longest[len(longest) - len(volumes) :] for volumes in lists):
            return False
    return bool((reached <= 1).all())


def _attachments(problem: Problem) -> Iterator[Relation]:
    """Classes whose volume is there or not when they come, with all that attaches volumes of the driver."""
    attachments = attachments_of(problem.cluster)
    asking = problem.asking(names.NODE_VOLUME_LIMITS, problem.classes)
    brought = [(c, attachments.of(c.pod)) for c in asking if attachments.of(c.pod)]
    if not brought:
        return
    careless = [c for c in problem.classes if c not in asking and attachments.of(c.pod)]
    for cls, volumes in brought if careless else ():
        shared = {v.identity for v in volumes}
        before = [c for c in careless if any(v.identity in shared for v in attachments.of(c.pod))]
        if before:  # whose volume is there before it, without being counted
            yield cls, before, []
    held = [(v, attachments.of(v.pod)) for v in problem.victims if attachments.of(v.pod)]
    beyond = {
        volume.identity
        for v, volumes in held
        for volume in volumes
        if _is_beyond(problem, v.node, volume.driver)
    }
    for cls, volumes in brought:
        drivers = {v.driver for v in volumes if attachments.is_known(v) or v.identity in beyond}
        if drivers:
            classes = [c for c, theirs in brought if any(v.driver in drivers for v in theirs)]
            victims = [v for v, theirs in held if any(t.driver in drivers for t in theirs)]
            yield cls, classes, victims


def _is_beyond(problem: Problem, node: int, driver: str) -> bool:
    """Whether a node attaches more of a driver than it may."""
    state = problem.state.volumes
    limit = attachments_of(problem.cluster).limits[driver][node]
    return state is not None and bool(state.counts[driver][node] > limit)
