"""ImageLocality: prefers nodes that already have the pod's images.

Source: kube-scheduler 1.34.1 plugins/imagelocality.
"""

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from ...models.images import normalized
from ..vocabulary import names
from ..vocabulary.arrays import Ints
from .base import MAX_NODE_SCORE, Scope, ScorePlugin

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State

_MIB: Final = 1024 * 1024
_LEAST: Final = 23 * _MIB
_MOST_PER_CONTAINER: Final = 1000 * _MIB


class ImageLocality(ScorePlugin):
    """Scores the size of the images that are there, each scaled by the share of nodes that have it."""

    name: ClassVar[str] = names.IMAGE_LOCALITY
    scope: ClassVar[Scope] = Scope.NODE

    def score(self, data: Any, state: "State", i: int, nodes: Ints) -> Ints:
        """Score between 23 MiB and 1000 MiB for each container."""
        spec = self.cluster.pods[i].pod.spec
        images = tuple(normalized(c.image or "") for c in (*spec.init_containers, *spec.containers))

        def judge() -> Ints:
            scaled = scaled_sizes(self.cluster)
            total: Ints = np.zeros(self.cluster.n_nodes, dtype=np.int64)
            for image in images:
                if image in scaled:
                    total += scaled[image]
            most = _MOST_PER_CONTAINER * len(images)
            clamped = np.clip(total, _LEAST, max(most, _LEAST))
            return MAX_NODE_SCORE * (clamped - _LEAST) // max(most - _LEAST, 1)

        return self.cluster.memo(("image score", images), judge)[nodes]


def scaled_sizes(cluster: "Cluster") -> dict[str, Ints]:
    """Return each image's bytes by node, 0 where it is not, scaled by the share of nodes that have it.

    The size of a name is the one on the first node that has it.
    """

    def scale() -> dict[str, Ints]:
        sizes: dict[str, int] = {}
        where: dict[str, list[int]] = {}
        for n, node in enumerate(cluster.nodes):
            for name in {name for image in node.status.images for name in image.names}:
                where.setdefault(name, []).append(n)
            for image in node.status.images:
                for name in image.names:
                    sizes.setdefault(name, image.size_bytes)
        scaled: dict[str, Ints] = {}
        for name, there in where.items():
            row = scaled[name] = np.zeros(cluster.n_nodes, dtype=np.int64)
            row[there] = int(float(sizes[name]) * (len(there) / cluster.n_nodes))
        return scaled

    return cluster.memo("scaled image sizes", scale)
