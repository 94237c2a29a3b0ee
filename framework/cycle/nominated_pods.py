"""What nominated pods change for another pod's filters: it must pass with them there, and without.

Where those nominated to a node matter to no filter but NodeResourcesFit, all other filters answer the same
both times, and NodeResourcesFit rejects more with them than without: both passes are one look at the room
that is left, for all such nodes at once. The other nodes are asked one by one (`node_filter`).

Source: kube-scheduler 1.34.1 framework/runtime/framework.go (RunFilterPluginsWithNominatedPods).
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..plugins.node_resources_fit import NodeResourcesFit, Wanted
from ..state.nominations import Expected
from ..vocabulary.arrays import Bools, Ints
from .verdicts import OUTSIDE, PASSED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..state.state import State
    from .cycle_state import CycleState


class NominatedPods:
    """The pods that one pod must leave room for, in one state.

    Parameters
    ----------
    state : State
    i : int
        The pod that is filtered.
    cycle : CycleState
        Of its class in this state.
    matters : bool[P] or None
        The pods that matter to a filter other than NodeResourcesFit; None for none.

    Attributes
    ----------
    alone : bool[N]
        The nodes where nominated pods matter to NodeResourcesFit alone.
    mixed : list of int
        The other nodes to which pods are nominated, ascending.
    """

    __slots__ = ("_expected", "_fit", "_place", "alone", "mixed")

    def __init__(self, state: "State", i: int, cycle: "CycleState", matters: Bools | None) -> None:
        self._expected = state.nominations.expected(i)
        self.alone: Bools = self._expected.count > 0
        self.mixed = [] if matters is None else state.nominations.among(i, matters)
        self.alone[self.mixed] = False
        self._place = len(cycle.entries)
        self._fit: tuple[NodeResourcesFit, Wanted] | None = None
        for place, (plugin, data) in enumerate(cycle.entries):
            if isinstance(plugin, NodeResourcesFit):
                self._place, self._fit = place, (plugin, data)

    def full(self, state: "State", passed: Bools) -> Ints:
        """Return those of the nodes in `alone` that pass without nominated pods only, of some (bool[N])."""
        nodes: Ints = np.flatnonzero(self.alone & passed)
        full: Ints = nodes[self._judge(state, nodes) != 0]
        return full

    def reject(self, state: "State", by: "NDArray[np.int8]", verdicts: "NDArray[np.uint8]") -> None:
        """Add the nominated pods of the nodes in `alone` to what was found without them.

        Parameters
        ----------
        state : State
        by : int8[N]
            The place of the filter that rejected each node, `PASSED` or `OUTSIDE`; changed.
        verdicts : uint8[N]
            That filter's verdict; changed.
        """
        asked = (by == PASSED) | (by >= self._place)  # an earlier filter says the same again
        nodes = np.flatnonzero(self.alone & asked & (by != OUTSIDE))
        found = self._judge(state, nodes)
        full = found != 0
        by[nodes[full]] = self._place
        verdicts[nodes[full]] = found[full]
        # Statuses are written later, when other pods may be nominated.
        self._expected = Expected(self._expected.usage.copy(), self._expected.count.copy())

    def fill(self, place: int, fork: Any, n: int) -> None:
        """Add the nominated pods of a node in `alone` to a filter's fork of it.

        Parameters
        ----------
        place : int
            The filter's place among those of the cycle.
        fork
        n : int
        """
        if place == self._place and self._fit is not None and self.alone[n]:
            plugin, _ = self._fit
            plugin.take(fork, self._expected.usage[:, n], int(self._expected.count[n]))

    def _judge(self, state: "State", nodes: Ints) -> "NDArray[np.uint8]":
        if self._fit is None or not nodes.size:
            return np.zeros(len(nodes), dtype=np.uint8)
        plugin, wanted = self._fit
        return plugin.judge_beside(wanted, state, nodes, self._expected)
