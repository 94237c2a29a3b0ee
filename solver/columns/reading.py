"""How a round is read by node types, where it is of that sort.

It is one only where nothing but what forbids depends on more than what stands on one node and on how often:
pods are held to the room of nodes, their claims are for shares of a node's own devices
(`solver.columns.shared_devices`), and amounts of resources, and of devices in units in which all are whole,
are within 64 bits.

Everywhere else there is no such round, and `type_round` returns None. Where running pods may be evicted
there are two rounds: in one all of them stay, in the other all are gone with what they hold. Whoever leaves,
a node has no more room than in the second, so its bounds hold of every plan; a plan of the first evicts
nobody.

Source: docs/model.md.
"""

from __future__ import annotations

from collections import Counter
from math import lcm
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...encoders import ENCODERS
from ...framework.vocabulary import names
from .round import LikeNodes, LikePods, TypeRound
from .shared_devices import Evictable, shared_devices

if TYPE_CHECKING:
    from collections.abc import Hashable
    from fractions import Fraction

    from ...encoders.problem import PodClass, Problem
    from ...framework.dra.claims import Want
    from ...framework.vocabulary.arrays import Ints
    from .shared_devices import SharedDevices


# Families of such a round; without groups and constraints the tiers of the last two are constant.
_UNDERSTOOD = {
    names.PRIORITY_SORT,
    names.NODE_RESOURCES_FIT,
    names.DEFAULT_PREEMPTION,
    names.DYNAMIC_RESOURCES,
    names.GANG_SCHEDULING,
    names.POD_TOPOLOGY_SPREAD,
}

# Units of a device from which a round is left to the model: amounts are numbers of 64 bits here.
MOST_UNITS = 2**62


def type_round(problem: Problem, most_types: int, evictable: Evictable) -> TypeRound | None:
    """Count a round by types of nodes; None where it is of another sort or has more types than these."""
    if problem.mobility is not None or problem.optional or not problem.fits_in_64_bits:
        return None
    if any(not cls.bounded or cls.served for cls in problem.classes):
        return None
    shared = shared_devices(problem, evictable)
    wants = {} if shared is None else shared.wants()
    return None if wants is None else _counted(problem, shared, wants, most_types, evictable)


def _counted(
    problem: Problem,
    shared: SharedDevices | None,
    wants: dict[int, Want],
    most_types: int,
    evictable: Evictable,
) -> TypeRound | None:
    limits = np.array([cls.limit for cls in problem.classes], dtype=np.int64)
    if shared is not None:
        limits[[cls.index for cls in problem.classes if shared.blocked(cls)]] = 0
    found = _shares(problem, shared, wants, limits)
    if found is None:
        return None
    # a pod whose claim finds no devices on a node does not come there
    limits[list(wants)] = np.where(found.sizes[:, list(wants)].T > 0, limits[list(wants)], 0)
    found.sizes[limits.T == 0] = 0
    classes = _alike(problem, wants, limits, found.sizes)
    first = [like.classes[0].index for like in classes]
    limits = np.array([limits[[c.index for c in like.classes]].sum(axis=0) for like in classes])
    sizes = found.sizes[:, first]
    room = _room(problem, evictable)
    grouped: dict[_Key, list[int]] = {}
    for node, devices in enumerate(found.devices):
        key = _Key(tuple(sizes[node].tolist()), devices, room[:, node].tobytes(), limits[:, node].tobytes())
        grouped.setdefault(key, []).append(node)
        if len(grouped) > most_types:
            return None
    return TypeRound(
        classes=classes,
        requests=np.array([[*cls.classes[0].request.tolist(), 1] for cls in classes], dtype=np.int64),
        devices=np.array([wants[c].count if c in wants else 0 for c in first], dtype=np.int64),
        types=tuple(
            LikeNodes(
                nodes=tuple(nodes),
                room=room[:, nodes[0]],
                limits=limits[:, nodes[0]],
                sizes=sizes[nodes[0]],
                devices=key.devices,
            )
            for key, nodes in grouped.items()
        ),
        wants=wants,
        scale=found.scale,
        loose=not problem.victims and _loose(problem),
    )


