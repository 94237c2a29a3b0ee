"""kube-scheduler's in-tree plugins, one file each, under upstream's names.

What runs, at which extension points, in which order and with which default weight, is said once in
`vocabulary.default_plugins.PLUGINS`; here is what is made for each entry that filters or scores.
"""

from collections.abc import Mapping
from typing import Final

from ..vocabulary.default_plugins import FILTER, PLUGINS, PRE_FILTER, PRE_SCORE, SCORE
from ..vocabulary.registry import PluginEntry, RegistryError, agree, by_name
from .base import FilterPlugin, LocalFilter, Plugin, Scope, ScorePlugin, StaticFilter
from .dynamic_resources import DynamicResources
from .image_locality import ImageLocality
from .inter_pod_affinity import InterPodAffinity
from .node_affinity import NodeAffinity
from .node_declared_features import NodeDeclaredFeatures
from .node_name import NodeName
from .node_ports import NodePorts
from .node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from .node_resources_fit import NodeResourcesFit
from .node_unschedulable import NodeUnschedulable
from .node_volume_limits import NodeVolumeLimits
from .pod_topology_spread import PodTopologySpread
from .taint_toleration import TaintToleration
from .volume_binding import VolumeBinding
from .volume_restrictions import VolumeRestrictions
from .volume_zone import VolumeZone

__all__ = [
    "FACTORIES",
    "FilterPlugin",
    "LocalFilter",
    "Plugin",
    "Scope",
    "ScorePlugin",
    "StaticFilter",
    "check_factories",
]


FACTORIES: Final[dict[str, type[Plugin]]] = by_name(
    "FACTORIES",
    (
        NodeUnschedulable,
        NodeName,
        TaintToleration,
        NodeAffinity,
        NodePorts,
        NodeResourcesFit,
        VolumeRestrictions,
        NodeVolumeLimits,
        VolumeBinding,
        VolumeZone,
        PodTopologySpread,
        InterPodAffinity,
        DynamicResources,
        NodeResourcesBalancedAllocation,
        ImageLocality,
        NodeDeclaredFeatures,
    ),
)
"""What makes the plugin of each entry that filters or scores."""


def check_factories(plugins: Mapping[str, PluginEntry], factories: Mapping[str, type[Plugin]]) -> None:
    """Check that each plugin that filters or scores can be made, as what its extension points say.

    Raises
    ------
    RegistryError
        For a plugin that is registered in part.
    """
    made = {PRE_FILTER, FILTER, PRE_SCORE, SCORE}
    wanted = [entry.name for entry in plugins.values() if made & entry.points]
    agree("FACTORIES", factories, wanted, "filters or scores")
    for name in wanted:
        factory, points = factories[name], plugins[name].points - plugins[name].idle
        if factory.name != name:
            raise RegistryError(f"FACTORIES: {name} makes a plugin that calls itself {factory.name}")
        for kind, own, what in (
            (FilterPlugin, {PRE_FILTER, FILTER}, "filter"),
            (ScorePlugin, {PRE_SCORE, SCORE}, "score"),
        ):
            if issubclass(factory, kind) != bool(points & own):
                can, says = ("cannot", "it does") if points & own else ("can", "it does not")
                raise RegistryError(f"FACTORIES: {name} {can} {what}, but its entry in PLUGINS says {says}")


check_factories(PLUGINS, FACTORIES)
