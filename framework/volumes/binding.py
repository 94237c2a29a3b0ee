"""Which volume each claim of a pod would take on a node, and which would have to be made.

Claims are served in order of size, the smallest first; each takes the volume reserved for it, else the
smallest that suits; a claim without one needs a volume made for the node.

Source: kube-scheduler 1.34.1 plugins/volumebinding/binder.go (FindPodVolumes).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from .assumed import Assumed, Shelf
from .claims import ANY_NODE, MISSING, PodClaims, Unbound, claims_of
from .offers import offers_of
from .provisioning import NO_SPACE, NOWHERE, provisioning

if TYPE_CHECKING:
    from ..index.cluster import Cluster

OUT_OF_REACH: Final = 1
NO_VOLUME: Final = NOWHERE
"""2: neither is there a volume to bind nor can one be made."""
GONE: Final = 8
"""A claim's volume does not exist."""
ALL: Final = OUT_OF_REACH | NO_VOLUME | NO_SPACE | GONE


@dataclass(frozen=True, slots=True)
class Bindings:
    """What placing a pod does: claims that take a volume, claims for which one is made."""

    taken: tuple[tuple[str, int], ...] = ()
    made: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class Need:
    """A pod's claims at one moment.

    Attributes
    ----------
    refused : uint8[N]
        What bound claims say about each node: 0, `OUT_OF_REACH` or `GONE`.
    pinned : tuple of Unbound
        Claims whose volume is being made for `node`.
    node : int
        `ANY_NODE` where nothing is being made.
    split : bool
        Whether volumes are being made for different nodes: no node will do.
    open : tuple of (Unbound, Shelf)
        Claims that look for a volume, the smallest first, with the free volumes that suit.
    """

    refused: NDArray[np.uint8]
    pinned: tuple[Unbound, ...] = ()
    node: int = ANY_NODE
    split: bool = False
    open: tuple[tuple[Unbound, Shelf], ...] = ()


