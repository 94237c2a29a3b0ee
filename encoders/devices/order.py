"""Claims whose devices depend on the order of steps, beyond what holds in every order.

Devices of their own, capacities and counters suffice in the end or in no order, once victims have left. Other
claims depend on the allocations at their step:

- for all devices, where shared ones count only while they are not full;
- with `adminAccess`, which takes nothing but needs counters and capacities to be free for a moment, and no
  device that other claims of the same pod take in the same step;
- with a selector that fails on a device, or all devices of which one breaks a constraint, which ends a search
  only if the search reaches it;
- allocated claims that leaving pods hold, which keep their devices only if a new pod comes first;
- claims of several pods, where the first one's node decides from where the devices count;
- pods whose profile has no filter for devices, which others' allocations let pass (`DeviceIndex.follows`).

Where there is such a claim, all classes that need devices are related.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...framework.dra.index import device_index
from ..dra.identity import fails, is_admin, may_break
from ..family import Relation, Tie

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...framework.dra.claims import ClaimSpec, Want
    from ..dra.problem import DeviceProblem
    from ..problem import PodClass, Problem


def ties(problem: Problem) -> Iterator[Tie]:
    """Tie all that need devices: pools may be reached from many nodes, and claims be shared."""
    index = device_index(problem.cluster)
    if index is not None:
        needing = [c for c in problem.classes if index.needs_devices(c.pod) or index.follows(c.pod)]
        if needing:
            yield Tie(needing, [v for v in problem.victims if index.asks(v.pod)])


def order_sensitive(problem: Problem) -> Iterator[Relation]:
    """Relate all that need or hold devices, where some claim depends on the order."""
    index, claims = device_index(problem.cluster), problem.state.claims
    if index is None or claims is None:
        return
    following = [c for c in problem.classes if index.follows(c.pod)]
    if not following and (problem.devices is None or not any(_looks(problem, problem.devices))):
        return
    held = {i for consumers in claims.reserved.values() for i in consumers}
    holding = [v for v in problem.victims if held.intersection(v.pods)]
    claiming = [*following, *(c for c in problem.classes if index.needs_devices(c.pod))]
    for cls in claiming:
        yield Relation(cls, claiming, holding, supporting=True, choosing=True)


def own_moves(problem: Problem, cls: PodClass) -> bool:
    """Whether claims of the class may be deallocated: it needs devices."""
    index = device_index(problem.cluster)
    return index is not None and index.needs_devices(cls.pod)


def _looks(problem: Problem, devices: DeviceProblem) -> Iterator[bool]:
    """Yield for each claim whether its devices depend on the order."""
    seen: set[tuple[int, int]] = set()
    for cls in problem.classes:
        for node in np.flatnonzero(cls.mask).tolist():
            view = id(devices.index.inventory.view(node))
            for spec in devices.private_specs(cls.pod, node):
                if (spec.number, view) not in seen:
                    seen.add((spec.number, view))
                    yield _looks_at_others(devices, spec, node)
    victims = {i for v in problem.victims for i in v.pods}
    nodes = range(problem.cluster.n_nodes)
    for key in devices.common:
        yield any(i in victims for i in devices.claims.reserved.get(key, ()))
        spec = devices.spec(key)
        yield any(_looks_at_others(devices, spec, node) or _is_of_node(devices, spec, node) for node in nodes)
        yield is_admin(spec) or any(
            is_admin(devices.spec(own)) for i in devices.common[key] for own in devices.private[i]
        )


def _looks_at_others(devices: DeviceProblem, spec: ClaimSpec, node: int) -> bool:
    wants = [want for request in spec.requests for want in request.wants]
    return may_break(devices, spec, node) or any(
        fails(devices, want, node) or _is_of_moment(devices, want, node) for want in wants
    )


def _is_of_moment(devices: DeviceProblem, want: Want, node: int) -> bool:
    if want.all_devices and devices.every(want, node)[1]:
        return True
    return want.admin and any(d.shared or d.counters for d in devices.matching(want, node))


def _is_of_node(devices: DeviceProblem, spec: ClaimSpec, node: int) -> bool:
    """Whether devices that other nodes reach, too, count for the node for which they were chosen."""
    wants = [want for request in spec.requests for want in request.wants]
    found = [(want, device) for want in wants for device in devices.matching(want, node)]
    return any(
        (want.all_devices or device.spec.binds_to_node) and devices.kind(device).wide
        for want, device in found
    )
