"""Nodes whose taints a pod tolerates, evaluated once for each distinct list of taints.

Source: kube-scheduler 1.34.1 plugins/tainttoleration.
"""

import numpy as np

from ...models.pod import Toleration
from ..index.cluster import Cluster
from ..index.taints import first_untolerated
from ..vocabulary.arrays import Bools


def tolerated_mask(cluster: Cluster, tolerations: tuple[Toleration, ...]) -> Bools:
    """Which nodes have no untolerated NoSchedule or NoExecute taint; bool[N], shared."""

    def judge() -> Bools:
        classes = cluster.taints
        found = [first_untolerated(t, tolerations, cluster.gates) for t in classes.lists]
        clean = np.array([taint is None for taint in found], dtype=np.bool_)
        return clean[classes.of_node]

    return cluster.memo(("tolerated", tolerations), judge)
