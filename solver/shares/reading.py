"""How a round is read by node types with shares of their devices, where it is of that sort.

It is one only where nothing but what forbids depends on more than what stands on one node and on how often:

- no claim that a waiting pod has gives devices back;
- a pod has one claim at most, of its own, with one request for a number of devices without constraints;
- the devices of a node are shared ones of this node alone, with one capacity and no counters, and every claim
  that may have some of them may have any;
- a claim for several shares asks for more than half of each device, so that they are on different ones;
- amounts of resources, and of devices in units in which all are whole, are within 64 bits.

Everywhere else there is no such round, and `share_round` returns None. Where running pods may be evicted
there are two rounds: in one all of them stay, in the other all are gone with what they hold. Whoever leaves,
a node has no more room than in the second, so its bounds hold of every plan; a plan of the first evicts
nobody.

Source: docs/model.md; KEP-5075.
"""

from __future__ import annotations

from collections import Counter
from enum import Enum, auto
from fractions import Fraction
from functools import partial
from math import lcm
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...encoders import ENCODERS
from ...framework.dra.capacity import capacities
from ...framework.vocabulary import names
from .round import LikeNodes, LikePods, ShareRound

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from ...encoders.dra.problem import DeviceProblem
    from ...encoders.problem import PodClass, Problem
    from ...framework.dra.claims import Want
    from ...framework.dra.devices import Device
    from ...framework.vocabulary.arrays import Ints


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


class Evictable(Enum):
    """What becomes of the running pods that a plan may evict."""

    STAY = auto()
    GONE = auto()


def share_round(problem: Problem, most_types: int, evictable: Evictable) -> ShareRound | None:
    """Count a round by types of nodes; None where it is of another sort or has more types than these."""
    apart = problem.mobility is None and not problem.optional and problem.fits_in_64_bits
    if problem.devices is None or not apart:
        return None
    return _reader(problem, problem.devices, evictable).read(most_types)


def devices_left(problem: Problem, node: int, want: Want) -> list[tuple[Device, Fraction]]:
    """Return the devices of a node that a want may have while nobody leaves, and what each has left."""
    assert problem.devices is not None
    reader = _reader(problem, problem.devices, Evictable.STAY)
    found = [device for _, devices in problem.devices.options(want, node) for device in devices]
    return [(device, reader.left(device)) for device in found]


def _reader(problem: Problem, devices: DeviceProblem, evictable: Evictable) -> _Reader:
    return problem.memo(("devices by shares", evictable), partial(_Reader, problem, devices, evictable))


def _loose(problem: Problem) -> bool:
    """Whether no family but those of room and devices has a say in where pods stand."""
    stated = {family.name for family in ENCODERS if family.applies(problem)}
    tied = (family.ties(problem) for family in ENCODERS if family.name != names.DYNAMIC_RESOURCES)
    return stated <= _UNDERSTOOD and not any(True for ties in tied for _ in ties)


class _Key(NamedTuple):
    """What nodes of a type have in common: of `LikeNodes` the sizes and devices, then room and limits."""

    sizes: tuple[int, ...]
    devices: tuple[tuple[int, int], ...]
    room: bytes
    limits: bytes


