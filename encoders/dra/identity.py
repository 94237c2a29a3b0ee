"""Rounds in which it matters which of several like devices a claim gets, and not only how many.

Like devices are interchangeable as long as each is one claim's: any way to hand them out is any other one
with other names. It is not so

- with `adminAccess`: its device may be another claim's as well, and which claim that is affects the order;
- with an error that a search may meet: a selector that fails on a device, an invalid pool, all devices of
  which one breaks a constraint. Whether the search meets it depends on which devices before it are in use.

In such rounds each device is a kind of its own and each pod with claims a class of its own, as far as that
stays small; beyond, no solution without an order is excluded, since other devices could give it one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...framework.dra.candidates import candidates
from ...framework.dra.devices import elements
from ...framework.dra.extended import claim_for, requested, served_resources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...framework.dra.claims import ClaimSpec, Want
    from .problem import DeviceProblem


def identities_matter(devices: DeviceProblem) -> bool:
    """Whether some claim of a pending pod depends on which devices others have."""
    return any(
        is_admin(spec)
        or may_break(devices, spec, node)
        or any(fails(devices, want, node) for request in spec.requests for want in request.wants)
        for spec, node in _asked(devices)
    )


def is_admin(spec: ClaimSpec) -> bool:
    """Whether a claim has a request with `adminAccess`."""
    return any(want.admin for request in spec.requests for want in request.wants)


def fails(devices: DeviceProblem, want: Want, node: int) -> bool:
    """Whether a search for a want on a node may end in an error."""
    view = devices.index.inventory.view(node)
    return any(found.refusal is not None for found in candidates(view, want.selection))


def may_break(devices: DeviceProblem, spec: ClaimSpec, node: int) -> bool:
    """Whether a device that has to be among all may break a constraint: that is an error, no other choice."""
    wants = [want for request in spec.requests for want in request.wants]
    for constraint in spec.constraints:
        covered = [want for want in wants if constraint.covers(want)]
        if any(want.all_devices for want in covered):
            found = {d.number: d for want in covered for d in devices.matching(want, node)}
            values = [elements(device.attributes.get(constraint.attribute)) for device in found.values()]
            several = len(values) > 1 if constraint.distinct else len(set(values)) > 1
            if several or not all(values):
                return True
    return False


def _asked(devices: DeviceProblem) -> Iterator[tuple[ClaimSpec, int]]:
    """Yield what pending pods ask for, each with one node of those that see the same devices."""
    cluster = devices.cluster
    nodes = list({id(devices.index.inventory.view(n)): n for n in range(cluster.n_nodes)}.values())
    keys = {key for keys in devices.private.values() for key in keys} | devices.common.keys()
    specs = {spec.number: spec for spec in map(devices.spec, sorted(keys))}
    for spec in specs.values():
        for node in nodes:
            yield spec, node
    seen: set[tuple[int, int]] = set()
    asking = {
        cluster.pods[i].cls: i
        for i in cluster.pending
        if devices.index.needs_devices(i) and requested(cluster, i)
    }
    for pod in asking.values():
        for node in range(cluster.n_nodes):
            resources = served_resources(cluster, pod, node)
            if resources:
                spec = devices.index.specs.of(claim_for(cluster.pods[pod].pod, resources))
                key = (spec.number, id(devices.index.inventory.view(node)))
                if key not in seen:
                    seen.add(key)
                    yield spec, node
