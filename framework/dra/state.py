"""Which claims are allocated, for whom they are reserved, and what that takes: devices in `State`.

Allocations and reservations of the input hold from the start. A pod that is placed reserves its claims; a pod
that leaves gives them back, and a claim that is reserved for nobody any more is deallocated, as the claim
controller does.

Source: KEP-4381; pkg/scheduler/framework/plugins/dynamicresources (allocateddevices.go),
pkg/controller/resourceclaim.
"""

from collections.abc import Hashable, Mapping
from copy import copy
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING, Final

import numpy as np

from .allocation import Allocation, Result
from .capacity import Amounts
from .index import Consumer, DeviceIndex, device_index
from .pod_claims import is_extended

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..vocabulary.arrays import Ints

_NOTHING: Final[Amounts] = {}
_MAPS: Final = ("_brought", "allocations", "reserved", "_claims_of", "_exclusive", "_shares", "_consumed")
_stamps = count(1)


class ClaimState:
    """See the module's docstring.

    Attributes
    ----------
    allocations : dict
        Claim key to allocation; a claim that is not in it is not allocated.
    reserved : dict
        Claim key to consumers.
    left_over : frozenset of str
        Claims that were made for extended resources before the round.
    stamps : int64[pools + 1]
        For each pool of the inventory a number that is new, and larger, after every change of what is taken
        of it; the last entry is 0.
    """

    __slots__ = (
        "_brought",
        "_claims_of",
        "_consumed",
        "_exclusive",
        "_index",
        "_shares",
        "allocations",
        "left_over",
        "reserved",
        "stamps",
    )

    def __init__(self, index: DeviceIndex) -> None:
        self._index = index
        self.allocations: dict[str, Allocation] = {}
        self.reserved: dict[str, frozenset[Consumer]] = {}
        self.stamps: Ints = np.zeros(index.inventory.n_pools + 1, dtype=np.int64)
        self.left_over = frozenset(key for key, claim in index.claims.items() if is_extended(claim))
        self._claims_of: dict[int, tuple[str, ...]] = {}
        self._exclusive: dict[int, int] = {}
        self._shares: dict[int, int] = {}
        self._consumed: dict[int, Amounts] = {}
        # By pod, what its `place` allocated and reserved.
        self._brought: dict[int, tuple[tuple[str, ...], tuple[tuple[str, Consumer], ...]]] = {}
        for key, allocation in index.given.items():
            self._allocate(key, allocation)
        for claim in index.claims.values():
            for reference in () if index.is_vacant(claim) else claim.status.reserved_for:
                self._reserve(claim.key, index.consumer(claim.namespace, reference))

    @classmethod
    def of(cls, cluster: "Cluster") -> "ClaimState | None":
        """Return the claims of a cluster's input; None where nothing has to do with devices."""
        index = device_index(cluster)
        return None if index is None else cls(index)

    # -- changes --

    def place(self, i: int, allocations: Mapping[str, Allocation]) -> None:
        """Allocate claims and reserve all claims of pod i for it.

        Parameters
        ----------
        i : int
        allocations : mapping
            Claim key to allocation, for those of the pod's claims that are not allocated yet.
        """
        for key, allocation in allocations.items():
            self._allocate(key, allocation)
        new = [
            (key, consumer)
            for key, consumer in self._index.consumers_of(i, allocations)
            if consumer not in self.reserved.get(key, ())
        ]
        for key, consumer in new:
            self._reserve(key, consumer)
        self._brought[i] = (tuple(allocations), tuple(new))

    def remove(self, i: int) -> None:
        """Give the claims of pod i back; those that nobody else has are deallocated."""
        for key in self._claims_of.get(i, ()):
            self._release(key, i)
            if key not in self.reserved:
                self.deallocate(key)
        self._brought.pop(i, None)

    def take_back(self, i: int) -> None:
        """Undo the `place` of pod i; of several, the last one first."""
        allocated, reserved = self._brought.pop(i, ((), ()))
        for key, consumer in reserved:
            self._release(key, consumer)
        for key in allocated:
            self._free(key)

    def allocate(self, key: str, allocation: Allocation) -> None:
        """Give a claim devices, reserved for nobody."""
        self._allocate(key, allocation)

    def deallocate(self, key: str) -> None:
        """Free the devices of a claim, if it has any, and forget for whom it was reserved."""
        for consumer in self.reserved.get(key, ()):
            self._release(key, consumer)
        self._free(key)
        self.left_over -= {key}

    def idle(self, key: str) -> bool:
        """Whether a claim is reserved for nobody, or only for one pod of the queue that waits.

        Then the scheduler may deallocate it (PostFilter).
        """
        consumers = self.reserved.get(key, frozenset())
        return (
            len(consumers) <= 1
            and key not in self._index.held_fast
            and all(
                isinstance(i, int) and i in self._index.queued and i not in self._brought for i in consumers
            )
        )

    def bindings(self) -> Hashable:
        """Return all allocations and reservations as one value."""
        return tuple(sorted(self.allocations.items())), tuple(sorted(self.reserved.items()))

    def copy(self) -> "ClaimState":
        """Return an independent copy."""
        other = copy(self)
        for name in _MAPS:
            setattr(other, name, dict(getattr(self, name)))
        other.stamps = self.stamps.copy()
        return other

    def extended(self, cluster: "Cluster") -> "ClaimState":
        """Return a copy for a cluster that has the same pods and devices, and more nodes."""
        other = self.copy()
        index = device_index(cluster)
        assert index is not None
        other._index = index  # noqa: SLF001 (another of this class)
        return other

    # -- what is taken (`trial.Usage`) --

    def in_use(self, identity: int) -> bool:
        """Whether a device belongs to a claim alone."""
        return identity in self._exclusive

    def held(self, identity: int) -> bool:
        """Whether any claim holds a device, alone or with others; `adminAccess` does not count."""
        return identity in self._exclusive or identity in self._shares

    def consumed(self, identity: int) -> Amounts:
        """Return what claims take of a shared device's capacities; not to be changed."""
        return self._consumed.get(identity, _NOTHING)

    # -- details --

    def _allocate(self, key: str, allocation: Allocation) -> None:
        self.allocations[key] = allocation
        for result in allocation.results:
            self._take(result, 1)

    def _free(self, key: str) -> None:
        allocation = self.allocations.pop(key, None)
        if allocation is not None:
            for result in allocation.results:
                self._take(result, -1)

    def _take(self, result: Result, sign: int) -> None:
        if result.admin:
            return
        inventory = self._index.inventory
        identity = inventory.identify(result.id)
        pool = inventory.pool_of[identity]
        if pool < inventory.n_pools:
            self.stamps[pool] = next(_stamps)
        shared = bool(result.share) and self._index.shares
        counts = self._shares if shared else self._exclusive
        counts[identity] = counts.get(identity, 0) + sign
        if not counts[identity]:
            del counts[identity]
        if shared:
            have = self._consumed.get(identity, _NOTHING)
            self._consumed[identity] = {
                **have,
                **{name: have.get(name, Fraction(0)) + sign * amount for name, amount in result.taken},
            }

    def _reserve(self, key: str, consumer: Consumer) -> None:
        self.reserved[key] = self.reserved.get(key, frozenset()) | {consumer}
        if isinstance(consumer, int):
            self._claims_of[consumer] = (*self._claims_of.get(consumer, ()), key)

    def _release(self, key: str, consumer: Consumer) -> None:
        left = self.reserved[key] - {consumer}
        if left:
            self.reserved[key] = left
        else:
            del self.reserved[key]
        if isinstance(consumer, int):
            self._claims_of[consumer] = tuple(k for k in self._claims_of[consumer] if k != key)
