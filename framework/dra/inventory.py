"""All devices of a cluster, and what each node reaches of them.

Order is fixed where upstream's is random: pools by driver and name, slices by object name, devices as listed.
So the allocator's first answer is always the same one.

Which of a pool's slices a node sees, and how the pool is judged, is in `pools`.

Source: k8s.io/dynamic-resource-allocation/structured (pools_experimental.go).
"""

from collections.abc import Iterator
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ...models import resource_api as api
from ..index.node_selection import selector_mask
from ..vocabulary.arrays import Bools, Ints
from .counters import Counters, CounterScope
from .devices import Attribute, Device, DeviceId, PoolId, Slice, View, qualified
from .pools import PoolsSeen, WholePools, by_pool

if TYPE_CHECKING:
    from ..index.cluster import Cluster


class Inventory:
    """See the module's docstring.

    Attributes
    ----------
    devices : tuple of Device
        In order.
    contents : list of Device
        One device of each content.
    counters : Counters
    ids : dict
        Device id to identity, also of devices that only an allocation names.
    n_pools : int
        How many pools the slices make.
    pool_of : list of int
        Pool number by identity; at least `n_pools` for a pool that only an allocation names.
    fault : str
        Why no node's pools can be told (a node selector that cannot be parsed); empty where they can.
    """

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster
        self._partitions = cluster.gates.enabled("DRAPartitionableDevices")
        self._binding = cluster.gates.enabled("DRADeviceBindingConditions")
        self._lists = cluster.gates.enabled("DRAListTypeAttributes")
        self._shares = cluster.gates.enabled("DRAConsumableCapacity")
        self.counters = Counters()
        self.ids: dict[DeviceId, int] = {}
        self.pool_of: list[int] = []
        self.contents: list[Device] = []
        self.fault = ""
        self._pool_numbers: dict[PoolId, int] = {}
        self._content_numbers: dict[Any, int] = {}
        self._stock_numbers: dict[Any, int] = {}
        self._views: dict[tuple[int, ...], View] = {}
        self._of_node: dict[int, View] = {}

        taking_part = self._taking_part()
        apart = [item.spec for item in taking_part if item.spec.shared_counters and not item.spec.devices]
        self._apart = by_pool(apart)
        for item in taking_part:
            self._pool_number((item.spec.driver, item.spec.pool.name))
        self.n_pools = len(self._pool_numbers)
        with_devices = [item for item in taking_part if item.spec.devices or not item.spec.shared_counters]
        self._slices = [self._slice(number, item) for number, item in enumerate(with_devices)]
        numbers, partitions = self._pool_numbers, self._partitions
        every = [item.spec for item in cluster.snapshot.resource_slices]
        self._pools: PoolsSeen | WholePools = (
            WholePools(numbers, apart, every, partitions=partitions)
            if cluster.release.whole_pools
            else PoolsSeen(numbers, self._slices, apart, partitions=partitions)
        )
        self.devices: tuple[Device, ...] = tuple(self._make_devices())
        self._local: dict[int, list[Slice]] = {}
        self._wide: list[Slice] = []
        for slice_ in self._slices:
            home = slice_.spec.node_name
            if not home:
                self._wide.append(slice_)
            elif home in cluster.node_index:
                self._local.setdefault(cluster.node_index[home], []).append(slice_)

    def _taking_part(self) -> list[api.ResourceSlice]:
        slices = [
            item
            for item in self._cluster.snapshot.resource_slices
            if self._partitions
            or (item.spec.per_device_node_selection is None and not item.spec.shared_counters)
        ]
        return sorted(slices, key=lambda item: (item.spec.driver, item.spec.pool.name, item.name))

    def _slice(self, number: int, item: api.ResourceSlice) -> Slice:
        spec = item.spec
        pool = (spec.driver, spec.pool.name)
        nodes = self._reach(spec, f"slice {item.name}")
        if spec.per_device_node_selection:
            for device in spec.devices:
                mask = self._reach(device, f"device {device.name} in slice {item.name}")
                nodes = None if nodes is None or mask is None else nodes | mask
        if spec.shared_counters:
            scope = CounterScope(self.counters, number, spec.shared_counters)
        else:
            generation = spec.pool.generation
            same = [other for other in self._apart.get(pool, ()) if other.pool.generation == generation]
            sets = [counter_set for other in same for counter_set in other.shared_counters]
            scope = CounterScope(self.counters, (pool, generation), sets)
        return Slice(number, item.name, spec, nodes, scope)

    def _reach(self, item: api.ResourceSliceSpec | api.Device, where: str) -> Bools | None:
        """Say which nodes a slice or a device names; bool[N], None for all."""
        if not item.node_name and item.all_nodes:
            return None
        if not item.node_name and item.node_selector is not None:
            compiled = item.node_selector.compiled
            if any(term.unparsable for term in compiled.terms) and not self.fault:
                self.fault = f"gather pool information: failed to perform node selection for {where}"
            return selector_mask(self._cluster, compiled)
        named = np.zeros(self._cluster.n_nodes, dtype=np.bool_)
        home = self._cluster.node_index.get(item.node_name or "")
        if home is not None:
            named[home] = True
        return named

    def _make_devices(self) -> Iterator[Device]:
        number = 0
        for slice_ in self._slices:
            made = [self._device(number + k, slice_, spec) for k, spec in enumerate(slice_.spec.devices)]
            slice_.devices = tuple(made)
            number += len(made)
            yield from made

    def _device(self, number: int, slice_: Slice, spec: api.Device) -> Device:
        driver, pool = slice_.pool
        shared = self._shares and spec.allow_multiple_allocations
        attributes = _attributes(spec, driver, lists=self._lists)
        capacity = tuple(sorted((name, amount.value) for name, amount in spec.capacity.items()))
        content = (driver, tuple(sorted(attributes.items())), capacity, shared)
        id_ = DeviceId(driver, pool, spec.name)
        identity = self.identify(id_)
        stock = (driver, *sorted(spec.capacity.items(), key=itemgetter(0)))
        where = f"device {spec.name} in slice {slice_.name}"
        device = Device(
            number=number,
            identity=identity,
            content=self._content_numbers.setdefault(content, len(self.contents)),
            stock=self._stock_numbers.setdefault(stock, len(self._stock_numbers)),
            id=id_,
            spec=spec,
            slice=slice_,
            attributes=attributes,
            nodes=self._reach(spec, where) if slice_.per_device else None,
            shared=shared,
            counters=slice_.scope.taken(spec, identity),
            barred=bool(spec.consumes_counters) and not self._partitions,
            hidden=bool(spec.binding_conditions) and not self._binding,
        )
        if device.content == len(self.contents):
            self.contents.append(device)
        return device

    def _pool_number(self, pool: PoolId) -> int:
        return self._pool_numbers.setdefault(pool, len(self._pool_numbers))

    def identify(self, id_: DeviceId) -> int:
        """Return the number of a device's id."""
        found = self.ids.setdefault(id_, len(self.pool_of))
        if found == len(self.pool_of):
            self.pool_of.append(self._pool_number((id_.driver, id_.pool)))
        return found

    @cached_property
    def pools_of_nodes(self) -> Ints:
        """The numbers of the pools that each node reaches, filled up with -1; int64[N, K]."""
        pools = [[pool.number for pool in self.view(n).pools] for n in range(self._cluster.n_nodes)]
        width = max((len(numbers) for numbers in pools), default=0) or 1
        filled = [numbers + [-1] * (width - len(numbers)) for numbers in pools]
        return np.array(filled, dtype=np.int64).reshape(len(pools), width)

    def view(self, n: int) -> View:
        """Return what node n reaches."""
        view = self._of_node.get(n)
        if view is None:
            wide = [s for s in self._wide if s.nodes is None or s.nodes[n]]
            slices = sorted((*self._local.get(n, ()), *wide), key=lambda s: s.number)
            name = self._cluster.node_names[n]
            own = n if self._pools.own(name) or any(s.per_device for s in slices) else -1
            key = (own, *(s.number for s in slices))
            view = self._views.get(key)
            if view is None:
                pools = self._pools.of(slices, name)
                # Pools whose devices bind under conditions come last.
                last = sorted(pools, key=lambda p: any(d.spec.binding_conditions for d in p.devices))
                view = self._views[key] = View(tuple(last), n, self._pools.tolerant)
            self._of_node[n] = view
        return view


def _attributes(spec: api.Device, driver: str, *, lists: bool) -> dict[str, Attribute]:
    """Return attributes by full name; one that is spelled with its domain wins over one without."""
    spelled = sorted(spec.attributes.items(), key=lambda item: "/" in item[0])
    return {qualified(name, driver): _typed(attribute, lists=lists) for name, attribute in spelled}


def _typed(attribute: api.DeviceAttribute, *, lists: bool) -> Attribute:
    """Return kind and value; a list that is not read has neither."""
    for kind in ("int", "bool", "string", "version"):
        value, several = getattr(attribute, f"{kind}_value"), getattr(attribute, f"{kind}s")
        if value is not None:
            return kind, value
        if several is not None and lists:
            return f"{kind}s", several
    return "", None
