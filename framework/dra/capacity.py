"""How much of a device's capacities a request takes (consumable capacity, KEP-5075).

For each capacity of the device: the amount asked for, rounded up to what the capacity's policy allows; where
nothing is asked for, the policy's default, else all of it.

    range:  max(min, min + step * ceil((asked - min) / step)), at most max
    values: the smallest listed value that is not below

Source: k8s.io/dynamic-resource-allocation/structured (consumable_capacity.go).
"""

from collections.abc import Mapping
from fractions import Fraction

from ...models import resource_api as api
from .devices import qualified

Amounts = dict[str, Fraction]
"""By fully qualified name of the capacity."""


def rounded(asked: Fraction | None, capacity: api.DeviceCapacity) -> Fraction | None:
    """Return the amount that is taken of a capacity; None where its policy allows none that is enough."""
    policy = capacity.request_policy
    if policy is None:
        return capacity.value if asked is None else asked
    if asked is None:
        asked = capacity.value if policy.default is None else policy.default
        if policy.default is not None:
            return asked
    if policy.valid_range is not None:
        return _in_range(asked, policy.valid_range)
    if policy.valid_values:
        return min((value for value in policy.valid_values if value >= asked), default=None)
    return asked


def _in_range(asked: Fraction, allowed: api.CapacityRequestPolicyRange) -> Fraction | None:
    least = allowed.min if allowed.min is not None else Fraction(0)
    taken = max(asked, least)
    if allowed.step:
        steps = -((least - taken) // allowed.step)
        taken = least + steps * allowed.step
    return None if allowed.max is not None and taken > allowed.max else taken


def capacities(device: api.Device, driver: str) -> dict[str, api.DeviceCapacity]:
    """Return a device's capacities by full name; one spelled with its domain wins over one without."""
    spelled = sorted(device.capacity.items(), key=lambda item: "/" in item[0])
    return {qualified(name, driver): capacity for name, capacity in spelled}


def taken(device: api.Device, driver: str, asked: Mapping[str, Fraction]) -> Amounts | None:
    """Return what a request takes of every capacity of a device.

    Returns
    -------
    dict or None
        None where the device lacks a capacity that is asked for, or cannot give an amount that is enough.
    """
    have = capacities(device, driver)
    wanted = {qualified(name, driver): amount for name, amount in asked.items()}
    if not wanted.keys() <= have.keys():
        return None
    amounts: Amounts = {}
    for name, capacity in have.items():
        amount = rounded(wanted.get(name), capacity)
        if amount is None or amount > capacity.value:
            return None
        amounts[name] = amount
    return amounts
