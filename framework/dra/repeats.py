"""How many pods that each ask for the same claims get their devices on a node, one after another.

Where no other node reaches a node's pools, what happens elsewhere changes nothing there: nodes can be looked
at one by one, and their numbers add up.
"""

from typing import TYPE_CHECKING, Final

import numpy as np

from ..vocabulary.arrays import Bools, Ints
from .allocation import Allocation, write
from .answers import ERROR, FITS, NEVER, Answers

if TYPE_CHECKING:
    from .state import ClaimState

_SERVED: Final = "served"
"""The claim that stands for all in a copy: what counts is which devices are taken."""


class Repeats:
    """How often the same claims find devices, by node; asked again only where something has changed.

    Parameters
    ----------
    answers : Answers
        What the allocator says about the claims.
    pools_of_nodes : int64[N, K]
        As in `Inventory`.
    """

    def __init__(self, answers: Answers, pools_of_nodes: Ints) -> None:
        n_nodes = len(pools_of_nodes)
        self._answers = answers
        self._pools = pools_of_nodes
        numbers, users = np.unique(pools_of_nodes, return_counts=True)
        common = numbers[(users > 1) & (numbers >= 0)]
        self._alone: Bools = ~np.logical_or.reduce(np.isin(pools_of_nodes, common), axis=1)
        self._moments: Ints = np.full(n_nodes, NEVER, dtype=np.int64)
        self._served: list[list[Allocation]] = [[] for _ in range(n_nodes)]
        self._ended = [False] * n_nodes

    def count(self, claims: "ClaimState", nodes: Ints, room: Ints, most: int) -> int | None:
        """Count pods on some nodes.

        Parameters
        ----------
        claims : ClaimState
        nodes : int64[K]
        room : int64[K]
            How many pods each node takes at most.
        most : int
            The count ends there.

        Returns
        -------
        int or None
            None where nodes share pools, or where the allocator ends in an error.
        """
        if not self._alone[nodes].all():
            return None
        newest = claims.stamps[self._pools[nodes]].max(axis=1).tolist()
        scratch: ClaimState | None = None
        total = 0
        for n, moment, own in zip(nodes.tolist(), newest, room.tolist(), strict=True):
            if self._moments[n] != moment:
                self._moments[n], self._served[n], self._ended[n] = moment, [], False
            wanted = min(own, most - total)
            if len(self._served[n]) < wanted and not self._ended[n]:
                scratch = claims.copy() if scratch is None else scratch
                if not self._go_on(claims, scratch, n, wanted):
                    return None
            total += min(len(self._served[n]), wanted)
            if total == most:
                break
        return total

    def _go_on(self, claims: "ClaimState", scratch: "ClaimState", n: int, wanted: int) -> bool:
        """Serve more pods on a node, in a copy of the claims; whether that goes without an error."""
        served = self._served[n]
        for allocation in served:
            scratch.allocate(_SERVED, allocation)
        while len(served) < wanted:
            answer = self._answers.ask(scratch, n) if served else self._answers.at(claims, n)
            if answer.verdict == ERROR:
                return False
            if answer.verdict != FITS:
                self._ended[n] = True
                break
            picks = [pick for claim in answer.picks for pick in claim]
            served.append(write(f"{_SERVED} {len(served)}", picks, ""))
            scratch.allocate(_SERVED, served[-1])
        return True
