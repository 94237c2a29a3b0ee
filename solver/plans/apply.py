"""Apply moves to a state, with the devices that a plan chose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...framework.cycle.runtime import framework_for
from ...framework.dra.extended import claim_for, requested, served_resources
from ...framework.dra.index import claim_keys, device_index
from ...framework.dra.retrace import retrace
from ...framework.state.moves import Bind, Deallocate, Leave, Mark
from ...framework.state.state import NO_ALLOCATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...framework.dra.allocation import Allocation
    from ...framework.index.cluster import Cluster
    from ...framework.state.moves import Move
    from ...framework.state.state import State


def apply_moves(
    cluster: Cluster, state: State, moves: Iterable[Move], chosen: Mapping[str, Allocation] = NO_ALLOCATIONS
) -> None:
    """Apply moves that are known to be possible."""
    for move in moves:
        if isinstance(move, Bind):  # an inner loop: faster than matching a pattern
            state.place(move.pod, move.node, devices_for(cluster, state, move.pod, move.node, chosen))
        elif isinstance(move, Mark):
            state.mark(move.pod)
        elif isinstance(move, Leave):
            state.remove(move.pod)
        else:
            state.deallocate(claim_keys(cluster)[move.claim])


def devices_for(
    cluster: Cluster, state: State, pod: int, node: int, chosen: Mapping[str, Allocation]
) -> Mapping[str, Allocation]:
    """Return what a pod brings along: the chosen devices of its claims, else the allocator's own."""
    index = device_index(cluster)
    if index is None or state.claims is None or not index.needs_devices(pod):
        return NO_ALLOCATIONS
    *wanted, made_up = devices_lacking(cluster, state, pod)
    found = {key: chosen[key] for key in (*wanted, made_up) if key in chosen}
    if all(key in found for key in wanted) and (made_up in found or not requested(cluster, pod)):
        return found
    return {**framework_for(cluster, pod).reserve(state, pod, node), **found}


def devices_lacking(cluster: Cluster, state: State, pod: int) -> tuple[str, ...]:
    """Return the claims that get devices with a pod: its own without any, last the one made up for it.

    Whether a claim is made up for its extended resources depends on the node; without devices there is none.
    """
    index = device_index(cluster)
    if index is None or state.claims is None or not index.needs_devices(pod):
        return ()
    wanted = [c.key for c in index.claims_of(pod) if c.key not in state.claims.allocations]
    return (*wanted, f"{cluster.pods[pod].key}-extended-resources")


def fits(
    cluster: Cluster, state: State, pod: int, node: int, chosen: Mapping[str, Allocation] = NO_ALLOCATIONS
) -> bool:
    """Whether a pod passes every filter on a node now, and may have the devices that were chosen for it."""
    if not framework_for(cluster, pod).filter_node(state, pod, node).ok:
        return False
    return not (chosen and refused_devices(cluster, state, pod, node, chosen))


def refused_devices(
    cluster: Cluster, state: State, pod: int, node: int, chosen: Mapping[str, Allocation]
) -> str:
    """Return which of the devices that a pod brings the allocator could not choose now; empty if none."""
    index = device_index(cluster)
    if index is None or state.claims is None or not index.needs_devices(pod):
        return ""
    for claim in index.claims_of(pod):
        now = state.claims.allocations.get(claim.key)
        if now is not None and chosen.get(claim.key, now) != now:
            return f"other devices of claim {claim.key}, which has to be deallocated first"
    brought = devices_for(cluster, state, pod, node, chosen)
    wanted = [(index.spec(c.key), c.key) for c in index.claims_of(pod) if c.key in brought]
    made_up = f"{cluster.pods[pod].key}-extended-resources"
    if made_up in brought:
        resources = served_resources(cluster, pod, node)
        wanted.append((index.specs.of(claim_for(cluster.pods[pod].pod, resources)), made_up))
    return retrace(index, state.claims, node, [(spec, brought[key]) for spec, key in wanted])


def deallocate(cluster: Cluster, state: State, claims: Iterable[int]) -> list[Move]:
    """Deallocate the idle claims, at no cost; return the moves.

    `claims` are places in `claim_keys`.
    """
    done: list[Move] = []
    for claim in claims:
        key = claim_keys(cluster)[claim]
        if state.claims is not None and key in state.claims.allocations and state.claims.idle(key):
            state.deallocate(key)
            done.append(Deallocate(claim))
    return done


def new_allocations(before: State, after: State) -> dict[str, Allocation]:
    """Return the claims that have other devices in the second state than in the first."""
    if before.claims is None or after.claims is None:
        return {}
    old = before.claims.allocations
    return {key: a for key, a in after.claims.allocations.items() if old.get(key) is not a}
