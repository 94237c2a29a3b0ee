"""What the pods placed in a round did to claims and volumes, and which volumes are left."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .offers import Offers, Wish, offers_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..index.cluster import Cluster


class Shelf:
    """The free volumes that suit one wish.

    Attributes
    ----------
    groups : dict
        Group to its free volumes, the one to take first first; groups without any are left out.
    reach : int32[N]
        How many groups with a free volume each node reaches.
    """

    __slots__ = ("_offers", "_suiting", "groups", "reach")

    def __init__(self, offers: Offers, wish: Wish, taken: Mapping[int, Any]) -> None:
        self._offers = offers
        self._suiting: dict[int, int] = {}
        self.groups: dict[int, list[int]] = {}
        self.reach: NDArray[np.int32] = np.zeros(offers.n_nodes, dtype=np.int32)
        for g, members in offers.groups(wish).items():
            self._suiting.update(dict.fromkeys(members, g))
            free = [v for v in members if v not in taken]
            if free:
                self.groups[g] = free
                self.reach += offers.masks[g]

    def take(self, v: int) -> None:
        """Take a volume off, if it is here."""
        g = self._suiting.get(v, -1)
        if g >= 0:
            self.groups[g].remove(v)
            if not self.groups[g]:
                del self.groups[g]
                self.reach -= self._offers.masks[g]

    def give(self, v: int) -> None:
        """Put a volume back, if it belongs here."""
        g = self._suiting.get(v, -1)
        if g >= 0:
            if g not in self.groups:
                self.groups[g] = []
                self.reach += self._offers.masks[g]
            self.groups[g].append(v)
            self.groups[g].sort(key=self._offers.rank.__getitem__)


class Assumed:
    """What a round has bound; it stays when pods leave.

    Attributes
    ----------
    volume_of : dict
        Claim's key to the volume that it takes.
    taken : dict
        Volume to the claim that takes it.
    node_of : dict
        Claim's key to the node for which its volume is made.
    """

    __slots__ = ("_cluster", "_shelves", "node_of", "taken", "volume_of")

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster
        self._shelves: dict[Wish, Shelf] = {}
        self.volume_of: dict[str, int] = {}
        self.taken: dict[int, str] = {}
        self.node_of: dict[str, int] = {}

    def shelf(self, wish: Wish) -> Shelf:
        """Return the free volumes that suit a wish; live, not to be written to."""
        found = self._shelves.get(wish)
        if found is None:
            found = self._shelves[wish] = Shelf(offers_of(self._cluster), wish, self.taken)
        return found

    def take(self, key: str, v: int) -> None:
        """Assume a free volume for a claim."""
        self.volume_of.setdefault(key, v)
        self.taken[v] = key
        for shelf in self._shelves.values():
            shelf.take(v)

    def give_back(self, key: str, v: int) -> None:
        """Undo that."""
        self.volume_of.pop(key, None)
        del self.taken[v]
        for shelf in self._shelves.values():
            shelf.give(v)

    def copy(self, cluster: "Cluster | None" = None) -> "Assumed":
        """Return an independent copy, for another cluster where one is given: its volumes are the same."""
        other = type(self)(cluster or self._cluster)
        other.volume_of = dict(self.volume_of)
        other.taken = dict(self.taken)
        other.node_of = dict(self.node_of)
        return other
