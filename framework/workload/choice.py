"""Which text of the workload cycle a profile follows, with the plugins that it runs there."""

from functools import partial
from typing import TYPE_CHECKING, cast

from ...models.config import GangSchedulingArgs, KubeSchedulerConfiguration, NodeResourcesFitArgs
from ..vocabulary import names, workload_cycles
from .bin_packing import PlacementBinPacking
from .dra_test import DRATestPlugin
from .interfaces import PlacementGenerator, PlacementScorer, PlacementState
from .pod_count import PlacementPodCountScorer
from .proposal import Proposal
from .scores import NodeResourcesFitOfPlacement, PodGroupPodsCount
from .topology_placement import TopologyPlacement
from .v1_36.variant import V1_36
from .v1_37 import V1_37
from .variants import WorkloadCycleVariant

if TYPE_CHECKING:
    from ..index.cluster import Cluster


def variant_for(cluster: "Cluster", i: int) -> WorkloadCycleVariant:
    """Return the text of the workload cycle that pod i's profile follows."""
    scheduler = cluster.pods[i].scheduler
    return cluster.memo(("workload cycle", scheduler), partial(_make, cluster, scheduler))


def variant_of_trees(cluster: "Cluster", i: int) -> V1_37:
    """Return the text by which a tree of groups with pod i is scheduled: only that of 1.37 knows trees."""
    scheduler = cluster.pods[i].scheduler
    return cluster.memo(("workload cycle of trees", scheduler), partial(_v1_37, cluster, scheduler))


def _make(cluster: "Cluster", scheduler: str) -> WorkloadCycleVariant:
    chosen = cluster.profiles[scheduler].workload_cycle
    if chosen is workload_cycles.PROPOSAL:
        return _proposal(cluster, scheduler)
    if chosen is workload_cycles.V1_36:
        return V1_36(cluster, _scorers(cluster, scheduler))
    return _v1_37(cluster, scheduler)


def _v1_37(cluster: "Cluster", scheduler: str) -> V1_37:
    return V1_37(cluster, _scorers(cluster, scheduler), _percentage(cluster, scheduler))


def _proposal(cluster: "Cluster", scheduler: str) -> Proposal:
    args = cast("GangSchedulingArgs", cluster.profiles[scheduler].args(names.GANG_SCHEDULING))
    kinds = (DRATestPlugin, PlacementBinPacking, PlacementPodCountScorer)
    chosen = [kind(cluster) for kind in kinds if kind.name in args.placement_plugins]
    return Proposal(
        cluster,
        (TopologyPlacement(cluster), *(p for p in chosen if isinstance(p, PlacementGenerator))),
        [p for p in chosen if isinstance(p, PlacementState)],
        [p for p in chosen if isinstance(p, PlacementScorer)],
    )


def _scorers(cluster: "Cluster", scheduler: str) -> tuple[PlacementScorer, ...]:
    fit = cast("NodeResourcesFitArgs", cluster.profiles[scheduler].args(names.NODE_RESOURCES_FIT))
    return (
        NodeResourcesFitOfPlacement(cluster, fit.scoring_strategy.resources),
        PodGroupPodsCount(cluster),
    )


def _percentage(cluster: "Cluster", scheduler: str) -> int:
    own = cluster.profiles[scheduler].configured.percentage_of_placements_to_score
    configuration = cluster.snapshot.configuration or KubeSchedulerConfiguration()
    return configuration.percentage_of_placements_to_score if own is None else own
