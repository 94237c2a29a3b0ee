"""Devices by the nodes that reach them, and their holders in a state."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ...framework.dra.index import device_index
from ...framework.rules.groups import group_of
from ...models.topology import SeatedDevice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...framework.dra.devices import Device, DeviceId
    from ...framework.dra.index import Consumer
    from ...framework.dra.inventory import Inventory
    from ...framework.index.cluster import Cluster
    from ...framework.state.state import State

Seats = tuple[SeatedDevice, ...]


class DeviceSeats(NamedTuple):
    """Devices that one node reaches, those of several nodes of a domain, and those of several domains."""

    of_node: Mapping[int, Seats]
    of_domain: Mapping[str | None, Seats]
    of_all: Seats


def seat_devices(cluster: Cluster, state: State, of_node: Sequence[str | None]) -> DeviceSeats:
    """Return where the devices of a cluster are, and which pods hold them.

    Parameters
    ----------
    cluster, state : Cluster, State
        The state is the end of the round.
    of_node : sequence of str or None
        The domain of each node.
    """
    index = device_index(cluster)
    if index is None or state.claims is None:
        return DeviceSeats({}, {}, ())
    inventory = index.inventory
    holders: dict[DeviceId, dict[str, bool]] = {}
    given = index.given
    for key, allocation in state.claims.allocations.items():
        names = [_holder(cluster, consumer) for consumer in state.claims.reserved.get(key, ())]
        placed = given.get(key) is not allocation
        for result in (result for result in allocation.results if not result.admin):
            for name in sorted(names) or [f"claim {key}"]:
                holders.setdefault(result.id, {})[name] = placed
    nodes: dict[int, list[int]] = defaultdict(list)
    devices: dict[int, Device] = {}
    for n in range(cluster.n_nodes):
        for pool in inventory.view(n).pools:
            for device in pool.devices:
                if device.nodes is None or device.nodes[n]:
                    devices[device.number] = device
                    nodes[device.number].append(n)
    taken = {inventory.identify(id_) for id_ in holders}
    own: dict[int, list[SeatedDevice]] = defaultdict(list)
    shared: dict[str | None, list[SeatedDevice]] = defaultdict(list)
    wide: list[SeatedDevice] = []
    for number, device in sorted(devices.items()):
        seat = _seat(inventory, device, holders.get(device.id, {}), taken)
        homes = nodes[number]
        domains = {of_node[n] for n in homes}
        if len(homes) == 1:
            own[homes[0]].append(seat)
        elif len(domains) == 1:
            shared[domains.pop()].append(seat)
        else:
            wide.append(seat)
    return DeviceSeats(
        {n: tuple(found) for n, found in own.items()},
        {domain: tuple(found) for domain, found in shared.items()},
        tuple(wide),
    )


def _holder(cluster: Cluster, consumer: Consumer) -> str:
    """Name a pod's group, else the pod; a group's own reservation is the group's."""
    if isinstance(consumer, int):
        group = group_of(cluster, consumer)
        return cluster.pods[consumer].key if group is None else group.key
    return consumer.removeprefix("podgroups ")


def _seat(inventory: Inventory, device: Device, holders: Mapping[str, bool], taken: set[int]) -> SeatedDevice:
    name = f"{device.id.pool}/{device.id.device}"
    if holders:
        return SeatedDevice(
            device=name, state="taken", placed=any(holders.values()), holders=tuple(sorted(holders))
        )
    return SeatedDevice(device=name, state="spent" if _spent(inventory, device, taken) else "free")


def _spent(inventory: Inventory, device: Device, taken: set[int]) -> bool:
    """Whether a counter of the device is used up by others."""
    counters = inventory.counters
    for number, amount in device.counters:
        used = sum((a for i, a in counters.takers[number].items() if i in taken), Fraction(0))
        if used + amount > counters.values[number]:
            return True
    return False