class Binder:
    """Answers for one cluster."""

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster
        self._claims = claims_of(cluster)
        self._offers = offers_of(cluster)

    def need(self, claims: PodClaims, assumed: Assumed) -> Need:
        """Evaluate a pod's claims after what a round has bound so far."""
        taken: list[int] = []
        pinned: list[Unbound] = []
        looking: list[Unbound] = []
        nodes: set[int] = set()
        for claim in claims.unbound:
            # What became of a claim that only one pod uses is of no concern to the pods of its class.
            volume = assumed.volume_of.get(claim.key) if claim.shared else None
            node = assumed.node_of.get(claim.key, claim.selected) if claim.shared else claim.selected
            if volume is not None:
                taken.append(volume)
            elif node != ANY_NODE:
                pinned.append(claim)
                nodes.add(node)
            else:
                looking.append(claim)
        looking.sort(key=attrgetter("wish.size"))
        need = Need(self._refused(claims.bound, taken), tuple(pinned))
        need.open = tuple((claim, assumed.shelf(claim.wish)) for claim in looking)
        if nodes:
            need.node = min(nodes)
            need.split = len(nodes) > 1
        return need

    def judge(self, need: Need) -> NDArray[np.uint8]:
        """Judge every node: the sum of what is wrong with it; uint8[N], 0 where nothing is."""
        n_nodes = self._cluster.n_nodes
        unbound: NDArray[np.uint8] = np.zeros(n_nodes, dtype=np.uint8)
        for wish in (*(claim.wish for claim in need.pinned), *(claim.wish for claim, _ in need.open)):
            unbound = np.where(unbound == 0, provisioning(self._cluster, wish), unbound).astype(np.uint8)
        offered = [self._offered(claim, shelf) for claim, shelf in need.open]
        if need.node != ANY_NODE:
            here = np.zeros(n_nodes, dtype=np.bool_)
            if need.node >= 0 and not need.split:
                here[need.node] = True
                unbound[need.node] = self._bind(need, need.node)[0]
            unbound[~here] = NO_VOLUME
        elif len(offered) == 1:
            unbound[offered[0]] = 0
        elif offered:
            for n in np.flatnonzero((unbound != 0) & np.logical_or.reduce(offered)).tolist():
                unbound[n] = self._bind(need, n)[0]
        return need.refused | unbound

    def judge_node(self, need: Need, n: int) -> int:
        """Judge one node."""
        return int(need.refused[n]) | self._unbound(need, n)[0]

    def bindings(self, need: Need, n: int) -> Bindings:
        """Return what placing the pod on node n does; nothing where it cannot be there."""
        verdict, bindings = self._unbound(need, n)
        return Bindings() if verdict else bindings

    def possible(self, claims: PodClaims) -> NDArray[np.bool_]:
        """Return which nodes can take a pod with these claims as long as every volume is free; bool[N]."""
        mask: NDArray[np.bool_] = self._refused(claims.bound) == 0
        for claim in claims.unbound:
            made = provisioning(self._cluster, claim.wish) == 0
            if claim.selected != ANY_NODE:
                here = np.zeros(self._cluster.n_nodes, dtype=np.bool_)
                if claim.selected >= 0:
                    here[claim.selected] = True
                mask = mask & made & here
                continue
            shelf = Shelf(self._offers, claim.wish, {})
            mask = mask & (made | self._offered(claim, shelf))
        return mask

    def _offered(self, claim: Unbound, shelf: Shelf) -> NDArray[np.bool_]:
        """Return which nodes have a volume for a claim by itself; bool[N]."""
        if claim.reserved is not None:
            return self._claims.storage.nodes_of(claim.reserved)
        return shelf.reach > 0

    def _refused(self, bound: Sequence[int], taken: Sequence[int] = ()) -> NDArray[np.uint8]:
        """Judge every node by bound claims, and those bound in the round: the first in the way counts."""
        refused = np.zeros(self._cluster.n_nodes, dtype=np.uint8)
        reaches = [None if v == MISSING else self._claims.reach(v) for v in bound]
        for reach in (*reaches, *(self._claims.storage.nodes_of(v) for v in taken)):
            fault = np.uint8(GONE) if reach is None else np.where(reach, 0, OUT_OF_REACH)
            refused = np.where(refused == 0, fault, refused).astype(np.uint8)
        return refused

    def _unbound(self, need: Need, n: int) -> tuple[int, Bindings]:
        if need.node != ANY_NODE and (need.node != n or need.split):
            return NO_VOLUME, Bindings()
        return self._bind(need, n)

    def _bind(self, need: Need, n: int) -> tuple[int, Bindings]:
        """Serve the claims on a node for which the pinned ones are made."""
        taken: list[tuple[str, int]] = []
        to_make = list(need.pinned)
        chosen: set[int] = set()
        for claim, shelf in need.open:
            v = self._choose(claim, shelf, chosen, n)
            if v is None:
                to_make.append(claim)
            else:
                chosen.add(v)
                taken.append((claim.key, v))
        for claim in to_make:
            fault = int(provisioning(self._cluster, claim.wish)[n])
            if fault:
                return fault, Bindings()
        return 0, Bindings(tuple(taken), tuple(claim.key for claim in to_make))

    def _choose(self, claim: Unbound, shelf: Shelf, chosen: set[int], n: int) -> int | None:
        if claim.reserved is not None:
            v = claim.reserved
            return v if v not in chosen and self._claims.storage.nodes_of(v)[n] else None
        if not shelf.reach[n]:
            return None
        rank = self._offers.rank
        best: int | None = None
        for g in self._offers.groups_on(n):
            free = next((v for v in shelf.groups.get(g, ()) if v not in chosen), None)
            if free is not None and (best is None or rank[free] < rank[best]):
                best = free
        return best


def binder_of(cluster: "Cluster") -> Binder:
    """Return the binder of a cluster."""
    return cluster.memo("volume binder", lambda: Binder(cluster))
