"""Steps that lower requests, and how much can still be asked for.

A step is on the menu at the least that may be left of a request. When it helps, the amount is raised; where
that begins is a guess by free room alone, node by node, as the cluster stands. The guess decides nothing.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...framework.build import build_cluster
from ...framework.cycle.runtime import framework_for
from ...framework.index.missing import readable
from ...framework.state.state import State
from ...models import step_costs
from ..why.reasons.base import on_specs
from .step import Request, Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ...framework.index.podinfo import PodInfo
    from ...models.pod import Container, PodSpec, ResourceRequirements
    from ...models.snapshot import Snapshot
    from .step import Asked

_UNITS: Final = {
    "cpu": (1000, Fraction(1, 1000)),
    "memory": (1, Fraction(2**20)),
    "ephemeral-storage": (1, Fraction(2**20)),
}
"""Resources of which less may be asked for: index units in the manifest's unit, and the grid of amounts."""


def request_steps(asked: Asked) -> Iterator[Step]:
    """Yield one step for each resource that pods of a class ask for."""
    for info in asked.subject.kinds:
        yield from _lowering(asked, info)


def _lowering(asked: Asked, info: PodInfo) -> Iterator[Step]:
    cost = asked.costs.of(step_costs.REQUEST)
    if cost is None:
        return
    for resource, (_, unit) in _UNITS.items():
        wanted, overhead = _amounts(asked, info, resource)
        floor = overhead + (wanted - overhead) * asked.costs.request
        least, most = math.ceil(floor / unit), math.ceil(wanted / unit) - 1
        found = Request(pod=info.index, resource=resource, unit=unit, least=least, most=most)
        if found.least <= found.most:
            template = Step(
                kind=step_costs.REQUEST,
                object=asked.like(info),
                text="",
                cost=cost,
                series=f"{step_costs.REQUEST} {info.key} {resource}",
                own=True,
                request=found,
            )
            yield with_amount(asked, template, found.least)


def _amounts(asked: Asked, info: PodInfo, resource: str) -> tuple[Fraction, Fraction]:
    """Return what a pod asks for of a resource, and how much of that is its overhead."""
    row = asked.subject.cluster.resources.index(resource)
    wanted = Fraction(int(info.request[row]), _UNITS[resource][0])
    return wanted, info.pod.spec.overhead.get(resource, Fraction(0))


def with_amount(asked: Asked, step: Step, amount: int) -> Step:
    """Return a step that lowers a request to an amount, in the units of its grid."""
    assert step.request is not None
    resource = step.request.resource
    info = asked.subject.cluster.pods[step.request.pod]
    wanted, overhead = _amounts(asked, info, resource)
    left = amount * step.request.unit
    share = (left - overhead) / (wanted - overhead)
    lift = on_specs(asked.subject.like(info), partial(_lowered, resource, share))
    return replace(step, text=_said(resource, wanted, left), lift=lift)


def _said(resource: str, before: Fraction, after: Fraction) -> str:
    scale = _UNITS[resource][0]
    old, new = (readable(resource, int(value * scale)) for value in (before, after))
    return f"request {new} {resource} instead of {old}"


def _lowered(resource: str, share: Fraction, spec: PodSpec) -> dict[str, Any]:
    """Lower the request of each container to the same share of it, in whole units."""
    finest = Fraction(1, 1000) if resource == "cpu" else Fraction(1)

    def less(amounts: Mapping[str, Fraction]) -> dict[str, Fraction]:
        return {
            name: Fraction(value * share // finest * finest) if name == resource else value
            for name, value in amounts.items()
        }

    def lowered(amounts: ResourceRequirements) -> ResourceRequirements:
        return amounts.model_copy(update={"requests": less(amounts.requests)})

    def cheaper(container: Container) -> Container:
        return container.model_copy(update={"resources": lowered(container.resources)})

    return {
        "containers": tuple(map(cheaper, spec.containers)),
        "init_containers": tuple(map(cheaper, spec.init_containers)),
        "resources": None if spec.resources is None else lowered(spec.resources),
    }


# -- how much --


def likely_most(asked: Asked, request: Request, snapshot: Snapshot) -> int:
    """Return the most of a resource, in units of its grid, with which the pods find free room.

    Parameters
    ----------
    request : Request
    snapshot : Snapshot
        The round in which the request is lowered to the least.

    Returns
    -------
    int
        From `request.least` to `request.most`.
    """
    base = asked.subject.cluster
    cluster = build_cluster(snapshot, like=base)
    i = cluster.pod_index[base.pods[request.pod].key]
    group = asked.subject.group if asked.subject.whole else None
    copies = 1 if group is None else max(1, (group.min_count or 1) - len(group.running))
    wanted = np.array(cluster.pods[i].request)
    free: Any = cluster.allocatable - State.initial(cluster).requested
    row = cluster.resources.index(request.resource)
    fits = framework_for(cluster, i).static_mask(i)
    for r in np.flatnonzero(wanted).tolist():
        if r != row:
            fits = fits & (free[r] >= wanted[r])
    room = np.maximum(free[row][fits] // int(request.unit * _UNITS[request.resource][0]), 0)
    low, high = request.least, request.most
    while low < high:
        middle = (low + high + 1) // 2
        if int((room // middle).sum()) >= copies:
            low = middle
        else:
            high = middle - 1
    return low
