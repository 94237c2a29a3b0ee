"""Counters that the devices of a pool share (partitionable devices, KEP-4815).

A device takes from counter sets while it is allocated: free = value - what all allocated devices take. The
sets are in the device's own slice (1.34), or in slices of the same pool that have no devices (from 1.35 on).

Source: k8s.io/dynamic-resource-allocation/structured (allocator_experimental.go, pools_experimental.go).
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import copy
from fractions import Fraction

from ...models import resource_api as api


class Counters:
    """All counters of a cluster by number.

    Attributes
    ----------
    values : list of Fraction
    takers : list of dict
        For each counter, device identity to amount.
    labels : list of str
        For each counter, its name and that of its set.
    """

    def __init__(self) -> None:
        self.values: list[Fraction] = []
        self.takers: list[dict[int, Fraction]] = []
        self.labels: list[str] = []
        self._numbers: dict[Hashable, int] = {}

    def number(self, key: Hashable, value: Fraction, label: str) -> int:
        """Return a counter's number; the first one to ask gives its value and label."""
        found = self._numbers.setdefault(key, len(self.values))
        if found == len(self.values):
            self.values.append(value)
            self.takers.append({})
            self.labels.append(label)
        return found

    def without_limit(self, number: int) -> "Counters":
        """Return the same counters, one of them with enough for all its takers."""
        freed = copy(self)
        freed.values = list(self.values)
        freed.values[number] += 2 * sum(self.takers[number].values(), Fraction(0))
        return freed


class CounterScope:
    """The counter sets that the devices of a slice may take from.

    Parameters
    ----------
    counters : Counters
    key : hashable
        Equal for slices with the same sets.
    sets : sequence of CounterSet

    Attributes
    ----------
    sets : tuple of CounterSet
    """

    def __init__(self, counters: Counters, key: Hashable, sets: Sequence[api.CounterSet]) -> None:
        self._counters = counters
        self._key = key
        self.sets = tuple(sets)
        self._sets = {item.name: item.counters for item in sets}

    def taken(self, device: api.Device, identity: int) -> tuple[tuple[int, Fraction], ...]:
        """Return what a device takes of which counter, and note that it does; missing ones are left out."""
        taken: dict[int, Fraction] = {}
        for consumption in device.consumes_counters:
            have = self._sets.get(consumption.counter_set, {})
            for name, amount in consumption.counters.items():
                if name in have:
                    number = self._counters.number(
                        (self._key, consumption.counter_set, name),
                        have[name].value,
                        f"{name} of {consumption.counter_set}",
                    )
                    taken[number] = taken.get(number, Fraction(0)) + amount.value
                    self._counters.takers[number][identity] = taken[number]
        return tuple(taken.items())


def counter_fault(sets: Sequence[api.CounterSet], devices: Iterable[api.Device]) -> str:
    """Return what makes a pool with these counter sets and devices invalid; empty where nothing does."""
    have: dict[str, Mapping[str, api.Counter]] = {}
    for item in sets:
        if item.name in have:
            return f"duplicate counter set name {item.name}"
        have[item.name] = item.counters
    for consumption in (c for device in devices for c in device.consumes_counters):
        counters = have.get(consumption.counter_set)
        if counters is None:
            return f"counter set {consumption.counter_set} not found"
        for name in consumption.counters:
            if name not in counters:
                return f"counter {name} not found in counter set {consumption.counter_set}"
    return ""
