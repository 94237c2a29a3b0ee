"""Why no order of moves can be: pods that may not move, budgets that allow nothing, and sums of room.

All of it holds for every order. Moves leave a budget as it is in the end, so one that allows nothing at first
never allows anything. Room is what is free while all that stands elsewhere stays there, so a sum of it is a
proof for the nodes that have to be empty first.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
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
    """Yield the pods that keep nodes from being emptied, an obstacle for each node."""
    cluster = moving.cluster
    there: dict[int, list[int]] = defaultdict(list)
    for i in moving.movable.blocking():
        there[cluster.pods[i].initial_node].append(i)
    for node in nodes:
        if node in there:
            pods = tuple(cluster.pods[i].key for i in there[node])
            yield Obstacle(kind="unmovable", pods=pods, nodes=(cluster.node_names[node],))


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
    pods_of_input = tuple(pod for pod in cluster.snapshot.pods if not _is_replacement(moving, pod.key))
    snapshot = replace(cluster.snapshot, pods=pods_of_input)
    for key, covered in held.items():
        nodes = dict.fromkeys(cluster.node_names[cluster.pods[i].initial_node] for i in covered)
        yield Obstacle(
            kind="budget",
            pods=tuple(cluster.pods[i].key for i in covered),
            nodes=tuple(nodes),
            budget=key,
            remedies=remedies(snapshot, sources[key]),
        )


def _is_replacement(moving: Moving, key: str) -> bool:
    return moving.cluster.pod_index.get(key) in moving.original


def lack_of_places(
    moving: Moving, state: State, pods: Sequence[int], number: int, open_: Bools
) -> Shortage | None:
    """Whether fewer of some pods have a place than have to, each kind of them looked at as if it came alone.

    Parameters
    ----------
    pods : sequence of int
        Running pods.
    number : int
        How many of them have to have a place.
    open_ : bool[N]
        The nodes that take replacements.
    """
    cluster = moving.cluster
    total = 0
    takers = np.zeros(cluster.n_nodes, dtype=np.bool_)
    for new, alike in _by_class(moving, pods):
        mask = _takers(cluster, new, open_)
        takers |= mask
        total += min(len(alike), _places(cluster, state, new, mask))
    return None if total >= number else _shortage(cluster, _PLACES, number, total, np.flatnonzero(takers))


def lack_of_room(
    moving: Moving, state: State, pods: Sequence[int], open_: Bools
) -> tuple[list[int], Shortage] | None:
    """Find pods whose replacements together ask for more than the nodes that take them have free.

    Parameters as for `lack_of_places`; all of the pods have to have a place.

    Returns
    -------
    tuple or None
        The pods, and the sum; None for none found.
    """
    cluster = moving.cluster
    groups: dict[bytes, tuple[Bools, list[int]]] = {}
    for new, alike in _by_class(moving, pods):
        mask = _takers(cluster, new, open_)
        groups.setdefault(mask.tobytes(), (mask, []))[1].extend(alike)
    for mask, _ in sorted(groups.values(), key=lambda item: int(item[0].sum())):
        inside = [i for other, those in groups.values() if not (other & ~mask).any() for i in those]
        short = _sums(cluster, state, [moving.replaced_by(i) for i in inside], mask)
        if short is not None:
            return inside, short
    return None


def _by_class(moving: Moving, pods: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """Yield a replacement of each class, with the pods that such replace."""
    found: dict[int, list[int]] = defaultdict(list)
    for old in pods:
        found[moving.cluster.pods[moving.replaced_by(old)].cls].append(old)
    for alike in found.values():
        yield moving.replaced_by(alike[0]), alike


def _takers(cluster: Cluster, new: int, open_: Bools) -> Bools:
    """Return the nodes that take a pod as far as that does not depend on other pods; bool[N].

    Claims that leaving pods give back may be allocated elsewhere: they rule no node out.
    """
    if cluster.pods[new].pod.spec.resource_claims:
        return open_
    return framework_for(cluster, new).static_mask(new) & open_


def _wanted(cluster: Cluster, i: int) -> tuple[int, ...] | None:
    """Return what has to be free for pod i wherever it goes; None where no room is looked at."""
    room, served = wanted_room(cluster, i), mapped_resources(cluster)
    if room is None or not served:
        return room
    return tuple(0 if cluster.resources[r] in served else amount for r, amount in enumerate(room))


def _places(cluster: Cluster, state: State, new: int, mask: Bools) -> int:
    """Count on each node by itself how many pods of one kind it has room for."""
    nodes = np.flatnonzero(mask)
    wanted = _wanted(cluster, new)
    if wanted is None:
        return len(cluster.pods) if len(nodes) else 0
    places = np.maximum(cluster.allowed_pods[nodes] - state.pod_count[nodes], 0)
    for r, amount in enumerate(wanted):
        if amount > 0:
            free = np.maximum(cluster.allocatable[r][nodes] - state.requested[r][nodes], 0)
            places = np.minimum(places, free // amount)
    return int(places.sum())


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
