"""Who may be a victim's preemptor (design, "Admissible" and "A placement is a nomination").

A preemptor is newly placed on the victim's node, has strictly higher priority and a `preemptionPolicy` other
than Never, and is bound after the victim left.  None of a gang binds before the gang's last victim left: a
member serves only victims that left before the first of its gang was bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...framework.rules.groups import group_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from ...framework.index.cluster import Cluster
    from .outcome import Move

from .outcome import BIND, LEAVE


def serves(cluster: Cluster, pod: int, victim: int) -> bool:
    """Whether a pod on the victim's node may be its preemptor."""
    p, v = cluster.pods[pod], cluster.pods[victim]
    return p.preempts and p.priority > v.priority


def gang_of(cluster: Cluster, pod: int) -> int | None:
    """Number of the gang that a pod belongs to, None outside gangs."""
    group = group_of(cluster, pod)
    return group.index if group is not None and group.min_count is not None else None


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
    begun = [gang_of(cluster, pod) if kind == BIND else None for kind, pod, _ in moves]
    opening: dict[int, int] = {}
    bound_on: dict[int, list[int]] = {}
    for k, (kind, _, node) in enumerate(moves):
        gang = begun[k]
        if gang is not None:
            opening.setdefault(gang, k)
        if kind == BIND:
            bound_on.setdefault(node, []).append(k)
    found: dict[int, int | None] = {}
    for k, (kind, victim, _) in enumerate(moves):
        if kind != LEAVE:
            continue
        candidates = [
            moves[b][1]
            for b in bound_on.get(int(initial_node[victim]), ())
            if b > k and serves(cluster, moves[b][1], victim) and _still_closed(begun[b], opening, k)
        ]
        found[victim] = next((p for p in candidates if p in first), candidates[0] if candidates else None)
    return found


def _still_closed(gang: int | None, opening: dict[int, int], step: int) -> bool:
    return gang is None or opening[gang] > step
