"""The checker's sums: each device once unless it may be shared, capacities, counters."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from ...models import resource_api as api
from ...models.features import FeatureGates
from ...models.quantity import format_quantity
from .allocation import Allocation, Result

Id = tuple[str, str, str]
Want = api.ExactDeviceRequest | api.DeviceSubRequest


def can_give(want: Want, slice_: api.ResourceSlice, device: api.Device) -> bool:
    """Say whether a device has the capacities that a request asks for, apart from what others take."""
    asked = want.capacity.requests if want.capacity is not None else {}
    capacities = _capacities(slice_.spec.driver, device)
    for name, amount in asked.items():
        capacity = capacities.get(_full(slice_.spec.driver, name))
        if capacity is None or amount > capacity.value:
            return False
    return True


def of_result(
    where: str,
    want: Want,
    slice_: api.ResourceSlice,
    device: api.Device,
    result: Result,
    gates: FeatureGates,
) -> Iterator[str]:
    """Find what is wrong with what one result takes of its device's capacities."""
    if not can_give(want, slice_, device):
        yield f"{where} has {result.id}, which lacks a capacity that is asked for"
    shared = device.allow_multiple_allocations and gates.enabled("DRAConsumableCapacity")
    if shared != bool(result.share):
        yield f"{where} has {result.id} {'alone' if shared else 'as a share'}, which it is not"
    if not shared:
        return
    driver, taken = slice_.spec.driver, dict(result.taken)
    asked = want.capacity.requests if want.capacity is not None else {}
    wanted = {_full(driver, name): amount for name, amount in asked.items()}
    for name, capacity in _capacities(driver, device).items():
        amount = taken.get(name)
        if amount is None:
            yield f"{where} takes nothing of {name} of {result.id}"
        elif amount < wanted.get(name, 0) or not _legal(amount, capacity):
            yield f"{where} takes {format_quantity(amount)} of {name} of {result.id}: no legal amount"
        elif name not in wanted and amount != _unasked(capacity):
            yield f"{where} takes {format_quantity(amount)} of {name} of {result.id} without asking for it"


def _legal(amount: Fraction, capacity: api.DeviceCapacity) -> bool:
    policy = capacity.request_policy
    if policy is None or amount == policy.default:
        return True
    if policy.valid_range is not None:
        least, most, step = policy.valid_range.min or 0, policy.valid_range.max, policy.valid_range.step
        if amount < least or (most is not None and amount > most):
            return False
        return not step or (amount - least) % step == 0
    return not policy.valid_values or amount in policy.valid_values


def _unasked(capacity: api.DeviceCapacity) -> Fraction:
    policy = capacity.request_policy
    return capacity.value if policy is None or policy.default is None else policy.default


def faults(
    slices: Sequence[api.ResourceSlice],
    devices: Mapping[Id, api.Device],
    allocations: Mapping[str, Allocation],
    new: Sequence[str],
    gates: FeatureGates,
) -> Iterator[str]:
    """Find devices, capacities and counters of which more is allocated than there is.

    Parameters
    ----------
    slices : sequence of ResourceSlice
    devices : mapping
        Every device by driver, pool and name.
    allocations : mapping
        Claim key to allocation: all that hold.
    new : sequence of str
        The claims that may be blamed: what was too much before is not told.
    gates : FeatureGates
    """
    fresh: set[Id] = {result.id for key in new for result in allocations[key].results}
    alone: Counter[Id] = Counter()
    shares: dict[Id, list[Result]] = {}
    for key, allocation in allocations.items():
        own: Counter[Id] = Counter()
        for result in allocation.results:
            shared = bool(result.share) and gates.enabled("DRAConsumableCapacity")
            own[result.id] += not shared
            if shared and not result.admin:
                shares.setdefault(result.id, []).append(result)
            elif not result.admin:
                alone[result.id] += 1
        if key in new:
            yield from (f"claim {key}: has {'/'.join(id_)} twice" for id_, n in own.items() if n > 1)
    for id_ in fresh:
        holders = alone[id_] + bool(shares.get(id_))
        if holders > 1:
            yield f"device {'/'.join(id_)}: belongs to {holders} claims"
    yield from _capacity_faults(devices, shares, fresh)
    yield from _counter_faults(slices, {*alone, *shares}, fresh)


def _capacity_faults(
    devices: Mapping[Id, api.Device], shares: Mapping[Id, Sequence[Result]], fresh: set[Id]
) -> Iterator[str]:
    for id_ in fresh & shares.keys():
        for name, capacity in _capacities(id_[0], devices[id_]).items():
            total = sum((dict(result.taken).get(name, Fraction(0)) for result in shares[id_]), Fraction(0))
            if total > capacity.value:
                have, want = format_quantity(capacity.value), format_quantity(total)
                yield f"device {'/'.join(id_)}: {want} of {name} are taken, and it has {have}"


def _counter_faults(slices: Sequence[api.ResourceSlice], held: set[Id], fresh: set[Id]) -> Iterator[str]:
    total: dict[tuple[str, ...], Fraction] = {}
    value: dict[tuple[str, ...], Fraction] = {}
    touched: set[tuple[str, ...]] = set()
    for item in slices:
        spec = item.spec
        pool = (spec.driver, spec.pool.name, str(spec.pool.generation))
        home = (*pool, item.name) if spec.devices else pool
        for counter_set in spec.shared_counters:
            for name, counter in counter_set.counters.items():
                value[*home, counter_set.name, name] = counter.value
        home = (*pool, item.name) if spec.shared_counters else pool
        for device in spec.devices:
            id_ = (spec.driver, spec.pool.name, device.name)
            if id_ not in held:
                continue
            for taken in device.consumes_counters:
                for name, counter in taken.counters.items():
                    key = (*home, taken.counter_set, name)
                    total[key] = total.get(key, Fraction(0)) + counter.value
                    if id_ in fresh:
                        touched.add(key)
    for key in touched:
        if total[key] > value.get(key, Fraction(0)):
            have, want = format_quantity(value.get(key, Fraction(0))), format_quantity(total[key])
            yield f"counter {'/'.join(key)}: {want} are taken, and it has {have}"


def _full(driver: str, name: str) -> str:
    return name if "/" in name else f"{driver}/{name}"


def _capacities(driver: str, device: api.Device) -> dict[str, api.DeviceCapacity]:
    plain = {_full(driver, name): item for name, item in device.capacity.items() if "/" not in name}
    return plain | {name: item for name, item in device.capacity.items() if "/" in name}
