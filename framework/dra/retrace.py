"""Whether the allocator could have chosen given devices, for a pod on a node, as things stand.

Its own rules are followed along an answer instead of a search for one: devices in the order of claims and
requests, each with the rules of `trial`; a request for all devices has every device that matches and has
room.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .allocation import Allocation, Result, reach_of
from .candidates import candidates
from .claims import MOST_RESULTS, ClaimSpec, Want
from .devices import Device, DeviceId, View
from .trial import Trial

if TYPE_CHECKING:
    from .index import DeviceIndex
    from .state import ClaimState


def retrace(
    index: "DeviceIndex",
    claims: "ClaimState",
    n: int,
    wanted: Sequence[tuple[ClaimSpec, Allocation]],
) -> str:
    """Say why the allocator cannot have chosen these devices; empty where it can.

    Parameters
    ----------
    index : DeviceIndex
    claims : ClaimState
        What is allocated now.
    n : int
        The node.
    wanted : sequence of (ClaimSpec, Allocation)
        The claims of one pod that have no devices yet, in the pod's order.
    """
    return _Path(index, claims, n, [spec for spec, _ in wanted]).walk([a for _, a in wanted])


class _Path:
    def __init__(
        self, index: "DeviceIndex", claims: "ClaimState", n: int, specs: Sequence[ClaimSpec]
    ) -> None:
        inventory = index.inventory
        self._view: View = inventory.view(n)
        self._repeats = index.cluster.release.repeated_shares
        self._name = index.cluster.node_names[n]
        self._specs = specs
        self._trial = Trial(specs, claims, inventory.counters)
        wants = [w for spec in specs for r in spec.requests for w in r.wants if w.all_devices]
        self._all = {id(want): self._every(want) for want in wants}

    def _every(self, want: Want) -> frozenset[DeviceId]:
        found = [c.device for c in candidates(self._view, want.selection) if c.device is not None]
        return frozenset(device.id for device in found if self._trial.has_room(want, device))

    def walk(self, allocations: Sequence[Allocation]) -> str:
        """Follow the answer."""
        devices = self._devices()
        for c, (spec, allocation) in enumerate(zip(self._specs, allocations, strict=True)):
            if len(allocation.results) > MOST_RESULTS:
                return f"{len(allocation.results)} devices, more than {MOST_RESULTS}"
            unknown = next((r.id for r in allocation.results if r.id not in devices), None)
            if unknown is not None:
                return f"device {unknown}, which the node does not reach"
            served: dict[str, list[Result]] = {}
            for result in allocation.results:
                served.setdefault(result.request, []).append(result)
            for request in spec.requests:
                chosen = [want for want in request.wants if want.result in served]
                if len(chosen) != 1:
                    return f"request {request.name} served {len(chosen)} times"
                [want] = chosen
                fault = self._want(c, want, [(r, devices[r.id]) for r in served[want.result]])
                if fault:
                    return fault
            if reach_of([devices[r.id] for r in allocation.results], self._name) != allocation.selector:
                return f"devices that are not those for node {self._name}"
        return ""

    def _want(self, c: int, want: Want, given: Sequence[tuple[Result, Device]]) -> str:
        if want.all_devices and {result.id for result, _ in given} != self._all[id(want)]:
            return f"not all devices for {want.result}"
        if not want.all_devices and len(given) != want.count:
            return f"{len(given)} devices for {want.result}, not {want.count}"
        ids = [result.id for result, _ in given]
        again = next((id_ for k, id_ in enumerate(ids) if id_ in ids[:k]), None)
        if again is not None and not self._repeats:
            return f"device {again} twice for {want.result}"
        taken = {c.device.id for c in candidates(self._view, want.selection) if c.device and not c.refusal}
        for result, device in given:
            if device.id not in taken:
                return f"device {device.id}, which {want.result} does not take"
            amounts = want.taken(device) if device.shared else None
            if result.admin != want.admin or bool(result.share) != device.shared:
                return f"device {device.id} in another way than {want.result} asks for"
            if dict(result.taken) != (amounts or {}):
                return f"device {device.id} with other amounts than {want.result} takes"
            if not self._trial.choose(c, want, device, must=False):
                return f"device {device.id}, which is not to be had"
        return ""

    def _devices(self) -> Mapping[DeviceId, Device]:
        found: dict[DeviceId, Device] | None = self._view.found.get("by id")
        if found is None:
            found = {device.id: device for pool in self._view.pools for device in pool.devices}
            self._view.found["by id"] = found
        return found
