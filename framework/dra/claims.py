"""What claims ask for, in the form in which the allocator reads it.

Claims whose `spec.devices` say the same share one `ClaimSpec`; a name appears in it only where it is part of
a text.

Source: resource.k8s.io/v1; k8s.io/dynamic-resource-allocation/structured (validateDeviceRequest).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from ...models import resource_api as api
from ...models.features import FeatureGates
from .capacity import Amounts, taken
from .devices import Device
from .selection import Refusal, Selection, Selections

MOST_RESULTS: Final = 32
"""Devices that one claim can hold."""


@dataclass(slots=True, eq=False)
class Want:
    """A number of devices of one kind: an exact request, or one alternative of a request.

    Attributes
    ----------
    name : str
        The alternative's own name, else the request's.
    request : str
        The request's name.
    result : str
        What an allocation calls it: `request`, or `request/alternative`.
    device_class : str
    selection : Selection or None
        None where the class does not exist.
    all_devices : bool
        Whether it wants every device that matches.
    count : int
        How many otherwise.
    admin : bool
    tolerations : tuple of DeviceToleration
    asked : dict
        Capacity requests.
    fault : Refusal or None
        Why the allocator refuses it unseen.
    """

    name: str
    request: str
    result: str
    device_class: str
    selection: Selection | None
    all_devices: bool
    count: int
    admin: bool
    tolerations: tuple[api.DeviceToleration, ...]
    asked: Mapping[str, Fraction]
    fault: Refusal | None
    _taken: dict[int, Amounts | None] = field(default_factory=dict)

    @property
    def names(self) -> frozenset[str]:
        """What a constraint may call it."""
        return frozenset((self.request, self.result))

    def taken(self, device: Device) -> Amounts | None:
        """Return what it takes of a device's capacities; None where the device cannot give it."""
        if device.stock not in self._taken:
            self._taken[device.stock] = taken(device.spec, device.id.driver, self.asked)
        return self._taken[device.stock]


@dataclass(slots=True, eq=False)
class Request:
    """A request: one want, or the first of several that can be had."""

    name: str
    wants: tuple[Want, ...]
    prioritized: bool


@dataclass(slots=True, eq=False)
class Constraint:
    """What the devices of some wants must have in common (`distinct` False), or must differ in.

    Attributes
    ----------
    attribute : str
        Fully qualified.
    requests : frozenset of str
        Empty for all.
    """

    attribute: str
    distinct: bool
    requests: frozenset[str]

    def covers(self, want: Want) -> bool:
        """Whether the devices of a want count."""
        return not self.requests or not self.requests.isdisjoint(want.names)


@dataclass(slots=True, eq=False)
class ClaimSpec:
    """The requests and constraints of claims that say the same.

    Attributes
    ----------
    number : int
        Equal for equal claims.
    constraint_fault : Refusal or None
        A constraint that says nothing (or whose gate is off).
    found : dict
        What others derived from it, by their own keys.
    """

    number: int
    requests: tuple[Request, ...]
    constraints: tuple[Constraint, ...]
    constraint_fault: Refusal | None
    found: dict[Any, Any] = field(default_factory=dict)


class ClaimSpecs:
    """Reads claims."""

    def __init__(self, gates: FeatureGates, selections: Selections) -> None:
        self._gates = gates
        self._selections = selections
        self._made: dict[str, ClaimSpec] = {}

    def of(self, claim: api.DeviceClaim) -> ClaimSpec:
        """Return the form of a claim's `spec.devices`."""
        key = claim.model_dump_json()
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._read(claim)
        return found

    def _read(self, claim: api.DeviceClaim) -> ClaimSpec:
        constraints: list[Constraint] = []
        fault: Refusal | None = None
        distinct = self._gates.enabled("DRAConsumableCapacity")
        for k, item in enumerate(claim.constraints):
            if item.match_attribute is not None:
                constraints.append(Constraint(item.match_attribute, False, frozenset(item.requests)))
            elif item.distinct_attribute is not None and distinct:
                constraints.append(Constraint(item.distinct_attribute, True, frozenset(item.requests)))
            else:
                text = f", constraint #{k}: empty constraint (unsupported constraint type?)"
                fault = fault or Refusal(text, of_claim=True)
        requests = tuple(self._request(item) for item in claim.requests)
        return ClaimSpec(len(self._made), requests, tuple(constraints), fault)

    def _request(self, item: api.DeviceRequest) -> Request:
        if item.exactly is not None:
            return Request(item.name, (self._want(item.name, "", item.exactly),), prioritized=False)
        wants = tuple(
            self._want(item.name, alternative.name, alternative) for alternative in item.first_available
        )
        return Request(item.name, wants, prioritized=True)

    def _want(
        self, request: str, alternative: str, item: api.ExactDeviceRequest | api.DeviceSubRequest
    ) -> Want:
        name = alternative or request
        admin = isinstance(item, api.ExactDeviceRequest) and item.admin_access
        fault = None
        if item.capacity is not None and not self._gates.enabled("DRAConsumableCapacity"):
            kind = "subrequest" if alternative else "request"
            fault = (
                f", {kind} {name}: has capacity requests, but the DRAConsumableCapacity feature is disabled"
            )
        elif admin and not self._gates.enabled("DRAAdminAccess"):
            fault = f", request {name}: admin access is requested, but the feature is disabled"
        return Want(
            name=name,
            request=request,
            result=f"{request}/{alternative}" if alternative else request,
            device_class=item.device_class_name,
            selection=self._selections.of(item.device_class_name, item.selectors),
            all_devices=item.allocation_mode == "All",
            count=item.count,
            admin=admin,
            tolerations=item.tolerations,
            asked={} if item.capacity is None else item.capacity.requests,
            fault=None if fault is None else Refusal(fault, of_claim=True),
        )