class _Reader:
    def __init__(self, problem: Problem, devices: DeviceProblem, evictable: Evictable) -> None:
        self._problem, self._devices = problem, devices
        self._gone = evictable is Evictable.GONE
        self._held = self._read_held()
        self._left: dict[int, Fraction | None] = {}

    def _read_held(self) -> dict[tuple[int, str], Fraction] | None:
        """Sum up what claims hold of the capacities of each device; None where one may give devices back."""
        devices, held = self._devices, dict[tuple[int, str], Fraction]()
        gone = {i for v in self._problem.victims for i in v.pods} if self._gone else set()
        for key, allocation in devices.claims.allocations.items():
            consumers = devices.claims.reserved.get(key, frozenset())
            if not gone.isdisjoint(consumers):
                continue
            kept = len(consumers) > 1 or any(i not in devices.index.queued for i in consumers)
            for result in allocation.results:
                if not kept or result.admin:
                    return None
                identity = devices.index.inventory.identify(result.id)
                for name, amount in result.taken:
                    held[identity, name] = held.get((identity, name), Fraction(0)) + amount
        return held

    def left(self, device: Device) -> Fraction:
        """Return what a shared device of one capacity has left."""
        [(name, capacity)] = capacities(device.spec, device.id.driver).items()
        return capacity.value - (self._held or {}).get((device.identity, name), Fraction(0))

    def read(self, most_types: int) -> ShareRound | None:
        devices, problem = self._devices, self._problem
        if self._held is None or devices.apart or devices.blurred or devices.common:
            return None
        if any(not cls.bounded or cls.served for cls in problem.classes):
            return None
        wants: dict[int, Want] = {}
        for cls in problem.classes:
            if devices.index.needs_devices(cls.pod) and cls.pod not in devices.blocked:
                want = self._want(cls)
                if want is None:
                    return None
                wants[cls.index] = want
        if not wants:
            return None
        return self._types(wants, most_types)

    def _want(self, cls: PodClass) -> Want | None:
        """Return what the claim of a class wants; None where it is not a number of devices alone."""
        keys = self._devices.private.get(cls.pod, ())
        specs = [self._devices.spec(key) for key in keys]
        if len(specs) != 1 or specs[0].constraints or len(specs[0].requests) != 1:
            return None
        [request] = specs[0].requests
        if len(request.wants) != 1 or request.wants[0].all_devices or request.wants[0].admin:
            return None
        return request.wants[0]

    def _room(self) -> Ints:
        """Return what each node has free of each resource, and of pod slots; int64[resources + 1, nodes]."""
        problem = self._problem
        free, slots = problem.free_now, problem.slots_now
        if self._gone:
            free, slots = problem.most_free, problem.most_slots
        return np.maximum(np.vstack((free, slots[None, :])), 0).astype(np.int64)

    def _types(self, wants: dict[int, Want], most_types: int) -> ShareRound | None:
        problem = self._problem
        limits = np.array([cls.limit for cls in problem.classes], dtype=np.int64)
        limits[[cls.index for cls in problem.classes if cls.pod in self._devices.blocked]] = 0
        # classes with like claims have one want: what it may have is looked up once
        alike: dict[int, list[int]] = {}
        for index, want in wants.items():
            alike.setdefault(id(want), []).append(index)
        groups = [(wants[mine[0]], mine) for mine in alike.values()]
        amounts: list[tuple[list[Fraction], list[Fraction]]] = []
        for node in range(problem.cluster.n_nodes):
            found = self._amounts(node, [want if limits[mine, node].any() else None for want, mine in groups])
            if found is None:
                return None
            amounts.append(found)
        every = {x for pair in amounts for part in pair for x in part}
        scale = lcm(*(x.denominator for x in every))
        if max(every, default=0) * scale >= MOST_UNITS:
            return None
        sizes = np.zeros((problem.cluster.n_nodes, len(limits)), dtype=np.int64)
        for g, (_, mine) in enumerate(groups):
            sizes[:, mine] = np.array([int(taken[g] * scale) for taken, _ in amounts])[:, None]
        # a pod whose claim finds no devices on a node does not come there
        limits[list(wants)] = np.where(sizes[:, list(wants)].T > 0, limits[list(wants)], 0)
        sizes[limits.T == 0] = 0
        classes = self._alike(wants, limits, sizes)
        first = [like.classes[0].index for like in classes]
        limits = np.array([limits[[c.index for c in like.classes]].sum(axis=0) for like in classes])
        sizes = sizes[:, first]
        room = self._room()
        grouped: dict[_Key, list[int]] = {}
        for node, (_, left) in enumerate(amounts):
            key = _Key(
                tuple(sizes[node].tolist()),
                tuple(sorted(Counter(int(x * scale) for x in left).items(), reverse=True)),
                room[:, node].tobytes(),
                limits[:, node].tobytes(),
            )
            grouped.setdefault(key, []).append(node)
            if len(grouped) > most_types:
                return None
        return ShareRound(
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
            scale=scale,
            loose=not problem.victims and _loose(problem),
        )

    def _alike(self, wants: dict[int, Want], limits: Ints, sizes: Ints) -> tuple[LikePods, ...]:
        """Join classes that ask for the same of the same nodes; a pod that is asked about stays by itself."""
        cluster = self._problem.cluster
        place = {i: k for k, i in enumerate(cluster.pending)}
        found: dict[Hashable, list[PodClass]] = {}
        for cls in self._problem.classes:
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

    def _amounts(
        self, node: int, wants: Sequence[Want | None]
    ) -> tuple[list[Fraction], list[Fraction]] | None:
        """Return what each want takes of a device of a node, and what its devices have left.

        A want takes nothing where it finds none, or where None stands for it. None where devices are of
        another sort.
        """
        sizes: list[Fraction] = []
        here: list[Device] = []
        for want in wants:
            found: list[Device] = []
            if want is not None:
                found = [device for _, devices in self._devices.options(want, node) for device in devices]
            if found and here and found != here:
                return None
            here = found or here
            size = Fraction(0) if want is None else self._size(want, found)
            if size is None:
                return None
            sizes.append(size)
        return sizes, [self.left(device) for device in here]

    def _size(self, want: Want, devices: Sequence[Device]) -> Fraction | None:
        """Return what a want takes of each of some devices, 0 where there are none.

        None where devices are of another sort, or where that differs or is nothing.
        """
        amounts: set[Fraction] = set()
        for device in devices:
            left = self._plain(device)
            if left is None:
                return None
            amounts.update((want.taken(device) or {}).values())
            if len(amounts) != 1 or (want.count > 1 and 2 * next(iter(amounts)) <= left):
                return None
        size = next(iter(amounts), Fraction(0))
        return size if size > 0 or not devices else None

    def _plain(self, device: Device) -> Fraction | None:
        """Return what a device has left; None where it is not shared by one capacity on one node alone."""
        if device.number not in self._left:
            kind = self._devices.kind(device)
            plain = kind.shared and kind.holder is None and not kind.wide and not device.counters
            plain &= len(device.spec.capacity) == 1
            self._left[device.number] = self.left(device) if plain else None
        return self._left[device.number]
