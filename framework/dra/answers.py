"""What the allocator answers to the same claims on every node, asked again only where something has changed.

Claims that ask for the same share their answers, whichever pods they belong to. An answer depends on the
devices that the node reaches and on what is taken of them; each change of a pool has a stamp of its own, so
the newest stamp among the node's pools says whether an answer still holds.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ..vocabulary.arrays import Bools, Ints
from .allocation import Pick
from .claims import ClaimSpec
from .inventory import Inventory
from .search import FaultyPools, Manner, SearchError, SearchTimeout, allocate
from .selection import Refusal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .state import ClaimState

FITS: Final = 0
NO_ROOM: Final = 1
TIMEOUT: Final = 3
ERROR: Final = 4
FAULTY: Final = 5

_NEVER: Final = -1


class Answer(NamedTuple):
    """The allocator's answer on one node.

    Attributes
    ----------
    verdict : int
        `FITS`, `NO_ROOM`, `TIMEOUT`, `ERROR` or `FAULTY`.
    picks : tuple of tuple of Pick
        The devices of each claim, where they fit.
    claim : int
        The place of the claim that an error is about.
    refusal : Refusal or None
        The error.
    """

    verdict: int
    picks: tuple[tuple[Pick, ...], ...] = ()
    claim: int = 0
    refusal: Refusal | None = None


class Answers:
    """The answers to some claims, by node.

    Parameters
    ----------
    inventory : Inventory
    specs : sequence of ClaimSpec
    manner : Manner
    """

    def __init__(self, inventory: Inventory, specs: Sequence[ClaimSpec], manner: Manner) -> None:
        self._inventory = inventory
        self._manner = manner
        self._permitted: Answers | None = None
        self._specs = tuple(specs)
        n_nodes = len(inventory.pools_of_nodes)
        self._verdicts: NDArray[np.uint8] = np.zeros(n_nodes, dtype=np.uint8)
        self._moments: Ints = np.full(n_nodes, _NEVER, dtype=np.int64)
        self._found: list[Answer | None] = [None] * n_nodes

    @property
    def permitted(self) -> "Answers":
        """What the rules alone allow: the same where the release loses no counters on its way."""
        if not self._manner.lost_counters:
            return self
        if self._permitted is None:
            manner = self._manner._replace(lost_counters=False)
            self._permitted = Answers(self._inventory, self._specs, manner)
        return self._permitted

    def at(self, claims: "ClaimState", n: int) -> Answer:
        """Return the answer on node n."""
        moment = int(claims.stamps[self._inventory.pools_of_nodes[n]].max())
        found = self._found[n]
        if found is None or self._moments[n] != moment:
            found = self._found[n] = self._ask(claims, n)
            self._verdicts[n] = found.verdict
            self._moments[n] = moment
        return found

    def verdicts(self, claims: "ClaimState", nodes: Bools) -> "NDArray[np.uint8]":
        """Return the verdicts on some nodes; uint8[N], of no meaning for the others, not to be written to."""
        newest = claims.stamps[self._inventory.pools_of_nodes].max(axis=1)
        for n in np.flatnonzero(nodes & (newest != self._moments)).tolist():
            self.at(claims, n)
        return self._verdicts

    def exhausted(self, claims: "ClaimState", n: int) -> list[tuple[str, Fraction, Fraction]]:
        """Return the counters that alone keep the claims from node n: label, value, what is left."""
        inventory = self._inventory
        view, counters = inventory.view(n), inventory.counters
        found = []
        for number in sorted(
            {number for pool in view.pools for device in pool.devices for number, _ in device.counters}
        ):
            freed = counters.without_limit(number)
            if allocate(view, self._specs, claims, freed, self._manner) is not None:
                held = (amount for i, amount in counters.takers[number].items() if claims.held(i))
                value = counters.values[number]
                found.append((counters.labels[number], value, value - sum(held, Fraction(0))))
        return found

    def _ask(self, claims: "ClaimState", n: int) -> Answer:
        if self._inventory.fault:
            return Answer(ERROR, refusal=Refusal(self._inventory.fault))
        try:
            view, counters = self._inventory.view(n), self._inventory.counters
            picks = allocate(view, self._specs, claims, counters, self._manner)
        except SearchTimeout:
            return Answer(TIMEOUT)
        except FaultyPools:
            return Answer(FAULTY)
        except SearchError as error:
            return Answer(ERROR, claim=error.claim, refusal=error.refusal)
        return Answer(NO_ROOM) if picks is None else Answer(FITS, tuple(map(tuple, picks)))
