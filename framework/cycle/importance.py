"""Importance of the pods of a node: higher priority, then earlier start, then earlier arrival."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import numpy as np

from ..state.dirty_nodes import NEVER
from ..vocabulary.arrays import Ints

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NOTHING: Final[Ints] = np.zeros(0, dtype=np.int64)


def microseconds(moment: datetime) -> int:
    """Return a time as whole microseconds since 1970."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


class Importance:
    """The pods of each node, the most important first, brought up to date where a node has changed.

    Attributes
    ----------
    priorities, starts : int64[P]
        Each pod's priority and start, the latter in microseconds.
    ranks : int64[P]
        Smaller is more important; equal where only the order of arrival decides.
    """

    __slots__ = ("_moment", "_on", "priorities", "ranks", "starts")

    def __init__(self, cluster: "Cluster") -> None:
        self.priorities: Ints = np.array([info.priority for info in cluster.pods], dtype=np.int64)
        self.starts: Ints = np.array([microseconds(info.start) for info in cluster.pods], dtype=np.int64)
        order = np.lexsort((self.starts, -self.priorities))
        new = np.ones(len(order), dtype=np.int64)
        new[1:] = (np.diff(self.priorities[order]) != 0) | (np.diff(self.starts[order]) != 0)
        self.ranks: Ints = np.zeros(len(order), dtype=np.int64)
        self.ranks[order] = np.cumsum(new)
        self._on: list[Ints | None] = [None] * cluster.n_nodes
        self._moment = NEVER

    def on(self, state: "State", nodes: Ints) -> list[Ints]:
        """Return the pods of each of some nodes; equal ones in order of arrival."""
        dirty = state.dirty_nodes.since(self._moment)
        self._moment = state.dirty_nodes.moment
        if dirty is None:
            self._on = [None] * len(self._on)
        else:
            for n in dirty:
                self._on[n] = None
        return [self._of(state, n) for n in nodes.tolist()]

    def _of(self, state: "State", n: int) -> Ints:
        found = self._on[n]
        if found is None:
            there = state.pods_on(n)
            if there:
                pods = np.array(there, dtype=np.int64)
                found = pods[np.argsort(self.ranks[pods], kind="stable")]
            else:
                found = _NOTHING
            self._on[n] = found
        return found


def importance_of(cluster: "Cluster") -> Importance:
    """Return the importance of a cluster's pods."""
    return cluster.memo("importance", lambda: Importance(cluster))
