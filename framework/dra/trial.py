"""What one search has chosen so far, on top of what other claims hold; a choice is made and taken back.

A device of its own belongs to one claim; `adminAccess` looks past other claims, not past its own. A shared
device has room while the sum of what is taken stays within each capacity. Counters are taken by every choice,
by a shared device once.

Where a release loses counters (`losses`), those of a device that suffices and is then turned down by a taint
or by a constraint stay taken: as its own search goes on, so does the trial.

Source: k8s.io/dynamic-resource-allocation/structured at 1.34.1 (allocateDevice, checkAvailableCounters).
"""

from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol

from .allocation import Pick
from .capacity import Amounts, capacities
from .claims import ClaimSpec, Want
from .constraints import Tallies
from .counters import Counters
from .devices import Device
from .taints import tolerated


class Usage(Protocol):
    """What other claims hold."""

    def in_use(self, identity: int) -> bool:
        """Whether a device belongs to another claim alone."""

    def held(self, identity: int) -> bool:
        """Whether any claim holds a device, alone or with others."""

    def consumed(self, identity: int) -> Amounts:
        """Return what others take of a shared device's capacities."""


class ConstraintError(Exception):
    """A device that must be chosen, and that a constraint does not allow."""


class _Chosen(NamedTuple):
    pick: Pick
    counted: bool


class Trial:
    """See the module's docstring.

    Attributes
    ----------
    picks : list of list of Pick
        By claim.
    losses : int
        How often counters were lost.
    """

    def __init__(
        self, specs: Sequence[ClaimSpec], usage: Usage, counters: Counters, *, loses: bool = False
    ) -> None:
        self._usage = usage
        self._loses = loses
        self.losses = 0
        self._counters = counters
        self._tallies = [Tallies(spec) for spec in specs]
        self._chosen: list[list[_Chosen]] = [[] for _ in specs]
        # By device identity: the claims that have it (a device of its own), what is taken of it (a shared
        # one).
        self._claims: dict[int, list[int]] = {}
        self._taken: dict[int, list[Amounts]] = {}
        # By counter: what this search takes, and what others leave.
        self._counted: dict[int, Fraction] = {}
        self._free: dict[int, Fraction] = {}
        wants = [want for spec in specs for request in spec.requests for want in request.wants]
        self._selections = list(
            {w.selection.number: w.selection for w in wants if w.selection is not None}.values()
        )
        self._asking = [want for want in wants if want.asked]
        self._attributes = sorted({item.attribute for spec in specs for item in spec.constraints})
        self._kinds: dict[int, Hashable] = {}

    @property
    def picks(self) -> list[list[Pick]]:
        """What is chosen, by claim."""
        return [[chosen.pick for chosen in claim] for claim in self._chosen]

    def size(self, c: int) -> int:
        """Return how many devices claim c has."""
        return len(self._chosen[c])

    def available(self, c: int, want: Want, device: Device) -> bool:
        """Whether nobody stands in the way who has the device for himself."""
        claims = self._claims.get(device.identity, ())
        if want.admin:
            return c not in claims
        return not claims and not self._usage.in_use(device.identity)

    def has_room(self, want: Want, device: Device) -> bool:
        """Whether the device has the capacities that a want asks for, and has so much of them left."""
        if not device.shared and not want.asked:
            return True
        amounts = want.taken(device)
        if amounts is None or not device.shared:
            return amounts is not None
        used = (self._usage.consumed(device.identity), *self._taken.get(device.identity, ()))
        if not any(used):
            return True
        return all(
            sum((other.get(name, Fraction(0)) for other in used), amounts[name]) <= capacity.value
            for name, capacity in capacities(device.spec, device.id.driver).items()
        )

    def choose(self, c: int, want: Want, device: Device, *, must: bool) -> bool:
        """Choose a device for claim c where every rule allows it; say whether it was chosen.

        Raises
        ------
        ConstraintError
            If only a constraint of the claim is in the way, and the device must be chosen.
        """
        if device.barred or not self.available(c, want, device) or not self.has_room(want, device):
            return False
        counted = bool(device.counters) and not (device.shared and self._is_held(device.identity))
        if counted and not self._counters_suffice(device):
            return False
        if device.taints and not tolerated(device.taints, want.tolerations):
            self._lose(device, counted=counted)
            return False
        if not self._tallies[c].add(want, device):
            if must:
                raise ConstraintError
            self._lose(device, counted=counted)
            return False
        taken = want.taken(device) if device.shared else None
        if taken is None:
            self._claims.setdefault(device.identity, []).append(c)
        else:
            self._taken.setdefault(device.identity, []).append(taken)
        if counted:
            self._count(device, 1)
        self._chosen[c].append(_Chosen(Pick(want, device, taken), counted))
        return True

    def take_back(self, c: int) -> None:
        """Undo the last choice, which was for claim c."""
        (want, device, taken), counted = self._chosen[c].pop()
        self._tallies[c].pop(want)
        if taken is None:
            self._claims[device.identity].pop()
        else:
            self._taken[device.identity].pop()
        if counted:
            self._count(device, -1)

    def kind(self, device: Device) -> Hashable:
        """Return a key that is equal for devices of their own which nothing in this search can tell apart."""
        fixed = self._kinds.get(device.number)
        if fixed is None:
            fixed = self._kinds[device.number] = (
                tuple(selection.answer(device) for selection in self._selections),
                tuple(want.taken(device) is None for want in self._asking),
                tuple(device.attributes.get(name) for name in self._attributes),
                None if device.nodes is None else device.nodes.tobytes(),
                device.shared,
                device.counters,
                device.barred,
                tuple((taint.key, taint.value, taint.effect) for taint in device.taints),
                self._usage.in_use(device.identity),
            )
        return fixed, tuple(self._claims.get(device.identity, ()))

    def _lose(self, device: Device, *, counted: bool) -> None:
        """Leave the counters of a device that was turned down taken, where the release does."""
        if counted and self._loses:
            self._count(device, 1)
            self.losses += 1

    def _is_held(self, identity: int) -> bool:
        return bool(self._taken.get(identity)) or self._usage.held(identity)

    def _counters_suffice(self, device: Device) -> bool:
        return all(
            amount <= self._left(number) - self._counted.get(number, Fraction(0))
            for number, amount in device.counters
        )

    def _left(self, number: int) -> Fraction:
        """Return what other claims leave of a counter."""
        left = self._free.get(number)
        if left is None:
            left = self._counters.values[number]
            for identity, amount in self._counters.takers[number].items():
                if self._usage.held(identity):
                    left -= amount
            self._free[number] = left
        return left

    def _count(self, device: Device, sign: int) -> None:
        for number, amount in device.counters:
            self._counted[number] = self._counted.get(number, Fraction(0)) + sign * amount
