"""NodeUnschedulable: keeps pods off cordoned nodes, unless they tolerate the taint that stands for it.

Source: kube-scheduler 1.34.1 plugins/nodeunschedulable.
"""

from functools import cached_property
from typing import ClassVar, Final

import numpy as np

from ...models.node import Taint
from ..index.missing import Missing
from ..index.taints import tolerates
from ..vocabulary import names
from ..vocabulary.arrays import Ints
from .base import StaticFilter, Verdicts

REASON: Final = "node(s) were unschedulable"


class NodeUnschedulable(StaticFilter):
    """Rejects a node with `spec.unschedulable`."""

    name: ClassVar[str] = names.NODE_UNSCHEDULABLE

    def verdicts(self, i: int) -> Verdicts:
        """Judge every node."""
        taint = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
        nodes = self.cluster.nodes
        tolerations, gates = self.cluster.pods[i].pod.spec.tolerations, self.cluster.gates
        if any(tolerates(toleration, taint, gates) for toleration in tolerations):
            return np.zeros(len(nodes), dtype=np.uint8)
        return self._closed

    @cached_property
    def _closed(self) -> Verdicts:
        """The verdicts for all pods that do not tolerate it."""
        return self.cluster.cordoned.astype(np.uint8)

    def follow_taints(self, nodes: Ints) -> None:
        """Judge some nodes anew."""
        self._closed[nodes] = self.cluster.cordoned[nodes]

    def explain(self, i: int, n: int, verdict: int) -> tuple[str, ...]:
        """Say that the node is cordoned."""
        return (REASON,)

    def lacking(self, i: int, n: int, verdict: int) -> tuple[Missing, ...]:
        """Say which field it is."""
        return (Missing("spec.unschedulable", "the node is cordoned"),)
