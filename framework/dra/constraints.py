"""The constraints of a claim while its devices are chosen: a device is added, and taken out on the way back.

An attribute may have several values (KEP-5491): devices match that have one in common, and are distinct where
no two of them have.

Source: k8s.io/dynamic-resource-allocation/structured (matchAttributeConstraint). `distinctAttribute` has the
meaning that the API documents: all values differ pairwise.
"""

from .claims import ClaimSpec, Constraint, Want
from .devices import Attribute, Device, elements


class Tally:
    """What the chosen devices have for one constraint: each one's values, or what all so far share."""

    __slots__ = ("_constraint", "_values")

    def __init__(self, constraint: Constraint) -> None:
        self._constraint = constraint
        self._values: list[frozenset[Attribute]] = []

    def covers(self, want: Want) -> bool:
        """Whether the devices of a want count."""
        return self._constraint.covers(want)

    def add(self, device: Device) -> bool:
        """Add a device where the constraint allows it; say whether it did."""
        found = elements(device.attributes.get(self._constraint.attribute))
        if self._constraint.distinct:
            allowed = bool(found) and all(found.isdisjoint(values) for values in self._values)
        else:
            found = found.intersection(*self._values[-1:])
            allowed = bool(found)
        if allowed:
            self._values.append(found)
        return allowed

    def pop(self) -> None:
        """Take the last device out."""
        self._values.pop()


class Tallies:
    """All constraints of a claim."""

    __slots__ = ("_all",)

    def __init__(self, spec: ClaimSpec) -> None:
        self._all = [Tally(constraint) for constraint in spec.constraints]

    def add(self, want: Want, device: Device) -> bool:
        """Add a device to every constraint that covers its want; to none where one does not allow it."""
        added: list[Tally] = []
        for tally in self._all:
            if not tally.covers(want):
                continue
            if not tally.add(device):
                for earlier in added:
                    earlier.pop()
                return False
            added.append(tally)
        return True

    def pop(self, want: Want) -> None:
        """Take the last device of a want out."""
        for tally in self._all:
            if tally.covers(want):
                tally.pop()
