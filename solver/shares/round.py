"""A round in which pods share devices, as types of nodes: what it has to be like, and how it is counted.

Nodes that have the same room, the same devices and the same limits for every class are one type. It is a
round of that sort only where nothing depends on more than what stands on one node and on how often:

- nobody leaves, and no claim gives devices back;
- a pod has one claim at most, of its own, with one request for a number of devices without constraints;
- the devices of a node are shared ones of this node alone, with one capacity and no counters, and every claim
  that may have some of them may have any;
- a claim for several shares asks for more than half of each device, so that they are on different ones;
- amounts of resources, and of devices in units in which all are whole, are within 64 bits.

Everywhere else there is no such round, and `share_round` returns None. Families that tie nodes together are
left out: they only forbid, so a bound of this round is one of the whole.

Source: docs/model.md; KEP-5075.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from math import lcm
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...encoders import ENCODERS
from ...framework.dra.capacity import capacities
from ...framework.vocabulary import names

if TYPE_CHECKING:
    from collections.abc import Sequence

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


@dataclass(frozen=True, eq=False)
class LikeNodes:
    """Nodes that nothing tells apart.

    Attributes
    ----------
    nodes : tuple of int
    room : ints, shape (resources + 1,)
        What one has free of each resource, and its free pod slots.
    limits : ints, shape (classes,)
        Most pods of each class on one.
    sizes : ints, shape (classes,)
        What a pod of each class takes of every device that it gets; 0 where it gets none.
    devices : tuple of (int, int)
        Units that a device has left, and how many have so much; the largest first.
    """

    nodes: tuple[int, ...]
    room: Ints
    limits: Ints
    sizes: Ints
    devices: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class ShareRound:
    """A round as types of nodes.

    Attributes
    ----------
    classes : tuple of PodClass
    requests : ints, shape (classes, resources + 1)
        What a pod asks for of each resource, and 1 for its slot.
    devices : ints, shape (classes,)
        How many devices a pod's claim is for.
    types : tuple of LikeNodes
    wants : dict
        Class -> what its claim wants, where it has one.
    scale : int
        Units of a device's capacity in one whole.
    loose : bool
        Whether nothing but room and devices ties the pods together.
    """

    classes: tuple[PodClass, ...]
    requests: Ints
    devices: Ints
    types: tuple[LikeNodes, ...]
    wants: dict[int, Want]
    scale: int
    loose: bool

    @cached_property
    def sizes(self) -> Ints:
        """How many pods wait of each class; int64[classes]."""
        return np.array([cls.size for cls in self.classes], dtype=np.int64)

    def demand(self, kind: LikeNodes) -> dict[int, int]:
        """Return how many shares of each size pods could ask for on nodes of a type."""
        found: Counter[int] = Counter()
        most = np.minimum(self.sizes, kind.limits * len(kind.nodes)) * self.devices
        for size, number in zip(kind.sizes.tolist(), most.tolist(), strict=True):
            if size and number:
                found[size] += number
        return dict(found)


class _Key(NamedTuple):
    """What nodes of a type have in common: of `LikeNodes` the sizes and devices, then room and limits."""

    sizes: tuple[int, ...]
    devices: tuple[tuple[int, int], ...]
    room: bytes
    limits: bytes


def share_round(problem: Problem, most_types: int) -> ShareRound | None:
    """Count a round by types of nodes; None where it is of another sort or has more types than these."""
    apart = problem.mobility is None and not problem.optional and problem.fits_in_64_bits
    if problem.devices is None or problem.victims or not apart:
        return None
    reader = problem.memo("devices by shares", partial(_Reader, problem, problem.devices))
    return reader.read(most_types)


def devices_left(problem: Problem, node: int, want: Want) -> list[tuple[Device, Fraction]]:
    """Return the devices of a node that a want of such a round may have, and what each has left."""
    assert problem.devices is not None
    reader = problem.memo("devices by shares", partial(_Reader, problem, problem.devices))
    found = [device for _, devices in problem.devices.options(want, node) for device in devices]
    return [(device, reader.left(device)) for device in found]


def _loose(problem: Problem) -> bool:
    """Whether no family but those of room and devices has a say in where pods stand."""
    stated = {family.name for family in ENCODERS if family.applies(problem)}
    tied = (family.ties(problem) for family in ENCODERS if family.name != names.DYNAMIC_RESOURCES)
    return stated <= _UNDERSTOOD and not any(True for ties in tied for _ in ties)


class _Reader:
    def __init__(self, problem: Problem, devices: DeviceProblem) -> None:
        self._problem, self._devices = problem, devices
        self._held = self._read_held()
        self._left: dict[int, Fraction | None] = {}

    def _read_held(self) -> dict[tuple[int, str], Fraction] | None:
        """Sum up what claims hold of the capacities of each device; None where one may give devices back."""
        devices, held = self._devices, dict[tuple[int, str], Fraction]()
        for key, allocation in devices.claims.allocations.items():
            consumers = devices.claims.reserved.get(key, frozenset())
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

    def _types(self, wants: dict[int, Want], most_types: int) -> ShareRound | None:
        problem = self._problem
        limits = np.array([cls.limit for cls in problem.classes], dtype=np.int64)
        limits[[cls.index for cls in problem.classes if cls.pod in self._devices.blocked]] = 0
        room = np.maximum(np.vstack((problem.free_now, problem.slots_now[None, :])), 0).astype(np.int64)
        amounts: dict[int, tuple[list[Fraction], list[Fraction]]] = {}
        for node in range(problem.cluster.n_nodes):
            found = self._amounts(node, wants, limits)
            if found is None:
                return None
            amounts[node] = found
        every = [x for pair in amounts.values() for part in pair for x in part]
        scale = lcm(*(x.denominator for x in every))
        if max(every, default=0) * scale >= MOST_UNITS:
            return None
        grouped: dict[_Key, list[int]] = {}
        for node, (sizes, left) in amounts.items():
            key = _Key(
                tuple(int(x * scale) for x in sizes),
                tuple(sorted(Counter(int(x * scale) for x in left).items(), reverse=True)),
                room[:, node].tobytes(),
                limits[:, node].tobytes(),
            )
            grouped.setdefault(key, []).append(node)
            if len(grouped) > most_types:
                return None
        return ShareRound(
            classes=problem.classes,
            requests=np.array([[*cls.request.tolist(), 1] for cls in problem.classes], dtype=np.int64),
            devices=np.array(
                [wants[c.index].count if c.index in wants else 0 for c in problem.classes], dtype=np.int64
            ),
            types=tuple(
                LikeNodes(
                    nodes=tuple(nodes),
                    room=room[:, nodes[0]],
                    limits=limits[:, nodes[0]],
                    sizes=np.array(key.sizes, dtype=np.int64),
                    devices=key.devices,
                )
                for key, nodes in grouped.items()
            ),
            wants=wants,
            scale=scale,
            loose=_loose(problem),
        )

    def _amounts(
        self, node: int, wants: dict[int, Want], limits: Ints
    ) -> tuple[list[Fraction], list[Fraction]] | None:
        """Return what each class takes of a device of a node, and what its devices have left.

        Classes that find none there are kept out of it. None where devices are of another sort.
        """
        sizes = [Fraction(0)] * len(limits)
        here: list[Device] = []
        asked: dict[int, Fraction | None] = {}
        for index, want in wants.items():
            if not limits[index, node]:
                continue
            if id(want) not in asked:
                found = [device for _, devices in self._devices.options(want, node) for device in devices]
                if found and here and found != here:
                    return None
                here = found or here
                asked[id(want)] = self._size(want, found)
            size = asked[id(want)]
            if size is None:
                return None
            sizes[index] = size
            if not size:
                limits[index, node] = 0
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
