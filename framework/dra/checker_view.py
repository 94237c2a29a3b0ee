"""The checker's look at devices: which of them a node reaches, and whether a request may have them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...models import resource_api as api
from ...models.semver import parse_version
from ..vocabulary.releases import RELEASES
from .cel.program import EvaluationError, compiled, device_values
from .cel.values import pack_quantity, pack_version
from .checker_pools import ServedPool, ServedPools

if TYPE_CHECKING:
    from ...models.node import Node
    from ...models.selectors import NodeSelector
    from ...models.snapshot import Snapshot

Id = tuple[str, str, str]
"""Driver, pool and device."""

Want = api.ExactDeviceRequest | api.DeviceSubRequest

_Place = api.ResourceSliceSpec | api.Device
"""What says which nodes reach devices: a slice, or each device of it."""

_NAME: Final = "metadata.name"


class Served(NamedTuple):
    """A device and the slice that it is in."""

    slice_: api.ResourceSlice
    device: api.Device

    @property
    def driver(self) -> str:
        """The driver, in whose domain short names are."""
        return self.slice_.spec.driver

    @property
    def id(self) -> Id:
        """What an allocation calls it."""
        return self.driver, self.slice_.spec.pool.name, self.device.name

    def reached_from(self, node: "Node") -> bool:
        """Whether the device is served on a node."""
        if self.slice_.spec.per_device_node_selection:
            return _names(self.device, node)
        return _names(self.slice_.spec, node)


class ServedDevices:
    """The devices of a snapshot.

    Attributes
    ----------
    slices : list of ResourceSlice
        Those that take part.
    release : Release
    """

    def __init__(self, snapshot: "Snapshot") -> None:
        gates = snapshot.feature_gates.known_to(snapshot.kube_version)
        self._tainting = gates.enabled("DRADeviceTaints")
        self.sharing = gates.enabled("DRAConsumableCapacity")
        self._binding = gates.enabled("DRADeviceBindingConditions")
        self.lists = gates.enabled("DRAListTypeAttributes")
        self.partitions = gates.enabled("DRAPartitionableDevices")
        self._classes = {item.name: item for item in snapshot.device_classes}
        self._rules = snapshot.device_taint_rules
        self.slices = [
            item
            for item in snapshot.resource_slices
            if self.partitions
            or not (item.spec.shared_counters or item.spec.per_device_node_selection is not None)
        ]
        self.release = RELEASES[snapshot.kube_version]
        self._pools = ServedPools(
            self.slices, snapshot.resource_slices, self.release, partitions=self.partitions
        )
        self._reached: dict[str, dict[Id, Served]] = {}

    def pools(self, node: "Node") -> Iterator[ServedPool]:
        """Iterate over the pools that a node sees."""
        return self._pools.of(node, _sees)

    def reached(self, node: "Node") -> Mapping[Id, Served]:
        """Return the devices that a node reaches."""
        found = self._reached.get(node.name)
        if found is None:
            every = (
                Served(item, device)
                for pool in self.pools(node)
                for item in pool.slices
                for device in item.spec.devices
            )
            found = {served.id: served for served in every if served.reached_from(node)}
            self._reached[node.name] = found
        return found

    def shared(self, device: api.Device) -> bool:
        """Whether several claims may have shares of a device."""
        return self.sharing and device.allow_multiple_allocations

    def matches(self, want: Want, served: Served) -> bool:
        """Whether the selectors of a request and its class take a device."""
        if served.device.binding_conditions and not self._binding:
            return False
        class_ = self._classes.get(want.device_class_name)
        return class_ is not None and self._takes((*class_.spec.selectors, *want.selectors), served)

    def tolerated(self, want: Want, served: Served) -> bool:
        """Whether a request puts up with all taints of a device."""
        if not self._tainting:
            return True
        taints = [*served.device.taints, *(r.spec.taint for r in self._rules if self._tainted(r, served))]
        return all(
            taint.effect == "None"
            or any(
                toleration.key in ("", taint.key)
                and toleration.effect in ("", taint.effect)
                and (toleration.operator == "Exists" or toleration.value == taint.value)
                for toleration in want.tolerations
            )
            for taint in taints
        )

    def _tainted(self, rule: api.DeviceTaintRule, served: Served) -> bool:
        where = rule.spec.device_selector
        if where is None:
            return False
        class_ = self._classes.get(where.device_class_name or "")
        if where.device_class_name is not None and class_ is None:
            return False
        driver, pool, device = served.id
        return (
            where.driver in (None, driver)
            and where.pool in (None, pool)
            and where.device in (None, device)
            and self._takes((*(class_.spec.selectors if class_ else ()), *where.selectors), served)
        )

    def _takes(self, selectors: Sequence[api.DeviceSelector], served: Served) -> bool:
        device, driver = served.device, served.driver
        values = device_values(
            driver,
            _by_domain({name: self._value(item) for name, item in device.attributes.items()}, driver),
            _by_domain({name: pack_quantity(item.value) for name, item in device.capacity.items()}, driver),
            shared=self.shared(device),
        )
        for selector in selectors:
            expression = "" if selector.cel is None else selector.cel.expression
            try:
                if not compiled(expression).matches(values):
                    return False
            except EvaluationError:
                return False
        return True

    def compared(self, item: api.DeviceAttribute) -> set[tuple[str, Any]]:
        """Return the values that a constraint compares, by type; a single one is a set of one."""
        single = {"int": item.int_value, "bool": item.bool_value, "string": item.string_value}
        single["version"] = item.version_value
        found = {(name, value) for name, value in single.items() if value is not None}
        if self.lists:
            several = {"int": item.ints, "bool": item.bools, "string": item.strings, "version": item.versions}
            found |= {(name, value) for name, values in several.items() for value in values or ()}
        return found

    def _value(self, item: api.DeviceAttribute) -> Any:
        if item.version_value is not None:
            return pack_version(parse_version(item.version_value))
        given = (item.int_value, item.bool_value, item.string_value)
        single = next((value for value in given if value is not None), None)
        if single is not None or not self.lists:
            return single
        versions = None if item.versions is None else [pack_version(parse_version(v)) for v in item.versions]
        several = (item.ints, item.bools, item.strings, versions)
        return next((list(values) for values in several if values is not None), None)


class Reach:
    """From which nodes devices are served and which nodes selectors take, each found out once.

    Parameters
    ----------
    nodes : mapping
        Name to node, in the order of the snapshot.
    """

    def __init__(self, nodes: Mapping[str, "Node"]) -> None:
        self._nodes = nodes
        self._every = frozenset(nodes)
        self._selected: dict[NodeSelector, frozenset[str]] = {}
        self._serving: dict[int, tuple[_Place, frozenset[str]]] = {}

    def selected(self, selector: "NodeSelector | None") -> frozenset[str]:
        """Return the names of the nodes that a node selector takes."""
        if selector is None:
            return self._every
        found = self._selected.get(selector)
        if found is None:
            asked = self._asked(selector)
            found = frozenset(name for name in asked if _takes(selector, self._nodes[name]))
            self._selected[selector] = found
        return found

    def serving(self, served: Served) -> frozenset[str]:
        """Return the names of the nodes from which a device is reached."""
        spec = served.slice_.spec
        place: _Place = served.device if spec.per_device_node_selection else spec
        known = self._serving.get(id(place))  # the object is kept beside it, so its id stays its own
        if known is None:
            asked = {place.node_name} & self._every if place.node_name else self._every
            known = place, frozenset(name for name in asked if _names(place, self._nodes[name]))
            self._serving[id(place)] = known
        return known[1]

    def in_order(self, names: Collection[str]) -> list[str]:
        """Return names of nodes in the order of the snapshot."""
        return [name for name in self._nodes if name in names] if names else []

    def _asked(self, selector: "NodeSelector") -> frozenset[str]:
        """Return the nodes to be asked: those that the terms name, all where one of them names none."""
        named: set[str] = set()
        for term in selector.node_selector_terms:
            fields = [f for f in term.match_fields if f.key == _NAME and f.operator == "In"]
            if not fields:
                return self._every
            named.update(fields[0].values)
        return self._every & named


def _takes(selector: "NodeSelector", node: "Node") -> bool:
    return selector.matches(node.metadata.labels, node.name)


def _names(item: _Place, node: "Node") -> bool:
    """Whether a slice or a device names a node."""
    if item.node_name:
        return item.node_name == node.name
    return bool(item.all_nodes) or (item.node_selector is not None and _takes(item.node_selector, node))


def _sees(node: "Node", item: api.ResourceSlice) -> bool:
    if item.spec.per_device_node_selection:
        return any(_names(device, node) for device in item.spec.devices)
    return _names(item.spec, node)


def _by_domain(values: Mapping[str, Any], driver: str) -> dict[str, dict[str, Any]]:
    """Sort named values by domain; what is spelled with its domain wins."""
    found: dict[str, dict[str, Any]] = {}
    for spelled in (False, True):
        for name, value in values.items():
            if ("/" in name) == spelled:
                domain, short = name.split("/", 1) if spelled else (driver, name)
                found.setdefault(domain, {})[short] = value
    return found
