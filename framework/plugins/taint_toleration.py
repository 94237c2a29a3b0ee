"""TaintToleration: keeps pods off nodes with taints that they do not tolerate.

Source: kube-scheduler plugins/tainttoleration.
"""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..index.missing import Missing
from ..index.taints import count_soft_untolerated, first_untolerated
from ..rules.tolerations import tolerated_mask
from ..vocabulary import names
from ..vocabulary.arrays import Ints
from .base import ScorePlugin, StaticFilter, Verdicts, default_normalize

if TYPE_CHECKING:
    from ...models.config import PluginArgs
    from ...models.pod import Toleration
    from ..index.cluster import Cluster
    from ..state.state import State


class TaintToleration(StaticFilter, ScorePlugin):
    """Rejects untolerated NoSchedule and NoExecute taints; prefers few untolerated PreferNoSchedule ones."""

    name: ClassVar[str] = names.TAINT_TOLERATION

    def __init__(self, cluster: "Cluster", args: "PluginArgs") -> None:
        super().__init__(cluster, args)
        self._by_tolerations: dict[tuple[Toleration, ...], Verdicts] = {}

    def verdicts(self, i: int) -> Verdicts:
        """Judge every node."""
        tolerations = self.cluster.pods[i].pod.spec.tolerations
        found = self._by_tolerations.get(tolerations)
        if found is None:
            tolerated = tolerated_mask(self.cluster, tolerations)
            found = self._by_tolerations[tolerations] = (~tolerated).astype(np.uint8)
        return found

    def follow_taints(self, nodes: Ints) -> None:
        """Judge some nodes anew."""
        cluster = self.cluster
        for tolerations, verdicts in self._by_tolerations.items():
            for n in nodes.tolist():
                taint = first_untolerated(cluster.nodes[n].spec.taints, tolerations, cluster.gates)
                verdicts[n] = taint is not None

    def explain(self, i: int, n: int, verdict: int) -> tuple[str, ...]:
        """Name the first taint that the pod does not tolerate."""
        taint = first_untolerated(
            self.cluster.nodes[n].spec.taints, self.cluster.pods[i].pod.spec.tolerations, self.cluster.gates
        )
        if taint is None:
            return ()
        return (self.cluster.release.untolerated_taint.format(key=taint.key, value=taint.value),)

    def lacking(self, i: int, n: int, verdict: int) -> tuple[Missing, ...]:
        """List every taint that the pod does not tolerate."""
        tolerations, gates = self.cluster.pods[i].pod.spec.tolerations, self.cluster.gates
        bare = [t for t in self.cluster.nodes[n].spec.taints if first_untolerated((t,), tolerations, gates)]
        return tuple(
            Missing(f"toleration of {taint.key}", f"no toleration of {spelt}", facts={"taint": spelt})
            for taint in bare
            for spelt in (f"{taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}",)
        )

    def score(self, data: Any, state: "State", i: int, nodes: Ints) -> Ints:
        """Count untolerated PreferNoSchedule taints."""
        cluster = self.cluster
        tolerations = cluster.pods[i].pod.spec.tolerations

        def count() -> Ints:
            lists = cluster.taints.lists
            counts = [count_soft_untolerated(taints, tolerations, cluster.gates) for taints in lists]
            return np.array(counts, dtype=np.int64)[cluster.taints.of_node]

        return cluster.memo(("soft taints", tolerations), count)[nodes]

    def normalize(self, data: Any, scores: Ints) -> Ints:
        """Turn fewer into better."""
        return default_normalize(scores, reverse=True)
