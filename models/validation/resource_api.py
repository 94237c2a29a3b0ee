"""Dynamic resource allocation: claims, slices, classes, taint rules.

Source: kubernetes pkg/apis/resource/validation; the limits are those of the newest release, so that no served
object is refused.
"""

from collections.abc import Sequence

from ..resource_api import (
    CapacityRequestPolicy,
    Device,
    DeviceClaim,
    DeviceClass,
    DeviceConstraint,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    DeviceTaint,
    DeviceTaintRule,
    DeviceToleration,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from ..semver import parse_version
from .common import node_selector_faults
from .faults import Fault, Faults, at_least, at_most_items, below, not_negative, required_text, unique


def _selector_faults(selectors: Sequence[DeviceSelector], path: str) -> Faults:
    yield from at_most_items(len(selectors), 32, path)
    for index, selector in enumerate(selectors):
        where = f"{path}[{index}].cel"
        if selector.cel is None:
            yield Fault(where, "required")
            continue
        yield from required_text(selector.cel.expression, f"{where}.expression")
        if len(selector.cel.expression.encode()) > 10 * 1024:
            yield Fault(f"{where}.expression", "must have at most 10 KiB")


def _toleration_faults(tolerations: Sequence[DeviceToleration], path: str) -> Faults:
    yield from at_most_items(len(tolerations), 16, path)
    for index, item in enumerate(tolerations):
        if item.operator == "Exists" and item.value:
            yield Fault(f"{path}[{index}].value", "must be empty with operator Exists")


def _count_faults(request: ExactDeviceRequest | DeviceSubRequest, path: str) -> Faults:
    yield from required_text(request.device_class_name, f"{path}.deviceClassName")
    if request.allocation_mode == "ExactCount":
        if request.count < 1:
            yield Fault(f"{path}.count", f"must be greater than 0, not {request.count}")
    elif "count" in request.model_fields_set:
        yield Fault(f"{path}.count", "cannot be set with allocationMode All")
    yield from _selector_faults(request.selectors, f"{path}.selectors")
    yield from _toleration_faults(request.tolerations, f"{path}.tolerations")


def _request_faults(request: DeviceRequest, path: str) -> Faults:
    yield from required_text(request.name, f"{path}.name")
    if (request.exactly is None) != bool(request.first_available):
        yield Fault(path, "must have exactly one of exactly and firstAvailable")
    if request.exactly is not None:
        yield from _count_faults(request.exactly, f"{path}.exactly")
    yield from at_most_items(len(request.first_available), 8, f"{path}.firstAvailable")
    for index, alternative in enumerate(request.first_available):
        where = f"{path}.firstAvailable[{index}]"
        yield from required_text(alternative.name, f"{where}.name")
        yield from _count_faults(alternative, where)
    yield from unique((item.name for item in request.first_available), f"{path}.firstAvailable", "name")


def _constraint_faults(constraint: DeviceConstraint, names: frozenset[str], path: str) -> Faults:
    attributes = (
        ("matchAttribute", constraint.match_attribute),
        ("distinctAttribute", constraint.distinct_attribute),
    )
    # Of both, the first one holds.
    if all(value is None for _, value in attributes):
        yield Fault(path, "must have matchAttribute or distinctAttribute")
    for name, value in attributes:
        if value is not None and not all(value.partition("/")):
            yield Fault(f"{path}.{name}", f"must be <domain>/<name>, not {value!r}")
    for index, request in enumerate(constraint.requests):
        if request not in names:
            yield Fault(f"{path}.requests[{index}]", f"must name a request of the claim, not {request!r}")
    yield from unique(constraint.requests, f"{path}.requests", "")


def device_claim_faults(claim: DeviceClaim, path: str) -> Faults:
    """Find faults of the requests and constraints of a claim."""
    yield from at_most_items(len(claim.requests), 32, f"{path}.requests")
    for index, request in enumerate(claim.requests):
        yield from _request_faults(request, f"{path}.requests[{index}]")
    yield from unique((request.name for request in claim.requests), f"{path}.requests", "name")
    names = frozenset(
        name
        for request in claim.requests
        for name in (request.name, *(f"{request.name}/{item.name}" for item in request.first_available))
    )
    yield from at_most_items(len(claim.constraints), 32, f"{path}.constraints")
    for index, constraint in enumerate(claim.constraints):
        yield from _constraint_faults(constraint, names, f"{path}.constraints[{index}]")


def claim_faults(claim: ResourceClaim) -> Faults:
    """Find faults of a claim and of its allocation."""
    yield from device_claim_faults(claim.spec.devices, "spec.devices")
    status = claim.status
    yield from at_most_items(len(status.reserved_for), 256, "status.reservedFor")
    if status.allocation is not None:
        results = status.allocation.devices.results
        yield from at_most_items(len(results), 32, "status.allocation.devices.results")
        yield from node_selector_faults(status.allocation.node_selector, "status.allocation.nodeSelector")
        for index, result in enumerate(results):
            yield from not_negative(
                result.consumed_capacity, f"status.allocation.devices.results[{index}].consumedCapacity"
            )


def claim_template_faults(template: ResourceClaimTemplate) -> Faults:
    """Find faults of a template of claims."""
    yield from device_claim_faults(template.spec.spec.devices, "spec.spec.devices")


def device_class_faults(item: DeviceClass) -> Faults:
    """Find faults of a device class."""
    yield from _selector_faults(item.spec.selectors, "spec.selectors")


def _taint_faults(taint: DeviceTaint, path: str) -> Faults:
    yield from required_text(taint.key, f"{path}.key")


def device_taint_rule_faults(rule: DeviceTaintRule) -> Faults:
    """Find faults of a rule that taints devices."""
    yield from _taint_faults(rule.spec.taint, "spec.taint")
    if rule.spec.device_selector is not None:
        yield from _selector_faults(rule.spec.device_selector.selectors, "spec.deviceSelector.selectors")


def _version_faults(text: str, path: str) -> Faults:
    try:
        parse_version(text)
    except ValueError as wrong:
        yield Fault(f"{path}.version", str(wrong))


def _policy_faults(policy: CapacityRequestPolicy, path: str) -> Faults:
    if policy.valid_range is not None and policy.valid_values:
        yield Fault(path, "must have at most one of validRange and validValues")
    if policy.valid_range is not None and policy.valid_range.step == 0:
        yield Fault(f"{path}.validRange.step", "must be greater than 0")


def _device_faults(device: Device, path: str) -> Faults:
    yield from required_text(device.name, f"{path}.name")
    yield from at_most_items(len(device.attributes) + len(device.capacity), 32, f"{path}.attributes")
    for name, attribute in device.attributes.items():
        values = (
            attribute.int_value,
            attribute.bool_value,
            attribute.string_value,
            attribute.version_value,
            attribute.ints,
            attribute.bools,
            attribute.strings,
            attribute.versions,
        )
        if sum(value is not None for value in values) != 1:
            yield Fault(
                below(f"{path}.attributes", name), "must have exactly one of int, bool, string and version"
            )
        given = () if attribute.version_value is None else (attribute.version_value,)
        for version in (*given, *(attribute.versions or ())):
            yield from _version_faults(version, below(f"{path}.attributes", name))
    for name, item in device.capacity.items():
        if item.request_policy is not None:
            yield from _policy_faults(item.request_policy, f"{below(f'{path}.capacity', name)}.requestPolicy")
    for index, consumption in enumerate(device.consumes_counters):
        where = f"{path}.consumesCounters[{index}]"
        yield from required_text(consumption.counter_set, f"{where}.counterSet")
    yield from unique(
        (item.counter_set for item in device.consumes_counters), f"{path}.consumesCounters", "counterSet"
    )
    yield from at_most_items(len(device.taints), 16, f"{path}.taints")
    for index, taint in enumerate(device.taints):
        yield from _taint_faults(taint, f"{path}.taints[{index}]")
    yield from node_selector_faults(device.node_selector, f"{path}.nodeSelector")


def slice_faults(item: ResourceSlice) -> Faults:
    """Find faults of a slice."""
    spec = item.spec
    yield from required_text(spec.driver, "spec.driver")
    yield from required_text(spec.pool.name, "spec.pool.name")
    yield from at_least(spec.pool.generation, 0, "spec.pool.generation")
    yield from at_least(spec.pool.resource_slice_count, 1, "spec.pool.resourceSliceCount")
    reach = (
        spec.node_name,
        spec.node_selector,
        spec.all_nodes or None,
        spec.per_device_node_selection or None,
    )
    # A slice that holds only counters may leave the nodes to the slices with the devices.
    if sum(value is not None for value in reach) != 1 and not (spec.shared_counters and not spec.devices):
        yield Fault(
            "spec",
            "must have exactly one of nodeName, nodeSelector, allNodes and perDeviceNodeSelection",
        )
    yield from node_selector_faults(spec.node_selector, "spec.nodeSelector")
    yield from at_most_items(len(spec.devices), 128, "spec.devices")
    for index, device in enumerate(spec.devices):
        yield from _device_faults(device, f"spec.devices[{index}]")
    yield from unique((device.name for device in spec.devices), "spec.devices", "name")
    for index, counters in enumerate(spec.shared_counters):
        where = f"spec.sharedCounters[{index}]"
        yield from required_text(counters.name, f"{where}.name")
    yield from unique((counters.name for counters in spec.shared_counters), "spec.sharedCounters", "name")
