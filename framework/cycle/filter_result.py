"""The outcome of filtering one pod: a verdict for each node, and reasons only on demand."""

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ..vocabulary import names
from ..vocabulary.arrays import Ints
from ..vocabulary.status import SUCCESS, Code, Status
from .cycle_state import CycleState
from .verdicts import OUTSIDE, PASSED

if TYPE_CHECKING:
    from ..state.state import State
    from .nominated_pods import NominatedPods

_OVERRIDDEN: Final = -3

REASON_OUTSIDE: Final = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
STATUS_OUTSIDE: Final = Status(Code.UNRESOLVABLE, names.NODE_AFFINITY, (REASON_OUTSIDE,))


class FilterResult:
    """A pod's verdict for every node. Reasons are read from the state: ask before it changes.

    Attributes
    ----------
    cycle : CycleState
    codes : int8[N]
        `Code` by node.
    state : State
        The one that was filtered.
    pre_filter : Status or None
        PreFilter's refusal, which then is every node's status.
    """

    __slots__ = ("_by", "_nominated_pods", "_overrides", "_verdicts", "codes", "cycle", "state")

    def __init__(
        self,
        cycle: CycleState,
        state: "State",
        by: NDArray[np.int8],
        verdicts: NDArray[np.uint8],
        nominated_pods: "NominatedPods | None" = None,
    ) -> None:
        self.cycle = cycle
        self.state = state
        self._by = by
        self._verdicts = verdicts
        self._nominated_pods = nominated_pods
        self._overrides: dict[int, Status] = {}
        self.codes: NDArray[np.int8] = np.zeros(len(by), dtype=np.int8)
        if cycle.rejected is not None:
            self.codes[:] = cycle.rejected.code
        else:
            self.codes[by == OUTSIDE] = Code.UNRESOLVABLE
            for k, (plugin, _) in enumerate(cycle.entries):
                table = np.array(plugin.codes, dtype=np.int8)
                np.copyto(self.codes, table[np.where(by == k, verdicts, 0)], where=by == k)

    @property
    def pre_filter(self) -> Status | None:
        """PreFilter's refusal, or None."""
        return self.cycle.rejected

    @property
    def feasible(self) -> Ints:
        """The nodes that passed, in input order."""
        return np.flatnonzero(self.codes == Code.SUCCESS).astype(np.int64)

    def rejected(self, within: NDArray[np.bool_] | None = None) -> list[int]:
        """Return the nodes that did not pass, in input order, of those in `within`; None for all."""
        wrong = self.codes != Code.SUCCESS
        return np.flatnonzero(wrong if within is None else wrong & within).tolist()

    def override(self, n: int, status: Status) -> None:
        """Replace a node's verdict (the pass with nominated pods)."""
        self._overrides[n] = status
        self._by[n] = _OVERRIDDEN
        self.codes[n] = status.code

    @property
    def plugins(self) -> frozenset[str]:
        """The names of the plugins that rejected at least one node."""
        return self.plugins_in(None)

    def plugins_in(self, within: NDArray[np.bool_] | None) -> frozenset[str]:
        """Return the names of the plugins that rejected a node in `within`; None for all nodes."""
        if self.cycle.rejected is not None:
            return frozenset((self.cycle.rejected.plugin,))
        found = {s.plugin for n, s in self._overrides.items() if within is None or within[n]}
        for k in np.unique(self._by if within is None else self._by[within]).tolist():
            if k == OUTSIDE:
                found.add(STATUS_OUTSIDE.plugin)
            elif k >= 0:
                found.add(self.cycle.entries[k][0].name)
        return frozenset(found)

    def rejected_by(self, name: str) -> list[int]:
        """Return the nodes that a plugin rejected, in input order."""
        if self.cycle.rejected is not None:
            return list(range(len(self._by))) if self.cycle.rejected.plugin == name else []
        places = [k for k, (plugin, _) in enumerate(self.cycle.entries) if plugin.name == name]
        nodes = np.flatnonzero(np.isin(self._by, places)).tolist()
        return sorted([*nodes, *(n for n, status in self._overrides.items() if status.plugin == name)])

    def error(self, within: NDArray[np.bool_] | None = None) -> str:
        """Return the text of an attempt that ends in an error, the first node's; empty where none does.

        Parameters
        ----------
        within : bool[N], optional
            The nodes that count.
        """
        refusal = self.cycle.rejected
        if refusal is not None:
            failed = refusal.code is Code.ERROR
            return f'running PreFilter plugin "{refusal.plugin}": {refusal.message}' if failed else ""
        wrong = self.codes == Code.ERROR
        if within is not None:
            wrong &= within
        if not wrong.any():
            return ""
        status = self.status(int(np.argmax(wrong)))
        return f'running "{status.plugin}" filter plugin: {status.message}'

    def status(self, n: int) -> Status:
        """Return node n's status, with its reasons."""
        if self.cycle.rejected is not None:
            return self.cycle.rejected
        if n in self._overrides:
            return self._overrides[n]
        k = int(self._by[n])
        if k == PASSED:
            return SUCCESS
        if k == OUTSIDE:
            return STATUS_OUTSIDE
        plugin, data = self.cycle.entries[k]
        fork = plugin.fork(data, self.state, self.cycle.pod, n)
        if self._nominated_pods is not None:
            self._nominated_pods.fill(k, fork, n)
        return plugin.status(fork, int(self._verdicts[n]))
