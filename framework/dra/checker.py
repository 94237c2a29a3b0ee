"""Judges allocations by the rules of the API, for whoever made them.

It works on the objects as served, and shares nothing with the allocator but the CEL runtime and the form of
an answer; so what one of the two gets wrong, the other finds.

Of each new allocation it is checked which devices serve which request, whether selectors, taints and
constraints allow them and whether the nodes reach them; of all allocations together, whether devices,
capacities and counters suffice (`checker_sums`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...models import resource_api as api
from ...models.semver import parse_version
from . import checker_sums as sums
from .allocation import Allocation, Result
from .cel.program import EvaluationError, Program, device_values
from .cel.values import pack_quantity, pack_version

if TYPE_CHECKING:
    from ...models.node import Node
    from ...models.selectors import NodeSelector
    from ...models.snapshot import Snapshot

Want = api.ExactDeviceRequest | api.DeviceSubRequest


@dataclass(frozen=True, slots=True)
class NewAllocation:
    """What a round allocates: the devices of a claim, chosen for a node.

    Attributes
    ----------
    key : str
        The claim's.
    claim : DeviceClaim
        What it asks for.
    allocation : Allocation
    node : str
    """

    key: str
    claim: api.DeviceClaim
    allocation: Allocation
    node: str


def faults(
    snapshot: "Snapshot", new: Sequence[NewAllocation], held: Mapping[str, Allocation] | None = None
) -> Iterator[str]:
    """Find what is wrong with allocations.

    Parameters
    ----------
    snapshot : Snapshot
    new : sequence of NewAllocation
        What a round adds.
    held : mapping, optional
        Claim key to the allocations that hold beside them; they are facts, and only counted.

    Yields
    ------
    str
        One sentence for each fault, which names the claim.
    """
    checker = _Checker(snapshot)
    for item in new:
        yield from checker.of_claim(item)
    everything = {**(held or {}), **{item.key: item.allocation for item in new}}
    devices = {id_: device for id_, (_, device) in checker.newest.items()}
    yield from sums.faults(
        checker.slices, devices, everything, [item.key for item in new], snapshot.feature_gates
    )


class _Checker:
    def __init__(self, snapshot: "Snapshot") -> None:
        self._gates = snapshot.feature_gates
        self._classes = {item.name: item for item in snapshot.device_classes}
        self._nodes = {node.name: node for node in snapshot.nodes}
        self._rules = snapshot.device_taint_rules if self._gates.enabled("DRADeviceTaints") else ()
        self._programs: dict[str, Program] = {}
        partitions = self._gates.enabled("DRAPartitionableDevices")
        self.slices = [
            item
            for item in snapshot.resource_slices
            if partitions
            or not (item.spec.shared_counters or item.spec.per_device_node_selection is not None)
        ]
        self.newest: dict[tuple[str, str, str], tuple[api.ResourceSlice, api.Device]] = {}
        for item in sorted(self.slices, key=lambda s: s.spec.pool.generation):
            for device in item.spec.devices:
                self.newest[item.spec.driver, item.spec.pool.name, device.name] = (item, device)

    # -- one claim --

    def of_claim(self, item: NewAllocation) -> Iterator[str]:
        """Find what is wrong with one allocation by itself."""
        where, results = f"claim {item.key}", item.allocation.results
        if len(results) > 32:
            yield f"{where}: has {len(results)} devices, more than 32"
        served: dict[str, list[Result]] = {}
        for result in results:
            served.setdefault(result.request, []).append(result)
        wanted = dict(self._wanted(item.claim))
        for name in served.keys() - wanted.keys():
            yield f"{where}: serves {name}, which is no request"
        for request in item.claim.requests:
            names = [
                name for name, (parent, _) in wanted.items() if parent == request.name and name in served
            ]
            if len(names) != 1:
                yield f"{where}: request {request.name} is served {len(names)} times, not once"
        found: list[tuple[str, str, Result, api.Device]] = []
        for name, (parent, want) in wanted.items():
            if name not in served:
                continue
            yield from self._of_want(f"{where}: {name}", item.node, want, served[name])
            for result in served[name]:
                device = self._device(item.node, result)
                if device is not None:
                    found.append((parent, name, result, device[1]))
        for constraint in item.claim.constraints:
            yield from self._of_constraint(where, constraint, found)
        yield from self._of_nodes(where, item)

    @staticmethod
    def _wanted(claim: api.DeviceClaim) -> Iterator[tuple[str, tuple[str, Want]]]:
        for request in claim.requests:
            if request.exactly is not None:
                yield request.name, (request.name, request.exactly)
            for alternative in request.first_available:
                yield f"{request.name}/{alternative.name}", (request.name, alternative)

    def _of_want(self, where: str, node: str, want: Want, results: Sequence[Result]) -> Iterator[str]:
        chosen = [tuple(result.id) for result in results]
        if want.allocation_mode == "ExactCount" and len(chosen) != want.count:
            yield f"{where} has {len(chosen)} devices, not {want.count}"
        admin = isinstance(want, api.ExactDeviceRequest) and want.admin_access
        for result in results:
            found = self._device(node, result)
            if found is None:
                yield f"{where} has {result.id}, which node {node} does not reach"
                continue
            slice_, device = found
            if result.admin != admin:
                yield f"{where} has {result.id} with adminAccess {result.admin}, not {admin}"
            if not self._matches(want, slice_, device):
                yield f"{where} has {result.id}, which its selectors do not take"
            if not self._tolerated(want, slice_, device):
                yield f"{where} has {result.id}, whose taints it does not tolerate"
            if device.consumes_counters and not self._gates.enabled("DRAPartitionableDevices"):
                yield f"{where} has {result.id}, which takes counters"
            yield from sums.of_result(where, want, slice_, device, result, self._gates)
        if want.allocation_mode == "All":
            yield from self._of_all(where, node, want, set(chosen))

    def _of_all(self, where: str, node: str, want: Want, chosen: set[Any]) -> Iterator[str]:
        """Find devices that a request for all devices lacks; one that may be shared may be full."""
        every = {
            (slice_.spec.driver, slice_.spec.pool.name, device.name)
            for slice_, device in self._reached(node)
            if self._matches(want, slice_, device)
            and sums.can_give(want, slice_, device)
            and not self._shared(device)
        }
        for id_ in every - chosen:
            yield f"{where} lacks {'/'.join(id_)}, and it wants all devices"
        for pool, slices in self._pools(node).items():
            if len(slices) != slices[0].spec.pool.resource_slice_count:
                yield f"{where} wants all devices, and pool {'/'.join(pool)} is incomplete"

    def _shared(self, device: api.Device) -> bool:
        return device.allow_multiple_allocations and self._gates.enabled("DRAConsumableCapacity")

    # -- devices --

    def _device(self, node: str, result: Result) -> tuple[api.ResourceSlice, api.Device] | None:
        """Return the device of a result as a node sees it; None where the node does not reach it."""
        for slice_, device in self._reached(node):
            if (slice_.spec.driver, slice_.spec.pool.name, device.name) == tuple(result.id):
                return slice_, device
        return None

    def _reached(self, name: str) -> Iterator[tuple[api.ResourceSlice, api.Device]]:
        """Iterate over the devices that a node reaches, in slices of the newest generation that it sees."""
        node = self._nodes[name]
        for slices in self._pools(name).values():
            for item in slices:
                if self._sees(node, item):
                    for device in item.spec.devices:
                        if not item.spec.per_device_node_selection or _names(device, node):
                            yield item, device

    def _pools(self, name: str) -> dict[tuple[str, str], list[api.ResourceSlice]]:
        """Return the slices of each pool that a node sees: those of the newest generation.

        A pool with counters in slices of their own counts everywhere, any other one where the node sees it.
        """
        node = self._nodes[name]
        pools: dict[tuple[str, str], list[api.ResourceSlice]] = {}
        for item in self.slices:
            pools.setdefault((item.spec.driver, item.spec.pool.name), []).append(item)
        found: dict[tuple[str, str], list[api.ResourceSlice]] = {}
        for pool, slices in pools.items():
            apart = [item for item in slices if item.spec.shared_counters and not item.spec.devices]
            seen = [item for item in slices if item not in apart and self._sees(node, item)]
            if not seen:
                continue
            newest = max(item.spec.pool.generation for item in (*seen, *apart))
            counted = slices if any(item.spec.pool.generation == newest for item in apart) else seen
            found[pool] = [item for item in counted if item.spec.pool.generation == newest]
        return found

    @staticmethod
    def _sees(node: "Node", item: api.ResourceSlice) -> bool:
        if item.spec.per_device_node_selection:
            return any(_names(device, node) for device in item.spec.devices)
        return _names(item.spec, node)

    def _matches(self, want: Want, slice_: api.ResourceSlice, device: api.Device) -> bool:
        class_ = self._classes.get(want.device_class_name)
        if class_ is None:
            return False
        return self._takes((*class_.spec.selectors, *want.selectors), slice_, device)

    def _takes(
        self, selectors: Sequence[api.DeviceSelector], slice_: api.ResourceSlice, device: api.Device
    ) -> bool:
        driver = slice_.spec.driver
        values = device_values(
            driver,
            _by_domain({name: _value(item) for name, item in device.attributes.items()}, driver),
            _by_domain({name: pack_quantity(item.value) for name, item in device.capacity.items()}, driver),
            shared=self._shared(device),
        )
        for selector in selectors:
            expression = "" if selector.cel is None else selector.cel.expression
            if expression not in self._programs:
                self._programs[expression] = Program(expression)
            try:
                if not self._programs[expression].matches(values):
                    return False
            except EvaluationError:
                return False
        return True

    def _tolerated(self, want: Want, slice_: api.ResourceSlice, device: api.Device) -> bool:
        if not self._gates.enabled("DRADeviceTaints"):
            return True
        taints = [*device.taints, *(r.spec.taint for r in self._rules if self._tainted(r, slice_, device))]
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

    def _tainted(self, rule: api.DeviceTaintRule, slice_: api.ResourceSlice, device: api.Device) -> bool:
        where = rule.spec.device_selector
        if where is None:
            return False
        class_ = self._classes.get(where.device_class_name or "")
        if where.device_class_name is not None and class_ is None:
            return False
        return (
            where.driver in (None, slice_.spec.driver)
            and where.pool in (None, slice_.spec.pool.name)
            and where.device in (None, device.name)
            and self._takes((*(class_.spec.selectors if class_ else ()), *where.selectors), slice_, device)
        )

    # -- constraints and nodes --

    def _of_constraint(
        self,
        where: str,
        constraint: api.DeviceConstraint,
        found: Sequence[tuple[str, str, Result, api.Device]],
    ) -> Iterator[str]:
        name = constraint.match_attribute or constraint.distinct_attribute or ""
        domain, _, short = name.partition("/")
        values: list[Any] = []
        for parent, full, result, device in found:
            if constraint.requests and parent not in constraint.requests and full not in constraint.requests:
                continue
            item = device.attributes.get(name)
            if item is None and result.id.driver == domain:
                item = device.attributes.get(short)
            if item is None:
                yield f"{where}: {result.id} lacks {name}, which a constraint compares"
            else:
                values.append(item)
        different = sum(value not in values[:k] for k, value in enumerate(values))
        if constraint.match_attribute is not None and different > 1:
            yield f"{where}: devices differ in {name}"
        if constraint.distinct_attribute is not None and different < len(values):
            yield f"{where}: devices are alike in {name}"

    def _of_nodes(self, where: str, item: NewAllocation) -> Iterator[str]:
        """Find a node from which the allocation says its devices are reached, and one is not."""
        for name, node in self._nodes.items():
            if _selected(item.allocation.selector, node):
                for result in item.allocation.results:
                    if self._device(name, result) is None:
                        yield f"{where}: node {name} is said to reach {result.id}, and does not"
            elif name == item.node:
                yield f"{where}: was allocated for node {name}, which its node selector leaves out"


def _names(item: api.ResourceSliceSpec | api.Device, node: "Node") -> bool:
    """Say whether a slice or a device names a node."""
    if item.node_name:
        return item.node_name == node.name
    return bool(item.all_nodes) or (item.node_selector is not None and _selected(item.node_selector, node))


def _selected(selector: "NodeSelector | None", node: "Node") -> bool:
    return selector is None or selector.matches(node.metadata.labels, node.name)


def _by_domain(values: Mapping[str, Any], driver: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for spelled in (False, True):
        for name, value in values.items():
            if ("/" in name) == spelled:
                domain, short = name.split("/", 1) if spelled else (driver, name)
                found.setdefault(domain, {})[short] = value
    return found


def _value(item: api.DeviceAttribute) -> Any:
    if item.version_value is not None:
        return pack_version(parse_version(item.version_value))
    for value in (item.int_value, item.bool_value, item.string_value):
        if value is not None:
            return value
    return None
