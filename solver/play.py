"""Let moves happen in a state, with the devices that a plan chose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..framework.dra.extended import requested
from ..framework.dra.index import claim_keys, device_index
from ..framework.runtime import framework_for
from ..framework.state import NO_ALLOCATIONS
from .outcome import BIND, LEAVE, MARK

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..framework.cluster import Cluster
    from ..framework.dra.allocation import Allocation
    from ..framework.state import State
    from .outcome import Move


def play(
    cluster: Cluster, state: State, moves: Iterable[Move], chosen: Mapping[str, Allocation] = NO_ALLOCATIONS
) -> None:
    """Apply moves that are known to be possible."""
    for kind, item, node in moves:
        if kind == BIND:
            state.place(item, node, devices_for(cluster, state, item, node, chosen))
        elif kind == MARK:
            state.mark(item)
        elif kind == LEAVE:
            state.remove(item)
        else:
            state.deallocate(claim_keys(cluster)[item])


def devices_for(
    cluster: Cluster, state: State, pod: int, node: int, chosen: Mapping[str, Allocation]
) -> Mapping[str, Allocation]:
    """Return what a pod brings along: the chosen devices of its claims, else the allocator's own."""
    index = device_index(cluster)
    if index is None or state.claims is None or not index.needs_devices(pod):
        return NO_ALLOCATIONS
    wanted = [c.key for c in index.claims_of(pod) if c.key not in state.claims.allocations]
    made_up = f"{cluster.pods[pod].key}-extended-resources"
    found = {key: chosen[key] for key in (*wanted, made_up) if key in chosen}
    if all(key in found for key in wanted) and (made_up in found or not requested(cluster, pod)):
        return found
    return {**framework_for(cluster, pod).reserve(state, pod, node), **found}


def fits(
    cluster: Cluster, state: State, pod: int, node: int, chosen: Mapping[str, Allocation] = NO_ALLOCATIONS
) -> bool:
    """Whether a pod passes every filter on a node now, and the devices that it was given are free."""
    if not framework_for(cluster, pod).filter_node(state, pod, node).ok:
        return False
    return (
        not taken_devices(cluster, state, devices_for(cluster, state, pod, node, chosen)) if chosen else True
    )


def taken_devices(cluster: Cluster, state: State, allocations: Mapping[str, Allocation]) -> list[str]:
    """Return the devices of allocations that other claims have for themselves in a state."""
    index = device_index(cluster)
    if index is None or state.claims is None:
        return []
    return [
        str(result.id)
        for allocation in allocations.values()
        for result in allocation.results
        if not result.admin and state.claims.in_use(index.inventory.identify(result.id))
    ]


def new_allocations(before: State, after: State) -> dict[str, Allocation]:
    """Return the claims that have other devices in the second state than in the first."""
    if before.claims is None or after.claims is None:
        return {}
    old = before.claims.allocations
    return {key: a for key, a in after.claims.allocations.items() if old.get(key) is not a}