class _Key(NamedTuple):
    """What nodes of a type have in common: of `LikeNodes` the sizes and devices, then room and limits."""

    sizes: tuple[int, ...]
    devices: tuple[tuple[int, int], ...]
    room: bytes
    limits: bytes


class _Shares(NamedTuple):
    """Devices in whole units, of which so many are one whole.

    Attributes
    ----------
    sizes : ints, shape (nodes, classes)
        What a pod of each class takes of a device.
    devices : list of tuples
        By node, as `LikeNodes` has them.
    """

    sizes: Ints
    devices: list[tuple[tuple[int, int], ...]]
    scale: int


def _shares(
    problem: Problem, shared: SharedDevices | None, wants: dict[int, Want], limits: Ints
) -> _Shares | None:
    """Measure what claims take and devices have; None where devices are of another sort, or too large."""
    nodes = problem.cluster.n_nodes
    sizes = np.zeros((nodes, len(limits)), dtype=np.int64)
    if shared is None or not wants:
        return _Shares(sizes, [()] * nodes, 1)
    # classes with like claims have one want: what it may have is looked up once
    alike: dict[int, list[int]] = {}
    for index, want in wants.items():
        alike.setdefault(id(want), []).append(index)
    groups = [(wants[mine[0]], mine) for mine in alike.values()]
    amounts: list[tuple[list[Fraction], list[Fraction]]] = []
    for node in range(nodes):
        found = shared.amounts(node, [want if limits[mine, node].any() else None for want, mine in groups])
        if found is None:
            return None
        amounts.append(found)
    every = {x for pair in amounts for part in pair for x in part}
    scale = lcm(*(x.denominator for x in every))
    if max(every, default=0) * scale >= MOST_UNITS:
        return None
    for g, (_, mine) in enumerate(groups):
        sizes[:, mine] = np.array([int(taken[g] * scale) for taken, _ in amounts])[:, None]
    left = [Counter(int(x * scale) for x in devices) for _, devices in amounts]
    return _Shares(sizes, [tuple(sorted(units.items(), reverse=True)) for units in left], scale)


def _room(problem: Problem, evictable: Evictable) -> Ints:
    """Return what each node has free of each resource, and of pod slots; int64[resources + 1, nodes]."""
    free, slots = problem.free_now, problem.slots_now
    if evictable is Evictable.GONE:
        free, slots = problem.most_free, problem.most_slots
    return np.maximum(np.vstack((free, slots[None, :])), 0).astype(np.int64)


def _alike(problem: Problem, wants: dict[int, Want], limits: Ints, sizes: Ints) -> tuple[LikePods, ...]:
    """Join classes that ask for the same of the same nodes; a pod that is asked about stays by itself."""
    cluster = problem.cluster
    place = {i: k for k, i in enumerate(cluster.pending)}
    found: dict[Hashable, list[PodClass]] = {}
    for cls in problem.classes:
        key = (
            cls.priority,
            cls.pod in cluster.asked,
            cls.pod in cluster.kept,
            cls.request.tobytes(),
            wants[cls.index].count if cls.index in wants else 0,
            (limits[cls.index] > 0).tobytes(),
            sizes[:, cls.index].tobytes(),
        )
        found.setdefault(key, []).append(cls)
    return tuple(
        LikePods(tuple(mine), tuple(sorted((i for cls in mine for i in cls.pods), key=place.__getitem__)))
        for mine in found.values()
    )


def _loose(problem: Problem) -> bool:
    """Whether no family but those of room and devices has a say in where pods stand."""
    stated = {family.name for family in ENCODERS if family.applies(problem)}
    tied = (family.ties(problem) for family in ENCODERS if family.name != names.DYNAMIC_RESOURCES)
    return stated <= _UNDERSTOOD and not any(True for ties in tied for _ in ties)
