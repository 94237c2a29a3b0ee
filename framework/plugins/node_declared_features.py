"""NodeDeclaredFeatures: keeps pods off nodes that do not declare a feature which they need (KEP-5328).

Source: kube-scheduler 1.36.2 plugins/nodedeclaredfeatures.
"""

from typing import ClassVar, Final

import numpy as np

from ..index.declared_features import required_features
from ..index.missing import Missing
from ..vocabulary import names
from .base import StaticFilter, Verdicts

REASON: Final = "node(s) didn't match Pod's required features"


class NodeDeclaredFeatures(StaticFilter):
    """Rejects a node whose `status.declaredFeatures` lack what the pod needs; skips a pod without needs."""

    name: ClassVar[str] = names.NODE_DECLARED_FEATURES

    def verdicts(self, i: int) -> Verdicts | None:
        """Judge every node."""
        needed = required_features(self.cluster.pods[i].pod.spec)
        if not needed:
            return None
        lacks = [not needed.issubset(node.status.declared_features) for node in self.cluster.nodes]
        return np.array(lacks, dtype=np.uint8)

    def explain(self, i: int, n: int, verdict: int) -> tuple[str, ...]:
        """Return the reason."""
        return (REASON,)

    def lacking(self, i: int, n: int, verdict: int) -> tuple[Missing, ...]:
        """Return the features that are missing."""
        declared = self.cluster.nodes[n].status.declared_features
        lacking = sorted(required_features(self.cluster.pods[i].pod.spec).difference(declared))
        return tuple(
            Missing(f"feature {name}", f"the node does not declare {name}", facts={"feature": name})
            for name in lacking
        )
