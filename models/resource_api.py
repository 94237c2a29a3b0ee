"""Dynamic resource allocation: slices, claims, classes, taint rules.

Objects of every served version are kept in the shape of resource.k8s.io/v1: in v1beta1 a request had the
fields of `exactly` directly and a device had its own below `basic`.

Sources: KEP-4381, KEP-4815 (counters), KEP-4816 (firstAvailable), KEP-5055 (taints), KEP-5075 (capacity).
"""

import json
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from .base import Bool, Int64, KubeModel, Texts, Timestamp, shared
from .meta import Condition, KubeObject, ObjectMeta
from .quantity import QuantityField
from .resource_v1beta1 import is_v1beta1, lower_flat_requests
from .selectors import NodeSelector

AllocationMode = Literal["ExactCount", "All"]
DeviceTaintEffect = Literal["None", "NoSchedule", "NoExecute"]
DeviceTolerationEffect = Literal["", "None", "NoSchedule", "NoExecute"]


DeviceQuantity = Annotated[QuantityField, AfterValidator(lambda quantity: max(quantity, Fraction(0)))]
"""An amount of a device; the API server takes negative ones, which count as none."""


JsonText = Annotated[str, BeforeValidator(lambda value: json.dumps(value, sort_keys=True, default=float))]
"""A part of an object that is handed on as it is, as JSON."""


class ResourcePool(KubeModel):
    """The pool a slice belongs to; only slices of the highest generation count."""

    name: str
    generation: Int64 = 0
    resource_slice_count: Int64 = 1


class DeviceAttribute(KubeModel):
    """A typed value, or a list of values of one type (KEP-5491); exactly one field is set."""

    int_value: Int64 | None = Field(default=None, alias="int")
    bool_value: Bool | None = Field(default=None, alias="bool")
    string_value: str | None = Field(default=None, alias="string")
    version_value: str | None = Field(default=None, alias="version")
    ints: tuple[Int64, ...] | None = None
    bools: tuple[Bool, ...] | None = None
    strings: tuple[str, ...] | None = None
    versions: tuple[str, ...] | None = None


class CapacityRequestPolicyRange(KubeModel):
    """Amounts from `min` to `max` in steps."""

    min: DeviceQuantity | None = None
    max: DeviceQuantity | None = None
    step: DeviceQuantity | None = None


class CapacityRequestPolicy(KubeModel):
    """Which amounts of a shared capacity may be taken."""

    default: DeviceQuantity | None = None
    valid_values: tuple[DeviceQuantity, ...] = ()
    valid_range: CapacityRequestPolicyRange | None = None


class DeviceCapacity(KubeModel):
    """An amount of something that a device has."""

    value: DeviceQuantity = Fraction(0)
    request_policy: CapacityRequestPolicy | None = None

    @model_validator(mode="before")
    @classmethod
    def _read_bare_quantity(cls, data: Any) -> Any:
        """Accept v1alpha3's bare quantity."""
        return {"value": data} if isinstance(data, (str, int, float)) else data


class Counter(KubeModel):
    """An amount that devices of a pool share."""

    value: DeviceQuantity = Fraction(0)


class CounterSet(KubeModel):
    """A named set of counters of a pool."""

    name: str
    counters: dict[str, Counter] = Field(default_factory=dict)


class DeviceCounterConsumption(KubeModel):
    """What a device takes from a counter set while it is allocated."""

    counter_set: str
    counters: dict[str, Counter] = Field(default_factory=dict)


class DeviceTaint(KubeModel):
    """A mark that keeps claims away from a device unless they tolerate it."""

    key: str
    value: str = ""
    effect: DeviceTaintEffect
    time_added: Timestamp | None = None


class DeviceToleration(KubeModel):
    """Which device taints a request puts up with; an empty effect means all, and so does an empty key."""

    empty_is_absent: ClassVar = frozenset({"operator"})

    key: str = ""
    operator: Literal["Equal", "Exists"] = "Equal"
    value: str = ""
    effect: DeviceTolerationEffect = ""
    toleration_seconds: Int64 | None = None


