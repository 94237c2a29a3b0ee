"""Who can matter to whose volumes, beyond what holds in every order.

Disks, exclusive claims and limits hold in the end or in no order.  Three things depend on it: which pod
takes the smallest volume, where the first of several users of an unbound claim has it bound, and whether a
volume that pods share, or that a VolumeAttachment names, is there when a pod comes to a node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..encoders.volume_binding import open_claims
from ..framework import names
from ..framework.volumes.attachments import attachments_of
from ..framework.volumes.offers import offers_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..encoders.problem import PodClass, Problem, VictimClass

Relation = tuple["PodClass", list["PodClass"], list["VictimClass"]]
"""A class that looks at others, the classes that it looks at, the victim classes that it looks at."""


def volume_relations(problem: Problem) -> Iterator[Relation]:
    """Find the classes whose volumes depend on the order in which others come and go."""
    yield from _bindings(problem)
    yield from _attachments(problem)


def _bindings(problem: Problem) -> Iterator[Relation]:
    """Classes that may take one volume, or that share an unbound claim."""
    offers = offers_of(problem.cluster)
    wanting: dict[object, list[PodClass]] = {}
    for cls in problem.classes:
        wanted: set[object] = set()
        for claim in open_claims(problem, cls):
            if claim.shared:
                wanted.add(claim.key)
            wanted.update(v for volumes in offers.groups(claim.wish).values() for v in volumes)
        for item in wanted:
            wanting.setdefault(item, []).append(cls)
    for classes in {tuple(c.index for c in found): found for found in wanting.values()}.values():
        for cls in classes:
            yield cls, classes, []


def _attachments(problem: Problem) -> Iterator[Relation]:
    """Classes whose volume is there or not when they come, with all that attaches volumes of the driver."""
    attachments = attachments_of(problem.cluster)
    asking = problem.asking(names.NODE_VOLUME_LIMITS, problem.classes)
    brought = [(c, attachments.of(c.pod)) for c in asking if attachments.of(c.pod)]
    if not brought:
        return
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
