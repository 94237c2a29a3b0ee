"""Which pods may be a victim's preemptor (docs/model.md).

A preemptor is newly placed on the victim's node, has strictly higher priority and a `preemptionPolicy` other
than Never, and is bound after the victim left.  None of a gang binds before the gang's last victim left: a
member serves only victims that left before the first of its gang was bound.  In a tree of groups the gang is
all that is below its topmost gang.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...framework.rules.composites import gang_of
from ...framework.state.moves import Bind, Leave

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from ...framework.index.cluster import Cluster
    from ...framework.state.moves import Move


def serves(cluster: Cluster, pod: int, victim: int) -> bool:
    """Whether a pod on the victim's node may be its preemptor."""
    p, v = cluster.pods[pod], cluster.pods[victim]
    return p.preempts and p.priority > v.priority


def preemptors(
    cluster: Cluster,
    initial_node: npt.NDArray[np.int32],
    moves: Sequence[Move],
    first: frozenset[int] = frozenset(),
) -> dict[int, int | None]:
    """Name a preemptor for each pod that leaves, None where no pod bound afterwards may be one.

    Parameters
    ----------
    initial_node : int32[P]
        Node of each pod in the input.
    first : frozenset of int
        Pods to prefer (the nominated ones); otherwise the first one bound is taken.
    """
    opened: dict[int, int] = {}  # gang -> the step at which its first member is bound
    bound_on: dict[int, list[tuple[int, int]]] = {}  # node -> the pods bound there, each after its step
    for k, move in enumerate(moves):
        if isinstance(move, Bind):
            gang = gang_of(cluster, move.pod)
            # from this step on the pod, or its gang, serves no further victim
            begun = k if gang is None else opened.setdefault(gang, k)
            bound_on.setdefault(move.node, []).append((begun, move.pod))
    found: dict[int, int | None] = {}
    for k, move in enumerate(moves):
        if isinstance(move, Leave):
            candidates = [
                pod
                for begun, pod in bound_on.get(int(initial_node[move.pod]), ())
                if begun > k and serves(cluster, pod, move.pod)
            ]
            nominated = (pod for pod in candidates if pod in first)
            found[move.pod] = next(nominated, candidates[0] if candidates else None)
    return found
