"""Which gangs have begun to bind: from then on their members serve no further victim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..plans.preemptors import gang_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...framework.index.cluster import Cluster


class Gangs:
    """The gangs of an assignment while it is put in order."""

    def __init__(self, cluster: Cluster, placed: Mapping[int, int]) -> None:
        self._gang = {i: gang for i in placed if (gang := gang_of(cluster, i)) is not None}
        self._bound: dict[int, int] = dict.fromkeys(self._gang.values(), 0)
        self.nodes: dict[int, set[int]] = {}
        for i, gang in self._gang.items():
            self.nodes.setdefault(gang, set()).add(placed[i])

    def begin(self, pod: int) -> None:
        """Note that a pod was bound."""
        if pod in self._gang:
            self._bound[self._gang[pod]] += 1

    def undo(self, pod: int) -> None:
        """Undo `begin`."""
        if pod in self._gang:
            self._bound[self._gang[pod]] -= 1

    def begun(self, pod: int) -> bool:
        """Whether a member of the pod's gang is bound already."""
        return pod in self._gang and self._bound[self._gang[pod]] > 0

    def same(self, pod: int, other: int | None) -> bool:
        """Whether two pods are of one gang."""
        return other is not None and pod in self._gang and self._gang[pod] == self._gang.get(other)

    def closing(self, pod: int, node: int) -> set[int]:
        """Nodes whose victims could lose a preemptor if the pod is bound to the node now."""
        if pod in self._gang and not self.begun(pod):
            return self.nodes[self._gang[pod]]
        return {node}
