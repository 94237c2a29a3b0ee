"""NodeName: a pod that names its node fits on no other.

Source: kube-scheduler 1.34.1 plugins/nodename.
"""

from typing import ClassVar, Final

import numpy as np

from ..vocabulary import names
from .base import StaticFilter, Verdicts

REASON: Final = "node(s) didn't match the requested node name"


class NodeName(StaticFilter):
    """Rejects every node but the one in `spec.nodeName`, where that is set."""

    name: ClassVar[str] = names.NODE_NAME

    def verdicts(self, i: int) -> Verdicts:
        """Judge every node."""
        wanted = self.cluster.pods[i].pod.spec.node_name
        verdicts: Verdicts = np.full(self.cluster.n_nodes, 1 if wanted else 0, dtype=np.uint8)
        if wanted in self.cluster.node_index:
            verdicts[self.cluster.node_index[wanted]] = 0
        return verdicts

    def explain(self, i: int, n: int, verdict: int) -> tuple[str, ...]:
        """Say that another node is wanted."""
        return (REASON,)
