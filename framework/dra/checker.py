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
from . import checker_sums as sums
from .allocation import Allocation, Result
from .checker_view import Reach, Served, ServedDevices, Want

if TYPE_CHECKING:
    from ...models.node import Node
    from ...models.snapshot import Snapshot

_MOST_RESULTS = 32


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
    """Find what is wrong with allocations; see `Checker.faults`."""
    return Checker(snapshot).faults(new, held)


class Checker:
    """Judges allocations of one snapshot.

    Attributes
    ----------
    devices : ServedDevices
    """

    def __init__(self, snapshot: "Snapshot") -> None:
        self.devices = ServedDevices(snapshot)
        self._nodes = {node.name: node for node in snapshot.nodes}
        self._reach = Reach(self._nodes)

    def faults(
        self, new: Sequence[NewAllocation], held: Mapping[str, Allocation] | None = None
    ) -> Iterator[str]:
        """Find what is wrong with allocations.

        Parameters
        ----------
        new : sequence of NewAllocation
            What a round adds.
        held : mapping, optional
            Claim key to the allocations that hold beside them; they are facts, and only counted.

        Yields
        ------
        str
            One sentence for each fault, which names the claim or the device.
        """
        for item in new:
            yield from _ClaimCheck(self.devices, self._nodes, self._reach, item).faults()
        everything = {**(held or {}), **{item.key: item.allocation for item in new}}
        yield from sums.faults(self.devices, everything, [item.key for item in new])


class _ClaimCheck:
    """One allocation by itself."""

    def __init__(
        self, devices: ServedDevices, nodes: Mapping[str, "Node"], reach: Reach, item: NewAllocation
    ) -> None:
        self._devices = devices
        self._nodes = nodes
        self._reach = reach
        self._item = item
        self._where = f"claim {item.key}"
        self._reached = devices.reached(nodes[item.node])

    def faults(self) -> Iterator[str]:
        """Find what is wrong."""
        results = self._item.allocation.results
        if len(results) > _MOST_RESULTS:
            yield f"{self._where}: has {len(results)} devices, more than {_MOST_RESULTS}"
        served: dict[str, list[Result]] = {}
        for result in results:
            served.setdefault(result.request, []).append(result)
        wanted = dict(self._wanted())
        for name in served.keys() - wanted.keys():
            yield f"{self._where}: serves {name}, which is no request"
        for request in self._item.claim.requests:
            times = sum(parent == request.name and name in served for name, (parent, _) in wanted.items())
            if times != 1:
                yield f"{self._where}: request {request.name} is served {times} times, not once"
        for name, (_, want) in wanted.items():
            if name in served:
                yield from self._of_want(f"{self._where}: {name}", want, served[name])
        found = [
            (wanted[result.request][0], result.request, self._reached[result.id])
            for result in results
            if result.request in wanted and result.id in self._reached
        ]
        for constraint in self._item.claim.constraints:
            yield from self._of_constraint(constraint, found)
        yield from self._of_nodes([served for _, _, served in found])

    def _wanted(self) -> Iterator[tuple[str, tuple[str, Want]]]:
        """Iterate over what may be served, with the name of its request."""
        for request in self._item.claim.requests:
            if request.exactly is not None:
                yield request.name, (request.name, request.exactly)
            for alternative in request.first_available:
                yield f"{request.name}/{alternative.name}", (request.name, alternative)

    def _of_want(self, where: str, want: Want, results: Sequence[Result]) -> Iterator[str]:
        if want.allocation_mode == "ExactCount" and len(results) != want.count:
            yield f"{where} has {len(results)} devices, not {want.count}"
        if not self._devices.release.repeated_shares:
            twice = {r.id for k, r in enumerate(results) if r.share and r.id in {s.id for s in results[:k]}}
            yield from (f"{where} has {id_} twice" for id_ in sorted(twice))
        admin = isinstance(want, api.ExactDeviceRequest) and want.admin_access
        for result in results:
            served = self._reached.get(result.id)
            if served is None:
                yield f"{where} has {result.id}, which node {self._item.node} does not reach"
                continue
            if result.admin != admin:
                yield f"{where} has {result.id} with adminAccess {result.admin}, not {admin}"
            if not self._devices.matches(want, served):
                yield f"{where} has {result.id}, which its selectors do not take"
            if not self._devices.tolerated(want, served):
                yield f"{where} has {result.id}, whose taints it does not tolerate"
            if served.device.consumes_counters and not self._devices.partitions:
                yield f"{where} has {result.id}, which takes counters"
            yield from sums.of_result(where, want, served, result, shared=self._devices.shared(served.device))
        if want.allocation_mode == "All":
            yield from self._of_all(where, want, results)

    def _of_all(self, where: str, want: Want, results: Sequence[Result]) -> Iterator[str]:
        """Find devices that a request for all devices lacks; one that may be shared may be full."""
        chosen = {result.id for result in results}
        for id_, served in self._reached.items():
            matching = self._devices.matches(want, served) and sums.can_give(want, served)
            if matching and id_ not in chosen and not self._devices.shared(served.device):
                yield f"{where} lacks {'/'.join(id_)}, and it wants all devices"
        for pool in self._devices.pools(self._nodes[self._item.node]):
            if not pool.complete:
                yield f"{where} wants all devices, and pool {'/'.join(pool.name)} is incomplete"

    def _of_constraint(
        self, constraint: api.DeviceConstraint, found: Sequence[tuple[str, str, Served]]
    ) -> Iterator[str]:
        name = constraint.match_attribute or constraint.distinct_attribute or ""
        domain, _, short = name.partition("/")
        values: list[set[tuple[str, Any]]] = []
        for parent, full, served in found:
            if constraint.requests and parent not in constraint.requests and full not in constraint.requests:
                continue
            value = served.device.attributes.get(name)
            if value is None and served.driver == domain:
                value = served.device.attributes.get(short)
            if value is None:
                yield f"{self._where}: {'/'.join(served.id)} lacks {name}, which a constraint compares"
            else:
                values.append(self._devices.compared(value))
        if not values:
            return
        if constraint.match_attribute is not None and not set.intersection(*values):
            yield f"{self._where}: devices differ in {name}"
        alike = any(not value or any(value & other for other in values[:k]) for k, value in enumerate(values))
        if constraint.distinct_attribute is not None and alike:
            yield f"{self._where}: devices are alike in {name}"

    def _of_nodes(self, found: Sequence[Served]) -> Iterator[str]:
        """Find a node from which the devices are said to be reached, and one is not."""
        here = self._item.node
        said = self._reach.selected(self._item.allocation.selector)
        if here not in said:
            yield f"{self._where}: was allocated for node {here}, which its node selector leaves out"
        wrong = {served.id: said - self._from(served) for served in found}
        for name in self._reach.in_order(frozenset().union(*wrong.values())):
            for served in found:
                if name in wrong[served.id]:
                    yield f"{self._where}: node {name} is said to reach {'/'.join(served.id)}, and does not"

    def _from(self, served: Served) -> frozenset[str]:
        """Return the nodes from which a device is reached once it is allocated here."""
        found = self._reach.serving(served)
        return found & {self._item.node} if served.device.binds_to_node else found
