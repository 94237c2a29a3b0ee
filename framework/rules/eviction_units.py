"""Eviction units: which running pods leave together, and where a newcomer may be whose preemptor.

A running pod is a unit by itself.  The members of a group with disruptionMode `all` (`PodGroup` in v1alpha2)
are one unit: those on nodes of the cluster that do not terminate in the input.  Their nodes may differ, so a
pod that comes to the node of one of them may be the preemptor of them all.

Sources: docs/groups.md; KEP-5710, "Workload-aware preemption": members elsewhere leave with those on the
preemptor's node.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from .groups import groups

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from .groups import Group


def unit_group(cluster: Cluster, i: int) -> Group | None:
    """Return the group that a running pod is evicted with, None where it is evicted by itself."""
    number = cluster.memo("unit of pod", partial(_by_pod, cluster)).get(i)
    return None if number is None else groups(cluster)[number]


def preemptor_nodes(cluster: Cluster, i: int) -> tuple[int, ...]:
    """Return the nodes where a newcomer may be a running pod's preemptor, in the order of their numbers."""
    group = unit_group(cluster, i)
    if group is None:
        return (cluster.pods[i].initial_node,)
    return cluster.memo(("nodes of unit", group.index), partial(_nodes_of, cluster, group))


def _nodes_of(cluster: Cluster, group: Group) -> tuple[int, ...]:
    return tuple(sorted({cluster.pods[i].initial_node for i in group.unit}))


def _by_pod(cluster: Cluster) -> dict[int, int]:
    return {i: group.index for group in groups(cluster) for i in group.unit}
