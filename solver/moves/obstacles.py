"""Why no order of moves can be: pods that may not move, budgets that allow nothing, and sums of room.

All of it holds for every order. Moves leave a budget as it is in the end, so one that allows nothing at first
never allows anything. Room is what is free while all that stands elsewhere stays there, so a sum of it is a
proof for the nodes that have to be empty first.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from ...framework.cycle.runtime import framework_for
from ...framework.dra.extended import mapped_resources
from ...framework.plugins.node_resources_fit import wanted_room
from ...framework.rules.eviction_budgets import charged
from ...models.drain import Obstacle, Shortage
from .budget_remedies import remedies

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ...framework.index.cluster import Cluster
    from ...framework.state.state import State
    from ...framework.vocabulary.arrays import Bools, Ints
    from .moving import Moving

_PLACES: Final = "pods"


def unmovable(moving: Moving, nodes: Collection[int]) -> Iterator[Obstacle]:
    """Yield the pods that keep nodes from being emptied, one obstacle for each."""
    cluster = moving.cluster
    for i in moving.movable.blocking():
        node = cluster.pods[i].initial_node
        if node in nodes:
            yield Obstacle(kind="unmovable", pods=(cluster.pods[i].key,), nodes=(cluster.node_names[node],))


def closed_budgets(moving: Moving, pods: Iterable[int]) -> Iterator[Obstacle]:
    """Yield the budgets that allow no disruption and cover pods that have to move, with what opens them."""
    cluster = moving.cluster
    held: dict[str, list[int]] = defaultdict(list)
    sources = {}
    for i in pods:
        for budget in charged(cluster, i):
            if not budget.allowed:
                held[budget.key].append(i)
                sources[budget.key] = budget.source
    for key, covered in held.items():
        nodes = dict.fromkeys(cluster.node_names[cluster.pods[i].initial_node] for i in covered)
        yield Obstacle(
            kind="budget",
            pods=tuple(cluster.pods[i].key for i in covered),
            nodes=tuple(nodes),
            budget=key,
            remedies=remedies(cluster.snapshot, sources[key]),
        )


def lack_of_room(
    moving: Moving, state: State, pods: Sequence[int], open_: Bools
) -> tuple[list[int], Shortage] | None:
    """Find pods whose replacements ask for more than the nodes that take them have free; None for none found.

    Parameters
    ----------
    pods : sequence of int
        Running pods that have to move, all at once or one after another.
    open_ : bool[N]
        The nodes that take replacements.
    """
    cluster = moving.cluster
    takers: dict[bytes, tuple[Bools, list[int]]] = {}
    by_class: dict[int, list[int]] = defaultdict(list)
    for old in pods:
        if cluster.pods[old].pod.spec.resource_claims:
            continue  # where they may go depends on claims that leaving pods give back
        by_class[cluster.pods[moving.replaced_by(old)].cls].append(old)
    for alike in by_class.values():
        new = moving.replaced_by(alike[0])
        mask = framework_for(cluster, new).static_mask(new) & open_
        takers.setdefault(mask.tobytes(), (mask, []))[1].extend(alike)
        short = _places_of_a_class(cluster, state, new, len(alike), mask)
        if short is not None:
            return alike, short
    for mask, _ in sorted(takers.values(), key=lambda item: int(item[0].sum())):
        inside = [i for other, those in takers.values() if not (other & ~mask).any() for i in those]
        short = _sums(cluster, state, [moving.replaced_by(i) for i in inside], mask)
        if short is not None:
            return inside, short
    return None


def _wanted(cluster: Cluster, i: int) -> tuple[int, ...] | None:
    """Return what has to be free for pod i wherever it goes; None where no room is looked at."""
    room, served = wanted_room(cluster, i), mapped_resources(cluster)
    if room is None or not served:
        return room
    return tuple(0 if cluster.resources[r] in served else amount for r, amount in enumerate(room))


def _places_of_a_class(cluster: Cluster, state: State, new: int, number: int, mask: Bools) -> Shortage | None:
    """Count on each node by itself how many pods of one kind it has room for."""
    nodes = np.flatnonzero(mask)
    wanted = _wanted(cluster, new)
    if wanted is None:
        return None if len(nodes) else _shortage(cluster, _PLACES, number, 0, nodes)
    places = np.maximum(cluster.allowed_pods[nodes] - state.pod_count[nodes], 0)
    for r, amount in enumerate(wanted):
        if amount > 0:
            free = np.maximum(cluster.allocatable[r][nodes] - state.requested[r][nodes], 0)
            places = np.minimum(places, free // amount)
    total = int(places.sum())
    return None if number <= total else _shortage(cluster, _PLACES, number, total, nodes)


def _sums(cluster: Cluster, state: State, new: Sequence[int], mask: Bools) -> Shortage | None:
    """Add up what pods ask for, and what nodes have free."""
    nodes = np.flatnonzero(mask)
    rooms = [room for i in new if (room := _wanted(cluster, i)) is not None]
    for r, resource in enumerate(cluster.resources):
        asked = sum(room[r] for room in rooms)
        if asked:
            free = int(np.maximum(cluster.allocatable[r][nodes] - state.requested[r][nodes], 0).sum())
            if asked > free:
                return _shortage(cluster, resource, asked, free, nodes)
    free = int(np.maximum(cluster.allowed_pods[nodes] - state.pod_count[nodes], 0).sum())
    return _shortage(cluster, _PLACES, len(rooms), free, nodes) if len(rooms) > free else None


def _shortage(cluster: Cluster, resource: str, asked: int, free: int, nodes: Ints) -> Shortage:
    there = tuple(cluster.node_names[n] for n in nodes)
    return Shortage(resource=resource, asked=int(asked), free=free, nodes=there)
