"""New slices of devices, and rules that taint devices.

Not demanded, though the API server does: that a slice with shared counters has no devices (the pools of
kube-scheduler 1.34 have both in one slice); that a request policy is of a shared device, and that its range
ends within the capacity.

Source: kubernetes pkg/apis/resource/validation (validateResourceSliceSpec and what it calls).
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from ...quantity import format_quantity, unit_ceil
from ...resource_api import (
    CapacityRequestPolicy,
    CapacityRequestPolicyRange,
    Counter,
    Device,
    DeviceTaint,
    DeviceTaintRule,
    ResourceSlice,
    ResourceSliceSpec,
)
from ..faults import Fault, Faults, at_most_items, below, required_text, unique
from .metadata import new_node_selector_faults
from .names import (
    all_spelled,
    attribute_name,
    driver_name,
    label_name,
    label_value,
    object_name,
    pool_name,
    qualified_name,
    spelled,
)

_MOST_TEXT = 64
_MOST_CONDITIONS = 4
_MOST_COUNTERS = 32
_MOST_VALUES = 10
_MOST_TAKEN_SETS = 2
# Of those with taints or counters.
_MOST_DEVICES = 64
# Sets of counters in a slice of their own, and, as in 1.34, beside devices.
_MOST_SETS, _MOST_SETS_BESIDE_DEVICES = 8, 32


def new_slice_faults(item: ResourceSlice) -> Faults:
    """Find faults of a new slice."""
    spec = item.spec
    yield from spelled(spec.driver, driver_name, "spec.driver")
    yield from spelled(spec.pool.name, pool_name, "spec.pool.name")
    yield from _reach_faults(spec, "spec")
    if spec.node_selector is not None and len(spec.node_selector.node_selector_terms) != 1:
        yield Fault("spec.nodeSelector.nodeSelectorTerms", "must have exactly one term")
    if any(device.taints or device.consumes_counters for device in spec.devices):
        yield from at_most_items(len(spec.devices), _MOST_DEVICES, "spec.devices")
    for index, device in enumerate(spec.devices):
        where = f"spec.devices[{index}]"
        yield from _device_faults(device, where)
        yield from _device_reach_faults(device, bool(spec.per_device_node_selection), where)
    most = _MOST_SETS_BESIDE_DEVICES if spec.devices else _MOST_SETS
    yield from at_most_items(len(spec.shared_counters), most, "spec.sharedCounters")
    for index, counters in enumerate(spec.shared_counters):
        yield from spelled(counters.name, label_name, f"spec.sharedCounters[{index}].name")
        yield from _counter_faults(counters.counters, f"spec.sharedCounters[{index}].counters")


def _reach_faults(item: Device | ResourceSliceSpec, path: str) -> Faults:
    if item.node_name is not None:
        yield from required_text(item.node_name, f"{path}.nodeName")
        yield from spelled(item.node_name, object_name, f"{path}.nodeName")
    yield from new_node_selector_faults(item.node_selector, f"{path}.nodeSelector")
    if item.all_nodes is False:
        yield Fault(f"{path}.allNodes", "must be true where it is set")
    if isinstance(item, ResourceSliceSpec) and item.per_device_node_selection is False:
        yield Fault(f"{path}.perDeviceNodeSelection", "must be true where it is set")


def _device_reach_faults(device: Device, each: bool, path: str) -> Faults:
    reach = (device.node_name, device.node_selector, device.all_nodes)
    given = sum(value is not None for value in reach)
    if each and given != 1:
        yield Fault(path, "must have exactly one of nodeName, nodeSelector and allNodes")
    elif given and not each:
        yield Fault(path, "can name its nodes only with perDeviceNodeSelection")
    yield from _reach_faults(device, path)


def _counter_faults(counters: Mapping[str, Counter], path: str) -> Faults:
    if not counters:
        yield Fault(path, "required")
    yield from at_most_items(len(counters), _MOST_COUNTERS, path)
    for name in counters:
        if wrong := label_name(name):
            yield Fault(path, wrong)


def _device_faults(device: Device, path: str) -> Faults:
    yield from spelled(device.name, label_name, f"{path}.name")
    for name, attribute in device.attributes.items():
        if wrong := attribute_name(name):
            yield Fault(f"{path}.attributes", wrong)
        where = below(f"{path}.attributes", name)
        texts = [("string", attribute.string_value), ("version", attribute.version_value)]
        texts += [(f"strings[{k}]", text) for k, text in enumerate(attribute.strings or ())]
        texts += [(f"versions[{k}]", text) for k, text in enumerate(attribute.versions or ())]
        for field, text in texts:
            if text is not None and len(text.encode()) > _MOST_TEXT:
                yield Fault(f"{where}.{field}", f"must have at most {_MOST_TEXT} bytes")
        for field in ("ints", "bools", "strings", "versions"):
            if getattr(attribute, field) == ():
                yield Fault(f"{where}.{field}", "must have a value")
    for name, capacity in device.capacity.items():
        if wrong := attribute_name(name):
            yield Fault(f"{path}.capacity", wrong)
        # A policy for a device that is not shared has no effect, and is none of the scheduler's.
        if device.allow_multiple_allocations and capacity.request_policy is not None:
            where = f"{below(f'{path}.capacity', name)}.requestPolicy"
            yield from _policy_faults(capacity.request_policy, capacity.value, where)
    for index, taint in enumerate(device.taints):
        yield from _taint_faults(taint, f"{path}.taints[{index}]")
    yield from at_most_items(len(device.consumes_counters), _MOST_TAKEN_SETS, f"{path}.consumesCounters")
    for index, consumption in enumerate(device.consumes_counters):
        where = f"{path}.consumesCounters[{index}]"
        yield from spelled(consumption.counter_set, label_name, f"{where}.counterSet")
        yield from _counter_faults(consumption.counters, f"{where}.counters")
    yield from _condition_faults(device, path)


def _taint_faults(taint: DeviceTaint, path: str) -> Faults:
    yield from spelled(taint.key, qualified_name, f"{path}.key")
    yield from spelled(taint.value, label_value, f"{path}.value")


def _condition_faults(device: Device, path: str) -> Faults:
    for name, conditions in (
        ("bindingConditions", device.binding_conditions),
        ("bindingFailureConditions", device.binding_failure_conditions),
    ):
        yield from at_most_items(len(conditions), _MOST_CONDITIONS, f"{path}.{name}")
        yield from all_spelled(conditions, qualified_name, f"{path}.{name}")
        yield from unique(conditions, f"{path}.{name}", "")
    for index, condition in enumerate(device.binding_failure_conditions):
        if condition in device.binding_conditions:
            yield Fault(
                f"{path}.bindingFailureConditions[{index}]", f"{condition!r} is in bindingConditions too"
            )
    if bool(device.binding_conditions) != bool(device.binding_failure_conditions):
        missing = "bindingFailureConditions" if device.binding_conditions else "bindingConditions"
        yield Fault(f"{path}.{missing}", "required: the two kinds of conditions come together")


def _policy_faults(policy: CapacityRequestPolicy, most: Fraction, path: str) -> Faults:
    if not policy.valid_values and policy.valid_range is None:
        return
    if policy.default is None:
        yield Fault(f"{path}.default", "required with validValues and with validRange")
    elif policy.valid_values:
        yield from _value_faults(policy.valid_values, policy.default, most, f"{path}.validValues")
    elif policy.valid_range is not None:
        yield from _range_faults(policy.valid_range, policy.default, most, f"{path}.validRange")


def _value_faults(values: Sequence[Fraction], default: Fraction, most: Fraction, path: str) -> Faults:
    yield from at_most_items(len(values), _MOST_VALUES, path)
    for index, value in enumerate(values):
        if index and value <= values[index - 1]:
            yield Fault(f"{path}[{index}]", "must be greater than the value before")
        if value > most:
            yield Fault(
                f"{path}[{index}]",
                f"must be at most the capacity, {format_quantity(most)}, not {format_quantity(value)}",
            )
    if default not in values:
        yield Fault(path, f"must have the default, {format_quantity(default)}")


def _range_faults(
    allowed: CapacityRequestPolicyRange, default: Fraction, most: Fraction, path: str
) -> Faults:
    if allowed.min is None:
        yield Fault(f"{path}.min", "required")
        return
    if allowed.min > most:
        yield Fault(f"{path}.min", f"must be at most the capacity, {format_quantity(most)}")
    if allowed.max is not None and allowed.min > allowed.max:
        yield Fault(f"{path}.max", f"must be at least min, {format_quantity(allowed.min)}")
    if default < allowed.min or (allowed.max is not None and default > allowed.max):
        yield Fault(f"{path}.default", f"{format_quantity(default)} is out of the range")
    if not allowed.step:
        return
    for name, value in (("default", default), ("max", allowed.max)):
        # Before fractions were taken, sums were made in whole units, rounded up; either will do.
        if value is None or not (value - allowed.min) % allowed.step:
            continue
        if (unit_ceil(value) - unit_ceil(allowed.min)) % unit_ceil(allowed.step):
            yield Fault(f"{path}.step", f"must lead from min to {name} in whole steps")


def new_taint_rule_faults(rule: DeviceTaintRule) -> Faults:
    """Find faults of a new rule that taints devices."""
    yield from _taint_faults(rule.spec.taint, "spec.taint")
    selector = rule.spec.device_selector
    if selector is not None:
        yield from spelled(selector.driver, driver_name, "spec.deviceSelector.driver")
        yield from spelled(selector.pool, pool_name, "spec.deviceSelector.pool")
        yield from spelled(selector.device, label_name, "spec.deviceSelector.device")
