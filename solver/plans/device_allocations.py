"""The device allocations of a plan: read back, and checked independently of the allocator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...framework.dra.allocation import reread
from ...framework.dra.checker import NewAllocation, faults
from ...framework.dra.extended import claim_for, served_resources
from ...framework.dra.index import device_index

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ...framework.dra.allocation import Allocation
    from ...framework.dra.devices import Device, DeviceId
    from ...framework.dra.index import DeviceIndex
    from ...framework.index.cluster import Cluster
    from ...framework.state.state import State
    from ...models.plan import Plan
    from ...models.resource_api import DeviceClaim


def chosen_devices(cluster: Cluster, plan: Plan) -> dict[str, Allocation]:
    """Read the allocations of a plan, without unknown devices: the checks report these as missing."""
    index = device_index(cluster)
    if index is None or not plan.allocations:
        return {}
    newest = newest_devices(index)
    found: dict[str, Allocation] = {}
    for item in plan.allocations:
        try:
            found[item["claim"]] = reread(item["devices"], newest.__getitem__, item["node"] or "")
        except KeyError:
            continue
    return found


def newest_devices(index: DeviceIndex) -> dict[DeviceId, Device]:
    """Return each device by its id, as the newest generation of its pool has it."""
    newest: dict[DeviceId, Device] = {}
    for device in index.inventory.devices:
        known = newest.get(device.id)
        if known is None or known.slice.generation <= device.slice.generation:
            newest[device.id] = device
    return newest


def written(allocations: Mapping[str, Allocation]) -> tuple[dict[str, Any], ...]:
    """Write the allocations of a round as a plan has them."""
    return tuple(
        {"claim": key, "node": allocation.node, "devices": allocation.document()}
        for key, allocation in sorted(allocations.items())
    )


def faults_of_devices(
    cluster: Cluster, end: State, chosen: Mapping[str, Allocation], homes: Mapping[str, int]
) -> Iterator[str]:
    """Yield what is wrong with the allocations of a round in the state in which it ends.

    `homes` are the nodes of the pods that brought them: claim -> node.
    """
    if end.claims is None or not chosen:
        return
    held = {key: a for key, a in end.claims.allocations.items() if key not in chosen}
    new = []
    for key, allocation in sorted(chosen.items()):
        node = homes.get(key)
        asked = None if node is None else _asked(cluster, end, key, node)
        if node is None or asked is None:
            yield f"claim {key} gets devices and nobody uses it"
        else:
            new.append(NewAllocation(key, asked, allocation, cluster.node_names[node]))
    yield from faults(cluster.snapshot, new, held)


def _asked(cluster: Cluster, end: State, key: str, node: int) -> DeviceClaim | None:
    """Return what a claim asks for on the node of the pod that brought it; None where there is none."""
    index = device_index(cluster)
    assert index is not None
    if key in index.claims:
        return index.claims[key].spec.devices
    for i in end.pods_on(node):
        pod = cluster.pods[i].pod
        if key == f"{pod.key}-extended-resources":
            return claim_for(pod, served_resources(cluster, i, node))
    return None
