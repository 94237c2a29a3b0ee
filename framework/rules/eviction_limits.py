"""Limits on evictions as both schedulers and the replay read them (`models.eviction_limits`).

Source: docs/model.md, "Limits on evictions".
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ..index.cluster import Cluster
    from ..vocabulary.arrays import Bools


def spared(cluster: Cluster) -> Bools | None:
    """Return which pods no plan evicts, bool[P]; None where no limit spares any.

    A pod that terminates in the input leaves in any case, so it is not among them.
    """
    limits = cluster.snapshot.limits
    if not limits.never and limits.evictions != 0 and not cluster.kept:
        return None
    return cluster.memo("spared pods", partial(_spared, cluster))


def _spared(cluster: Cluster) -> Bools:
    limits = cluster.snapshot.limits
    return np.array(
        [
            not i.terminating and (i.index in cluster.kept or limits.spares(i.namespace, i.labels))
            for i in cluster.pods
        ],
        dtype=np.bool_,
    )


def broken_limits(cluster: Cluster, evicted: Collection[int], violations: int) -> Iterator[str]:
    """Yield which limits a plan breaks.

    Parameters
    ----------
    evicted : collection of int
        Who is evicted; pods that terminate in the input count in no limit.
    violations : int
        How many of them break a budget.
    """
    limits, pods, kept = cluster.snapshot.limits, cluster.pods, spared(cluster)
    gone = [v for v in evicted if not pods[v].terminating]
    if kept is not None:
        yield from (f"{pods[v].key} is evicted, which is never to be" for v in sorted(gone) if kept[v])
    if limits.evictions is not None and len(gone) > limits.evictions:
        yield f"{len(gone)} pods are evicted, and at most {limits.evictions} may be"
    if limits.violations is not None and violations > limits.violations:
        yield f"{violations} victims violate their budgets, and at most {limits.violations} may"
