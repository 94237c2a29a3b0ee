"""Eviction units: which running pods leave together, and where a newcomer may be whose preemptor.

A running pod is a unit by itself.  The members of a group with disruptionMode `all` (`PodGroup` in v1alpha2)
are one unit: those on nodes of the cluster that do not terminate in the input.  So are all members below a
CompositePodGroup with that mode; of several above each other the topmost counts, whatever the mode of those
below it.  Their nodes may differ, so a pod that comes to the node of one of them may be the preemptor of them
all.

Sources: docs/groups.md; KEP-5710, "Workload-aware preemption": members elsewhere leave with those on the
preemptor's node; KEP-6012, "Integration with workload-aware preemption".
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from .composites import above
from .groups import groups

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from .groups import Group


def evicted_with(cluster: Cluster, group: Group) -> Group | None:
    """Return what a PodGroup's members are evicted with: it, a group above it, None for each alone."""
    whole = [item for item in (group, *above(cluster, group)) if item.evicted_whole]
    return whole[-1] if whole else None


def units(cluster: Cluster) -> tuple[Group, ...]:
    """Return the groups, and groups of groups, of which running pods leave all together or not at all."""
    return cluster.memo("eviction units", partial(_units, cluster))


def unit_group(cluster: Cluster, i: int) -> Group | None:
    """Return the group that a running pod is evicted with, None where it is evicted by itself."""
    return cluster.memo("unit of pod", partial(_by_pod, cluster)).get(i)


def preemptor_nodes(cluster: Cluster, i: int) -> tuple[int, ...]:
    """Return the nodes where a newcomer may be a running pod's preemptor, in the order of their numbers."""
    group = unit_group(cluster, i)
    if group is None:
        return (cluster.pods[i].initial_node,)
    return cluster.memo(("nodes of unit", group.index), partial(_nodes_of, cluster, group))


def _nodes_of(cluster: Cluster, group: Group) -> tuple[int, ...]:
    return tuple(sorted({cluster.pods[i].initial_node for i in group.unit}))


def _units(cluster: Cluster) -> tuple[Group, ...]:
    found = {unit.index: unit for group in groups(cluster) if (unit := evicted_with(cluster, group))}
    return tuple(unit for unit in found.values() if unit.unit)


def _by_pod(cluster: Cluster) -> dict[int, Group]:
    return {i: unit for unit in units(cluster) for i in unit.unit}
