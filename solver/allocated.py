"""The device allocations of a plan: read back, and judged by a checker of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..framework.dra.allocation import reread
from ..framework.dra.checker import NewAllocation, faults
from ..framework.dra.extended import claim_for, served_resources
from ..framework.dra.index import device_index

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..framework.cluster import Cluster
    from ..framework.dra.allocation import Allocation
    from ..framework.dra.devices import Device, DeviceId
    from ..framework.state import State
    from ..models.plan import Plan
    from ..models.resource_api import DeviceClaim


def chosen_devices(cluster: Cluster, plan: Plan) -> dict[str, Allocation]:
    """Read the allocations of a plan; unknown devices are left out, for the checks to miss."""
    index = device_index(cluster)
    if index is None or not plan.allocations:
        return {}
    newest: dict[DeviceId, Device] = {}
    for device in index.inventory.devices:
        known = newest.get(device.id)
        if known is None or known.slice.generation <= device.slice.generation:
            newest[device.id] = device
    found: dict[str, Allocation] = {}
    for item in plan.allocations:
        try:
            found[item["claim"]] = reread(item["devices"], newest.__getitem__, item["node"] or "")
        except KeyError:
            continue
    return found


def faults_of_devices(cluster: Cluster, end: State, chosen: Mapping[str, Allocation]) -> Iterator[str]:
    """Say what is wrong with the allocations of a round in the state in which it ends."""
    if end.claims is None or not chosen:
        return
    held = {key: a for key, a in end.claims.allocations.items() if key not in chosen}
    users = _users(cluster, end)
    new = [
        NewAllocation(key, claim, allocation, cluster.node_names[node])
        for key, allocation in chosen.items()
        if key in users
        for claim, node in [users[key]]
    ]
    for key in sorted(chosen.keys() - users.keys()):
        yield f"claim {key} gets devices and nobody uses it"
    yield from faults(cluster.snapshot, new, held)


def _users(cluster: Cluster, end: State) -> dict[str, tuple[DeviceClaim, int]]:
    """Claim -> what it asks for, and a node where a pod of the round uses it."""
    index = device_index(cluster)
    assert index is not None
    found: dict[str, tuple[DeviceClaim, int]] = {}
    for i in cluster.pending:
        node = int(end.node_of[i])
        if node < 0 or not index.needs_devices(i):
            continue
        for claim in index.claims_of(i):
            found.setdefault(claim.key, (index.claims[claim.key].spec.devices, node))
        served = served_resources(cluster, i, node)
        if served:
            pod = cluster.pods[i].pod
            found[f"{pod.key}-extended-resources"] = (claim_for(pod, served), node)
    return found
