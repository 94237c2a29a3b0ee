"""One node under study: filters asked again and again while pods come to it and go from it.

Preemption's dry runs and the pass with nominated pods work on this copy; the state itself stays as it is.
What changes is what upstream changes: the node, and through AddPod and RemovePod the plugins' own counts.
Those hooks look neither at whether a pod terminates nor at whether a spread selector asks for nothing; that
is upstream's.
"""

from typing import TYPE_CHECKING, Any

from ..plugins.base import FilterPlugin, StaticFilter
from ..plugins.node_resources_fit import NodeResourcesFit
from ..state.nominations import Beside
from ..vocabulary.status import SUCCESS, Status
from .cycle_state import CycleState

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State


class NodeFilter:
    """The filters of one pod on one node."""

    __slots__ = ("_forks", "_moving")

    def __init__(self, cluster: "Cluster", state: "State", cycle: CycleState, n: int) -> None:
        self._forks: list[tuple[FilterPlugin, Any]] = [
            (plugin, plugin.fork(data, state, cycle.pod, n))
            for plugin, data in cycle.entries
            if not (isinstance(plugin, StaticFilter) and not data[n])
        ]
        self._moving = [(p, fork) for p, fork in self._forks if not isinstance(p, StaticFilter)]

    def add(self, j: int) -> None:
        """Add pod j to the node."""
        for plugin, fork in self._moving:
            plugin.add(fork, j)

    def remove(self, j: int) -> None:
        """Remove pod j from the node."""
        for plugin, fork in self._moving:
            plugin.remove(fork, j)

    def check(self) -> Status:
        """Filter the node as it is now."""
        for plugin, fork in self._forks:
            verdict = plugin.check(fork)
            if verdict:
                return plugin.status(fork, verdict)
        return SUCCESS

    def run(self, nominated: Beside) -> Status:
        """Filter the node with the nominated pods on it, then without them; the first failure counts.

        The second pass is there because a required affinity must not rest on a pod that may never arrive.
        """
        if nominated.pods or nominated.empty:
            for j in nominated.pods:
                self.add(j)
            self._take_slots(nominated.empty)
            status = self.check()
            self._take_slots(-nominated.empty)
            for j in nominated.pods:
                self.remove(j)
            if not status.ok:
                return status
        return self.check()

    def passes(self, nominated: Beside) -> bool:
        """Whether `run` succeeds."""
        return self.run(nominated).ok

    def _take_slots(self, count: int) -> None:
        """Let so many empty pods come to the node, or leave it."""
        for plugin, fork in self._moving if count else ():
            if isinstance(plugin, NodeResourcesFit):
                plugin.take_slots(fork, count)
