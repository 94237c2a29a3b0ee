"""Devices and claims as the encoders see them.

Devices that no selector, constraint, taint, counter or node can tell apart are one `DeviceKind` and are
counted. A claim is *private* where exactly one pending pod has it and it is neither allocated nor reserved:
pods that differ only in private claims with equal requests are one class. All other claims of pending pods
are *common*: named by several pods, of a pod group, or allocated before the round.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...framework.dra.candidates import candidates
from ...framework.dra.claims import MOST_RESULTS
from ...framework.dra.extended import claim_for, requested, served_resources
from ...framework.dra.index import DeviceIndex
from ...framework.dra.taints import tolerated

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ...framework.dra.claims import ClaimSpec, Want
    from ...framework.dra.devices import Device, View
    from ...framework.dra.index import Consumer, DeviceIndex
    from ...framework.dra.state import ClaimState
    from ...framework.index.cluster import Cluster
    from ...framework.vocabulary.arrays import Bools, Ints

# No bound of how many claims have devices on a node.
UNBOUNDED = 2**62

MOST_APART = 64
"""Devices up to which each may be a kind of its own."""


@dataclass(frozen=True, eq=False)
class DeviceKind:
    """Devices that are alike; a shared device is a kind of its own.

    Attributes
    ----------
    devices : list of Device
    holder : str or None
        The allocated claim that holds them now; None for free ones.
    reach : bool[N] or None
        Nodes from which they are reached; None for all.
    """

    index: int
    devices: list[Device]
    holder: str | None
    reach: Bools | None

    @property
    def device(self) -> Device:
        """A device that stands for all."""
        return self.devices[0]

    @property
    def shared(self) -> bool:
        """Whether several claims may hold the device at once."""
        return self.device.shared

    @property
    def wide(self) -> bool:
        """Whether more than one node reaches the devices."""
        return self.reach is None or int(self.reach.sum()) > 1

    def reaches(self, node: int) -> bool:
        """Whether a node reaches the devices."""
        return self.reach is None or bool(self.reach[node])


@dataclass(eq=False)
class DeviceProblem:
    """Claims of the pending pods, and the kinds of devices.

    Attributes
    ----------
    private : dict
        Pending pod -> its private claims, in the pod's order.
    common : dict
        Claim key -> the pending pods that have it and for which devices are chosen or looked at.
    blocked : set
        Pending pods that wait for claims that do not exist.
    apart : bool
        Whether each device is a kind of its own, since it matters which one a claim gets (`identity`).
    blurred : bool
        Whether that matters, and devices are counted all the same.
    """

    cluster: Cluster
    index: DeviceIndex
    claims: ClaimState
    private: dict[int, tuple[str, ...]] = field(default_factory=dict)
    common: dict[str, list[int]] = field(default_factory=dict)
    blocked: set[int] = field(default_factory=set)
    apart: bool = False
    blurred: bool = False
    kinds: list[DeviceKind] = field(default_factory=list)
    _kind_of: dict[int, DeviceKind] = field(default_factory=dict)
    _most_served: dict[tuple[int, int], int] = field(default_factory=dict)

    def spec(self, key: str) -> ClaimSpec:
        """Return what a claim asks for."""
        return self.index.spec(key)

    def private_specs(self, pod: int, node: int) -> tuple[ClaimSpec, ...]:
        """Return what a pod's private claims ask for on a node, its extended resources included."""
        specs = tuple(self.spec(key) for key in self.private.get(pod, ()))
        extended = served_resources(self.cluster, pod, node)
        if extended:
            specs += (self.index.specs.of(claim_for(self.cluster.pods[pod].pod, extended)),)
        return specs

    def private_keys(self, pod: int, node: int) -> tuple[str, ...]:
        """Return the keys of the same claims, in the same order."""
        keys = self.private.get(pod, ())
        if served_resources(self.cluster, pod, node):
            keys += (f"{self.cluster.pods[pod].key}-extended-resources",)
        return keys

    def options(self, want: Want, node: int) -> list[tuple[DeviceKind, list[Device]]]:
        """Return the kinds that may serve a want on a node, held or not, with their devices there."""
        found: dict[int, tuple[DeviceKind, list[Device]]] = {}
        for device in self.matching(want, node):
            if self.usable(want, device):
                kind = self.kind(device)
                found.setdefault(kind.index, (kind, []))[1].append(device)
        return list(found.values())

    def matching(self, want: Want, node: int) -> list[Device]:
        """Return the devices that a want's selectors take on a node, without those on which one fails."""
        found = candidates(self.index.inventory.view(node), want.selection)
        return [c.device for c in found if c.device is not None and c.refusal is None]

    def every(self, want: Want, node: int) -> tuple[list[Device], list[Device]]:
        """Return what a want for all devices means on a node: what it must have, what it has if it can.

        An unshared device belongs to it, held or not; a shared one only while it can give what is asked for.
        A device that can never give that belongs to neither.
        """
        own: list[Device] = []
        shared: list[Device] = []
        for device in self.matching(want, node):
            if not (device.shared or want.asked) or want.taken(device) is not None:
                (shared if device.shared else own).append(device)
        return own, shared

    def refused(self, spec: ClaimSpec, node: int) -> bool:
        """Whether the allocator rejects a claim on a node before it searches for devices."""
        view = self.index.inventory.view(node)
        key = ("refused", spec.number)
        if key not in view.found:
            view.found[key] = self._refused(spec, view)
        return bool(view.found[key])

    def _refused(self, spec: ClaimSpec, view: View) -> bool:
        wants = [want for request in spec.requests for want in request.wants]
        if self.index.inventory.fault or spec.constraint_fault is not None:
            return True
        if any(want.fault is not None or want.selection is None for want in wants):
            return True
        if not self.cluster.gates.enabled("DRAPrioritizedList") and any(r.prioritized for r in spec.requests):
            return True
        if any(want.all_devices for want in wants) and any(p.incomplete or p.invalid for p in view.pools):
            return True
        if any(c.refusal for w in wants if w.all_devices for c in candidates(view, w.selection)):
            return True
        least = sum(min(self._least(want, view) for want in request.wants) for request in spec.requests)
        return least > MOST_RESULTS

    def _least(self, want: Want, view: View) -> int:
        return len(self.every(want, view.node)[0]) if want.all_devices else want.count

    def usable(self, want: Want, device: Device) -> bool:
        """Whether taints, gates and capacities let a want have a device at all."""
        if device.barred or (device.taints and not tolerated(device.taints, want.tolerations)):
            return False
        return not (device.shared or want.asked) or want.taken(device) is not None

    def most(self, pod: int, limit: Ints) -> Ints:
        """Bound how many pods like one can have their private claims served on each node; int64[N].

        Counts the devices that each exact want may have, free or to be freed, where `limit` is not 0.
        """
        found = limit.copy()
        own = tuple(self.spec(key) for key in self.private.get(pod, ()))
        everywhere = not requested(self.cluster, pod)  # no extended resources that only some nodes offer
        for node in np.flatnonzero(limit).tolist():
            for spec in own if everywhere else self.private_specs(pod, node):
                found[node] = min(found[node], self._served(spec, node))
        return found

    def _served(self, spec: ClaimSpec, node: int) -> int:
        """Bound how many claims that ask for the same can have devices on a node at once."""
        key = (spec.number, node)
        if key not in self._most_served:
            wants = [request.wants[0] for request in spec.requests if len(request.wants) == 1]
            most = [0] if self.refused(spec, node) else [self._most(want, node) for want in wants]
            self._most_served[key] = min(most, default=UNBOUNDED)
        return self._most_served[key]

    def _most(self, want: Want, node: int) -> int:
        options = self.options(want, node)
        if want.admin or any(kind.shared and self.may_be_free(kind) for kind, _ in options):
            return UNBOUNDED if options else 0
        if want.all_devices and not all(self.usable(want, device) for device in self.every(want, node)[0]):
            return 0
        there = sum(len(found) for kind, found in options if self.may_be_free(kind))
        return min(there, 1) if want.all_devices else there // want.count

    def may_be_free(self, kind: DeviceKind) -> bool:
        """Whether the devices are free, or their holder may give them back in the round."""
        if kind.holder is None:
            return True
        consumers = self.claims.reserved.get(kind.holder, frozenset())
        if kind.holder in self.index.held_fast and not self.leaves_alone(consumers):
            return False
        return all(isinstance(i, int) and self._may_go(i) for i in consumers)

    def leaves_alone(self, consumers: frozenset[Consumer]) -> bool:
        """Whether a claim goes with its consumers: all of them run, and there is one."""
        pods = self.cluster.pods
        return bool(consumers) and all(isinstance(i, int) and pods[i].initial_node >= 0 for i in consumers)

    @cached_property
    def strongest(self) -> int | None:
        """Highest priority of a pod that may preempt."""
        pods = self.cluster.pods
        return max((pods[i].priority for i in self.cluster.pending if pods[i].preempts), default=None)

    def _may_go(self, pod: int) -> bool:
        """Whether a pod waits, or a preemptor could be above it."""
        pods = self.cluster.pods
        waits = pods[pod].initial_node < 0
        return waits or (self.strongest is not None and pods[pod].priority < self.strongest)

    def kind(self, device: Device) -> DeviceKind:
        """Return the kind of a device."""
        return self._kind_of[device.number]

    def sort_devices(self, *, matter: bool) -> None:
        """Group the devices into kinds.

        Parameters
        ----------
        matter : bool
            Whether it matters which of several like devices a claim gets: each is a kind of its own then, as
            far as that stays small.
        """
        holders: dict[int, str] = {}
        for key, allocation in self.claims.allocations.items():
            for result in allocation.results:
                if not result.admin and not (result.share and self.index.shares):
                    holders[self.index.inventory.identify(result.id)] = key
        made: dict[Hashable, DeviceKind] = {}
        seen = self._seen()
        self.apart = matter and len(seen) <= MOST_APART
        self.blurred = matter and not self.apart
        for device, nodes in seen.values():
            reach = self._reach(device)
            holder = holders.get(device.identity)
            alike: Hashable = (
                device.number
                if device.shared or self.apart
                else (
                    device.content,
                    tuple((t.key, t.value, t.effect) for t in device.taints),
                    device.counters,
                    device.barred,
                    holder,
                    nodes,
                    None if reach is None else reach.tobytes(),
                )
            )
            if alike not in made:
                made[alike] = DeviceKind(len(made), [], holder, reach)
            made[alike].devices.append(device)
            self._kind_of[device.number] = made[alike]
        self.kinds = list(made.values())

    def _reach(self, device: Device) -> Bools | None:
        masks = [mask for mask in (device.slice.nodes, device.nodes) if mask is not None]
        return np.logical_and.reduce(masks) if masks else None

    def _seen(self) -> dict[int, tuple[Device, tuple[int, ...]]]:
        """Return the devices that nodes see, with these nodes: those of outdated generations are out."""
        inventory = self.index.inventory
        seen: dict[int, tuple[Device, list[int]]] = {}
        for node in range(self.cluster.n_nodes):
            for pool in inventory.view(node).pools:
                for device in pool.devices:
                    seen.setdefault(device.number, (device, []))[1].append(node)
        return {number: (seen[number][0], tuple(seen[number][1])) for number in sorted(seen)}


def may_merge(spec: ClaimSpec) -> bool:
    """Whether several pods with such a claim can be counted together without losing exactness.

    Only exact numbers of devices, no more than a claim can hold whatever is chosen, and at most one attribute
    that all of them share: then every way to hand the counted devices out gives each pod what it asked for.
    """
    plain = all(not want.all_devices and not want.admin for r in spec.requests for want in r.wants)
    if sum(max(want.count for want in request.wants) for request in spec.requests) > MOST_RESULTS:
        return False
    matching = sum(not c.distinct for c in spec.constraints)
    return plain and matching == len(spec.constraints) <= 1