class Device(KubeModel):
    """A device of a slice. Names without a domain belong to the driver's."""

    name: str
    attributes: dict[str, DeviceAttribute] = Field(default_factory=dict)
    capacity: dict[str, DeviceCapacity] = Field(default_factory=dict)
    consumes_counters: tuple[DeviceCounterConsumption, ...] = ()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: Bool | None = None
    taints: tuple[DeviceTaint, ...] = ()
    allow_multiple_allocations: Bool = False
    binds_to_node: Bool = False
    binding_conditions: Texts = ()
    binding_failure_conditions: Texts = ()

    @model_validator(mode="before")
    @classmethod
    def _lift_basic(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(basic := data.get("basic"), dict):
            return {**data, **basic}
        return data


class ResourceSliceSpec(KubeModel):
    """Devices of one pool, and the nodes that reach them."""

    driver: str
    pool: ResourcePool
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: Bool | None = None
    per_device_node_selection: Bool | None = None
    devices: tuple[Device, ...] = ()
    shared_counters: tuple[CounterSet, ...] = ()


class ResourceSlice(KubeObject):
    """A part of a driver's pool of devices."""

    namespaced: ClassVar[bool] = False

    api_version: str = "resource.k8s.io/v1"
    kind: str = "ResourceSlice"
    spec: ResourceSliceSpec


class CELDeviceSelector(KubeModel):
    """A CEL expression over `device`."""

    expression: str


class DeviceSelector(KubeModel):
    """A condition on a device."""

    cel: CELDeviceSelector | None = None


class CapacityRequirements(KubeModel):
    """How much of a device's capacities is wanted."""

    requests: dict[str, DeviceQuantity] = Field(default_factory=dict)


class _CountedRequest(KubeModel):
    """What both forms of a request share: a count of 0 is an absent one."""

    @model_validator(mode="before")
    @classmethod
    def _zero_is_absent(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("count") == 0 and type(data["count"]) is int:
            return {name: value for name, value in data.items() if name != "count"}
        return data


class ExactDeviceRequest(_CountedRequest):
    """A number of devices of one class (`count`, default 1), or all of them."""

    empty_is_absent: ClassVar = frozenset({"allocationMode"})

    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: AllocationMode = "ExactCount"
    count: Int64 = 1
    admin_access: Bool = False
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None


class DeviceSubRequest(_CountedRequest):
    """One of the alternatives of a request."""

    empty_is_absent: ClassVar = frozenset({"allocationMode"})

    name: str
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: AllocationMode = "ExactCount"
    count: Int64 = 1
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None


class DeviceRequest(KubeModel):
    """A named request: `exactly`, or the first of several alternatives that can be served."""

    name: str
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()


class DeviceConstraint(KubeModel):
    """What the devices of some requests (none listed: of all) must have in common, or must differ in."""

    requests: Texts = ()
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class DeviceClaim(KubeModel):
    """The requests of a claim and the constraints between them; `config` is for drivers alone."""

    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()
    config: tuple[JsonText, ...] = Field(default=(), exclude=True)


class ResourceClaimSpec(KubeModel):
    """What a claim asks for."""

    devices: DeviceClaim = shared(DeviceClaim())


class DeviceRequestAllocationResult(KubeModel):
    """A device that serves a request; with shared capacity, its share and what is consumed of it."""

    request: str
    driver: str
    pool: str
    device: str
    admin_access: Bool = False
    tolerations: tuple[DeviceToleration, ...] = ()
    share_id: str | None = None
    consumed_capacity: dict[str, QuantityField] = Field(default_factory=dict)
    binding_conditions: Texts = ()
    binding_failure_conditions: Texts = ()


class DeviceAllocationResult(KubeModel):
    """The devices of an allocation."""

    results: tuple[DeviceRequestAllocationResult, ...] = ()


class AllocationResult(KubeModel):
    """An allocation, and the nodes from which its devices can be reached (None: all)."""

    devices: DeviceAllocationResult = shared(DeviceAllocationResult())
    node_selector: NodeSelector | None = None
    allocation_timestamp: Timestamp | None = None


class ResourceClaimConsumerReference(KubeModel):
    """Who uses a claim: a pod (`pods`) or a pod group (`podgroups`)."""

    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


class AllocatedDeviceStatus(KubeModel):
    """What a driver says of a device that a claim has."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    share_id: str | None = Field(default=None, alias="shareID")
    conditions: tuple[Condition, ...] = ()


class ResourceClaimStatus(KubeModel):
    """Where a claim stands; `allocation` is None until devices are chosen."""

    allocation: AllocationResult | None = None
    reserved_for: tuple[ResourceClaimConsumerReference, ...] = ()
    devices: tuple[AllocatedDeviceStatus, ...] = ()


class ResourceClaim(KubeObject):
    """A claim to devices."""

    api_version: str = "resource.k8s.io/v1"
    kind: str = "ResourceClaim"
    spec: ResourceClaimSpec = shared(ResourceClaimSpec())
    status: ResourceClaimStatus = shared(ResourceClaimStatus())

    @model_validator(mode="before")
    @classmethod
    def _lower_v1beta1(cls, data: Any) -> Any:
        return {**data, "spec": lower_flat_requests(data.get("spec"))} if is_v1beta1(data) else data


class ResourceClaimTemplateSpec(KubeModel):
    """The claim to be made."""

    metadata: ObjectMeta = shared(ObjectMeta())
    spec: ResourceClaimSpec = shared(ResourceClaimSpec())


class ResourceClaimTemplate(KubeObject):
    """A template from which each pod, or each pod group, gets its own claim."""

    api_version: str = "resource.k8s.io/v1"
    kind: str = "ResourceClaimTemplate"
    spec: ResourceClaimTemplateSpec = shared(ResourceClaimTemplateSpec())

    @model_validator(mode="before")
    @classmethod
    def _lower_v1beta1(cls, data: Any) -> Any:
        spec = data.get("spec") if is_v1beta1(data) else None
        if not isinstance(spec, dict):
            return data
        return {**data, "spec": {**spec, "spec": lower_flat_requests(spec.get("spec"))}}


class DeviceClassSpec(KubeModel):
    """Which devices are of a class, what drivers are told of them, and the extended resource, if any."""

    selectors: tuple[DeviceSelector, ...] = ()
    extended_resource_name: str | None = None
    config: tuple[JsonText, ...] = Field(default=(), exclude=True)


class DeviceClass(KubeObject):
    """A named set of devices."""

    namespaced: ClassVar[bool] = False

    api_version: str = "resource.k8s.io/v1"
    kind: str = "DeviceClass"
    spec: DeviceClassSpec = shared(DeviceClassSpec())


class DeviceTaintSelector(KubeModel):
    """Which devices a rule taints; every given field must fit."""

    device_class_name: str | None = None
    driver: str | None = None
    pool: str | None = None
    device: str | None = None
    selectors: tuple[DeviceSelector, ...] = ()


class DeviceTaintRuleSpec(KubeModel):
    """A taint and the devices that get it; no selector means no device."""

    device_selector: DeviceTaintSelector | None = None
    taint: DeviceTaint


class DeviceTaintRule(KubeObject):
    """A taint that an administrator puts on devices."""

    namespaced: ClassVar[bool] = False

    api_version: str = "resource.k8s.io/v1alpha3"
    kind: str = "DeviceTaintRule"
    spec: DeviceTaintRuleSpec
