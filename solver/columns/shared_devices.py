"""Devices that pods share by one capacity: which claims want them, what each takes, and what is left.

They are read only where nothing but what forbids depends on more than what stands on one node and on how
often:

- no claim that a waiting pod has gives devices back;
- a pod has one claim at most, of its own, with one request for a number of devices without constraints;
- the devices of a node are shared ones of this node alone, with one capacity and no counters, and every claim
  that may have some of them may have any;
- a claim for several shares asks for more than half of each device, so that they are on different ones.

Source: docs/model.md; KEP-5075.
"""

from __future__ import annotations

from enum import Enum, auto
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from ...framework.dra.capacity import capacities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...encoders.dra.problem import DeviceProblem
    from ...encoders.problem import PodClass, Problem
    from ...framework.dra.claims import Want
    from ...framework.dra.devices import Device


class Evictable(Enum):
    """What becomes of the running pods that a plan may evict."""

    STAY = auto()
    GONE = auto()


def shared_devices(problem: Problem, evictable: Evictable) -> SharedDevices | None:
    """Return the devices of a round, where it has any."""
    devices = problem.devices
    if devices is None:
        return None
    return problem.memo(("shared devices", evictable), partial(SharedDevices, problem, devices, evictable))


def devices_left(problem: Problem, node: int, want: Want) -> list[tuple[Device, Fraction]]:
    """Return the devices of a node that a want may have while nobody leaves, and what each has left."""
    shared = shared_devices(problem, Evictable.STAY)
    assert shared is not None, "a want is of a round with devices"
    return [(device, shared.left(device)) for device in shared.options(want, node)]


class SharedDevices:
    """The devices of one round."""

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

    def options(self, want: Want, node: int) -> list[Device]:
        """Return the devices of a node that a want may have."""
        return [device for _, devices in self._devices.options(want, node) for device in devices]

    def blocked(self, cls: PodClass) -> bool:
        """Whether pods of a class wait for claims that do not exist."""
        return cls.pod in self._devices.blocked

    def wants(self) -> dict[int, Want] | None:
        """Return what the claims of each class want, by its index; None where some are of another sort."""
        devices = self._devices
        if self._held is None or devices.apart or devices.blurred or devices.common:
            return None
        wants: dict[int, Want] = {}
        for cls in self._problem.classes:
            if devices.index.needs_devices(cls.pod) and not self.blocked(cls):
                want = self._want(cls)
                if want is None:
                    return None
                wants[cls.index] = want
        return wants

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

    def amounts(
        self, node: int, wants: Sequence[Want | None]
    ) -> tuple[list[Fraction], list[Fraction]] | None:
        """Return what each want takes of a device of a node, and what its devices have left.

        A want takes nothing where it finds none, or where None stands for it. None where devices are of
        another sort.
        """
        sizes: list[Fraction] = []
        here: list[Device] = []
        for want in wants:
            found = [] if want is None else self.options(want, node)
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
