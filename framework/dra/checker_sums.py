"""The checker's sums: each device once unless it may be shared, capacities, counters."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from ...models import resource_api as api
from ...models.quantity import format_quantity
from .allocation import Allocation, Result
from .checker_view import Id, Served, ServedDevices, Want


def can_give(want: Want, served: Served) -> bool:
    """Whether a device has the capacities that a request asks for, apart from what others take."""
    asked = want.capacity.requests if want.capacity is not None else {}
    capacities = _capacities(served)
    for name, amount in asked.items():
        capacity = capacities.get(_full(served.driver, name))
        if capacity is None or amount > capacity.value:
            return False
    return True


def of_result(where: str, want: Want, served: Served, result: Result, *, shared: bool) -> Iterator[str]:
    """Find what is wrong with what one result takes of its device's capacities."""
    if not can_give(want, served):
        yield f"{where} has {result.id}, which lacks a capacity that is asked for"
    if shared != bool(result.share):
        yield f"{where} has {result.id} {'alone' if shared else 'as a share'}, which it is not"
    if not shared:
        return
    taken = dict(result.taken)
    asked = want.capacity.requests if want.capacity is not None else {}
    wanted = {_full(served.driver, name): amount for name, amount in asked.items()}
    for name, capacity in _capacities(served).items():
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
    devices: ServedDevices, allocations: Mapping[str, Allocation], new: Sequence[str]
) -> Iterator[str]:
    """Find devices, capacities and counters of which more is allocated than there is.

    Parameters
    ----------
    devices : ServedDevices
    allocations : mapping
        Claim key to allocation: all that hold.
    new : sequence of str
        The claims that may be blamed: what was too much before them is not told.
    """
    blamed = frozenset(new)
    fresh: set[Id] = {result.id for key in new for result in allocations[key].results}
    served = {
        Served(item, device).id: Served(item, device)
        for item in devices.slices
        for device in item.spec.devices
    }
    alone: Counter[Id] = Counter()
    shares: dict[Id, list[Result]] = {}
    for key, allocation in allocations.items():
        own: Counter[Id] = Counter()
        for result in allocation.results:
            share = bool(result.share) and devices.sharing
            own[result.id] += not share
            if share and not result.admin:
                shares.setdefault(result.id, []).append(result)
            elif not result.admin:
                alone[result.id] += 1
        if key in blamed:
            yield from (f"claim {key}: has {'/'.join(id_)} twice" for id_, n in own.items() if n > 1)
    shared = {id_ for id_ in fresh if id_ not in served or devices.shared(served[id_].device)}
    for id_ in fresh:
        # Shares that were given out before a device ceased to be shared do not keep it from a claim alone:
        # upstream looks for them only where it has shares to give.
        holders = alone[id_] + (id_ in shared and id_ in shares)
        if holders > 1:
            yield f"device {'/'.join(id_)}: belongs to {holders} claims"
    for id_ in shared & shares.keys() & served.keys():
        yield from _capacity_faults(served[id_], shares[id_])
    if devices.partitions:
        yield from _counter_faults(devices.slices, {*alone, *shares}, fresh)


def _capacity_faults(served: Served, shares: Sequence[Result]) -> Iterator[str]:
    for name, capacity in _capacities(served).items():
        total = sum((dict(result.taken).get(name, Fraction(0)) for result in shares), Fraction(0))
        if total > capacity.value:
            have, want = format_quantity(capacity.value), format_quantity(total)
            yield f"device {'/'.join(served.id)}: {want} of {name} are taken, and it has {have}"


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


def _capacities(served: Served) -> dict[str, api.DeviceCapacity]:
    capacity, driver = served.device.capacity, served.driver
    short = {_full(driver, name): item for name, item in capacity.items() if "/" not in name}
    return short | {name: item for name, item in capacity.items() if "/" in name}
