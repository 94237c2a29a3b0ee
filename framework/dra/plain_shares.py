"""Shares of a node's devices for one request, found without a search.

Where a pod has one claim with one request, for a number of shared devices of one capacity each and without
constraints, a device is in the way of no other: the first devices in order that have room are the answer of
`search`, and where they are too few there is none. Everything else is left to it, also what it might give up.

What a claim may have of a node's devices is read once for all nodes with like devices.
"""

from typing import TYPE_CHECKING, Final, NamedTuple

from .allocation import Pick
from .candidates import candidates
from .claims import MOST_RESULTS, ClaimSpec, Want
from .taints import tolerated

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence
    from fractions import Fraction

    from .capacity import Amounts
    from .devices import Device, View
    from .trial import Usage

MOST_DEVICES: Final = 12
"""Candidates up to which a search for several of them comes to its end: it tries all sets of them at most."""


class Share(NamedTuple):
    """What a want takes of a device.

    Attributes
    ----------
    place : int
        The device's among all that the node reaches.
    capacity : str
        The full name of its one capacity.
    taken : dict
        What is taken of it.
    others : Fraction
        What other claims may take of it at most.
    """

    place: int
    capacity: str
    taken: "Amounts"
    others: "Fraction"


class Shares(NamedTuple):
    """The devices that can give a want its share, in order."""

    want: Want
    devices: "tuple[Share, ...]"

    def first(self, view: "View", usage: "Usage") -> list[list[Pick]] | None:
        """Return the first devices that have room, as `search.allocate` does."""
        devices = _Devices.of(view).devices
        picks: list[Pick] = []
        for place, capacity, taken, others in self.devices:
            device = devices[place]
            held = usage.consumed(device.identity).get(capacity)
            if (held is None or held <= others) and not usage.in_use(device.identity):
                picks.append(Pick(self.want, device, taken))
                if len(picks) == self.want.count:
                    return [picks]
        return None


def plain_shares(view: "View", specs: "Sequence[ClaimSpec]", *, repeated: bool) -> Shares | None:
    """Read what claims may have of the devices of a view; None where that needs a search.

    Parameters
    ----------
    view : View
    specs : sequence of ClaimSpec
    repeated : bool
        Whether a request may have several shares of one device.
    """
    if len(specs) != 1:
        return None
    [spec] = specs
    likeness = _Devices.of(view).likeness
    if likeness is None:
        return None
    key = (likeness, repeated)
    if key not in spec.found:
        spec.found[key] = _read(view, spec, repeated=repeated)
    found: Shares | None = spec.found[key]
    return found


class _Devices(NamedTuple):
    """The devices of a view, and a key that is equal where claims find like ones; None for other devices."""

    devices: "tuple[Device, ...]"
    likeness: "Hashable"

    @classmethod
    def of(cls, view: "View") -> "_Devices":
        found: _Devices | None = view.found.get("devices in order")
        if found is None:
            devices = tuple(device for pool in view.pools for device in pool.devices)
            plain = not any(pool.invalid for pool in view.pools) and all(map(_is_plain, devices))
            likeness = tuple((d.content, d.stock, d.barred, d.hidden, d.taints) for d in devices)
            found = view.found["devices in order"] = cls(devices, likeness if plain else None)
        return found


def _is_plain(device: "Device") -> bool:
    """Whether a device is shared by one capacity, and reached from every node that its slice matches."""
    plain = device.shared and not device.counters and device.nodes is None
    return plain and len(device.spec.capacity) == 1


def _read(view: "View", spec: ClaimSpec, *, repeated: bool) -> Shares | None:
    if spec.constraints or spec.constraint_fault is not None or len(spec.requests) != 1:
        return None
    [request] = spec.requests
    if len(request.wants) != 1:
        return None
    [want] = request.wants
    if want.fault is not None or want.all_devices or want.admin or not 0 < want.count <= MOST_RESULTS:
        return None
    found = candidates(view, want.selection)
    if want.count > 1 and (repeated or len(found) > MOST_DEVICES):
        return None
    if any(refusal is not None for _, refusal in found):
        return None
    taken = {device.number for device, _ in found if device is not None}
    devices = enumerate(_Devices.of(view).devices)
    shares = (_share(want, place, device) for place, device in devices if device.number in taken)
    return Shares(want, tuple(share for share in shares if share is not None))


def _share(want: Want, place: int, device: "Device") -> Share | None:
    """Return what a want takes of a plain device; None where it cannot have it."""
    taken = want.taken(device)
    if taken is None or device.barred or not tolerated(device.taints, want.tolerations):
        return None
    [(name, amount)] = taken.items()
    [capacity] = device.spec.capacity.values()
    others = capacity.value - amount
    return Share(place, name, taken, others) if others >= 0 else None
