"""How much the pods of each node, or of each domain, count for a matcher.

Every change of where pods are updates the few counters that the pod's count class matters to, so that asking
costs nothing that grows with pods.
"""

from typing import TYPE_CHECKING

import numpy as np

from ..index.matchers import Matcher
from ..vocabulary.arrays import Bools, Ints
from ..vocabulary.domains import Bins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_Key = tuple[int, bool, Bins | None]


class Counters:
    """The counters of one state, each made when it is first asked for.

    Parameters
    ----------
    unit_of : int64[P]
        The count class of each pod.
    n_nodes : int
    """

    __slots__ = ("_concerned", "_kept", "_n_nodes", "_unit_of")

    def __init__(self, unit_of: Ints, n_nodes: int) -> None:
        self._unit_of = unit_of
        self._n_nodes = n_nodes
        self._kept: dict[_Key, tuple[Matcher, Ints]] = {}
        self._concerned: dict[tuple[int, bool], tuple[tuple[Ints, Sequence[int] | None, int], ...]] = {}

    def get(
        self,
        matcher: Matcher,
        bins: Bins | None,
        node_of: "NDArray[np.int32]",
        terminating: Bools | None,
    ) -> Ints:
        """Return a counter.

        Parameters
        ----------
        matcher : Matcher
        bins : Bins or None
            What to count by; None counts by node.
        node_of : int32[P]
            Where pods are now, -1 for nowhere.
        terminating : bool[P] or None
            Which pods are left out; None counts them all.

        Returns
        -------
        int64[N], or int64[bins.size + 1] with what is left out at the end
            Live: it follows later changes, and is not to be written to.
        """
        key = (matcher.number, terminating is not None, bins)
        found = self._kept.get(key)
        if found is None:
            here = node_of >= 0 if terminating is None else (node_of >= 0) & ~terminating
            pods = np.flatnonzero(here)
            weights = matcher.weights[self._unit_of[pods]]
            counts = np.bincount(node_of[pods], weights=weights, minlength=self._n_nodes)
            if bins is not None:
                counts = np.bincount(bins.of, weights=counts, minlength=bins.size + 1)
            found = self._kept[key] = (matcher, counts.astype(np.int64))
            self._concerned.clear()
        return found[1]

    def change(self, unit: int, n: int, by: int, *, alive: bool) -> None:
        """Count one pod of a count class more (or less) on node n.

        Parameters
        ----------
        unit, n : int
        by : int
            1 or -1.
        alive : bool
            Which counters: those that leave terminating pods out, or those that count them all.
        """
        concerned = self._concerned.get((unit, alive))
        if concerned is None:
            concerned = self._concerned[unit, alive] = tuple(
                (counts, None if bins is None else bins.of, int(matcher.weights[unit]))
                for (_, only_alive, bins), (matcher, counts) in self._kept.items()
                if only_alive == alive and matcher.weights[unit]
            )
        for counts, place, weight in concerned:
            counts[n if place is None else place[n]] += by * weight

    def follow(self, unit_of: Ints) -> None:
        """Know of more pods, which are nowhere yet."""
        self._unit_of = unit_of

    def copy(self) -> "Counters":
        """Return independent counters."""
        other = type(self)(self._unit_of, self._n_nodes)
        other._kept = {key: (matcher, counts.copy()) for key, (matcher, counts) in self._kept.items()}  # noqa: SLF001
        return other
