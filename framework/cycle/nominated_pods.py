"""What nominated pods change for another pod's filters: it must pass with them there, and without.

Where those nominated to a node matter to no filter but NodeResourcesFit, all other filters answer the same
both times, and NodeResourcesFit rejects more with them than without: both passes are one look at the room
that is left, for all such nodes at once. On the other nodes, the *mixed* ones, each filter is asked about all
of them at once where it can be (`FilterPlugin.judge_after`); else they are asked one by one (`node_filter`).

Source: kube-scheduler 1.34.1 framework/runtime/framework.go (RunFilterPluginsWithNominatedPods).
"""

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..plugins.base import LocalFilter
from ..plugins.node_resources_fit import NodeResourcesFit, Wanted
from ..state.nominations import Expected
from ..vocabulary.arrays import Bools, Ints
from .verdicts import OUTSIDE, PASSED

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..state.nominations import Beside
    from ..state.state import State
    from .cycle_state import CycleState

_NONE: Final[Ints] = np.zeros(0, dtype=np.int64)


class Mattering(NamedTuple):
    """The pods that matter to a filter other than NodeResourcesFit.

    Attributes
    ----------
    mask : bool[P]
    pods : int64[K]
        The same by number, ascending.
    filters : frozenset of str
        The filters to which some pods matter.
    """

    mask: Bools
    pods: Ints
    filters: frozenset[str]

    @classmethod
    def of(cls, cycle: "CycleState") -> "Mattering | None":
        """Return those of a class; None where only NodeResourcesFit looks at pods."""
        masks = {
            plugin.name: mask
            for plugin, data in cycle.entries
            if not isinstance(plugin, NodeResourcesFit) and (mask := plugin.concerned(data)) is not None
        }
        if not masks:
            return None
        either = np.logical_or.reduce(list(masks.values()))
        return cls(either, np.flatnonzero(either), frozenset(masks))


class Judged(NamedTuple):
    """Verdicts on some nodes.

    Attributes
    ----------
    by : int8[K]
        The place of the filter that rejects each node, or `PASSED`.
    verdicts : uint8[K]
        That filter's verdict.
    """

    by: NDArray[np.int8]
    verdicts: NDArray[np.uint8]


class NominatedPods:
    """The pods that one pod must leave room for, in one state.

    Parameters
    ----------
    state : State
    i : int
        The pod that is filtered.
    cycle : CycleState
        Of its class in this state.
    matters : Mattering or None
        The pods that matter to a filter other than NodeResourcesFit; None for none.

    Attributes
    ----------
    alone : bool[N]
        The nodes where nominated pods matter to NodeResourcesFit alone.
    mixed : int64[K]
        The other nodes to which pods are nominated, ascending.
    """

    __slots__ = (
        "_at", "_beside", "_cycle", "_expected", "_fit", "_matters", "_place", "_pods", "alone", "mixed",
    )  # fmt: skip

    def __init__(self, state: "State", i: int, cycle: "CycleState", matters: Mattering | None) -> None:
        self._cycle = cycle
        self._matters = matters
        self._expected = state.nominations.expected(i)
        self._beside: Callable[[int], Beside] | None = None
        self.alone: Bools = self._expected.count > 0
        self._pods, nodes = state.nominations.among(i, _NONE if matters is None else matters.pods)
        self.mixed, self._at = np.unique(nodes, return_inverse=True)
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

    def reject(self, state: "State", by: NDArray[np.int8], verdicts: NDArray[np.uint8]) -> Ints:
        """Add the nominated pods to what was found without them.

        Parameters
        ----------
        state : State
        by : int8[N]
            The place of the filter that rejected each node, `PASSED` or `OUTSIDE`; changed.
        verdicts : uint8[N]
            That filter's verdict; changed.

        Returns
        -------
        int64[K]
            The mixed nodes that have to be asked one by one still.
        """
        asked = (by == PASSED) | (by >= self._place)  # an earlier filter says the same again
        nodes = np.flatnonzero(self.alone & asked & (by != OUTSIDE))
        found = self._judge(state, nodes)
        full = found != 0
        by[nodes[full]] = self._place
        verdicts[nodes[full]] = found[full]
        # Statuses are written later, when other pods may be nominated.
        self._expected = Expected(self._expected.usage.copy(), self._expected.count.copy())
        inside = by[self.mixed] != OUTSIDE
        judged = self.judge_mixed(state)
        if judged is None:
            left: Ints = self.mixed[inside]
            return left
        failed = inside & (judged.by != PASSED)
        by[self.mixed[failed]] = judged.by[failed]
        verdicts[self.mixed[failed]] = judged.verdicts[failed]
        self._beside = state.nominations.beside_now(self._cycle.pod, self.mixed[failed].tolist())
        return _NONE

    def judge_mixed(self, state: "State") -> Judged | None:
        """Judge the mixed nodes with their nominated pods; None where they must be asked one by one."""
        by = np.full(len(self.mixed), PASSED, dtype=np.int8)
        verdicts = np.zeros(len(self.mixed), dtype=np.uint8)
        if self._matters is None or not self.mixed.size:
            return Judged(by, verdicts)
        if self._cycle.in_turn:
            return None
        come = np.ones(len(self._pods), dtype=np.int64)
        for place, (plugin, data) in enumerate(self._cycle.entries):
            found: NDArray[np.uint8] | None
            if isinstance(plugin, NodeResourcesFit):
                found = self._judge(state, self.mixed)
            elif plugin.name in self._matters.filters:
                found = plugin.judge_after(data, self.mixed, self._pods, self._at, come)
            elif isinstance(plugin, LocalFilter):
                found = plugin.judge(data, state, self._cycle.pod, self.mixed)
            else:
                found = plugin.filter_all(data, state, self._cycle.pod)[self.mixed]
            if found is None:
                return None
            new = (found != 0) & (by == PASSED)
            by[new] = place
            verdicts[new] = found[new]
        return Judged(by, verdicts)

    def fill(self, place: int, fork: Any, n: int) -> None:
        """Add the nominated pods of a node that they close to a filter's fork of it.

        Parameters
        ----------
        place : int
            The filter's place among those of the cycle.
        fork
        n : int
        """
        if self.alone[n]:
            if place == self._place and self._fit is not None:
                plugin, _ = self._fit
                plugin.take(fork, self._expected.usage[:, n], int(self._expected.count[n]))
            return
        beside = None if self._beside is None else self._beside(n)
        if beside is None:
            return
        filtering, _ = self._cycle.entries[place]
        for j in beside.pods:
            filtering.add(fork, j)
        if isinstance(filtering, NodeResourcesFit):
            filtering.take_slots(fork, beside.empty)

    def _judge(self, state: "State", nodes: Ints) -> NDArray[np.uint8]:
        if self._fit is None or not nodes.size:
            return np.zeros(len(nodes), dtype=np.uint8)
        plugin, wanted = self._fit
        return plugin.judge_beside(wanted, state, nodes, self._expected)
