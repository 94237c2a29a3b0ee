"""kube-scheduler's in-tree plugins, one file each, under upstream's names.

`DEFAULT_PLUGINS` is the one list of what runs, in which order and with which default weight.
"""

from typing import Final, NamedTuple

from ..vocabulary import names
from ..vocabulary.profile import DEFAULT_PLUGINS as ORDER
from .base import FilterPlugin, LocalFilter, Plugin, Scope, ScorePlugin, StaticFilter
from .dynamic_resources import DynamicResources
from .image_locality import ImageLocality
from .inter_pod_affinity import InterPodAffinity
from .node_affinity import NodeAffinity
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
    "DEFAULT_PLUGINS",
    "FilterPlugin",
    "LocalFilter",
    "Plugin",
    "PluginEntry",
    "Scope",
    "ScorePlugin",
    "StaticFilter",
]


class PluginEntry(NamedTuple):
    """A plugin by name; `factory` is None where it neither filters nor scores here."""

    name: str
    factory: type[Plugin] | None
    weight: int


_FACTORIES: Final[dict[str, type[Plugin]]] = {
    names.NODE_UNSCHEDULABLE: NodeUnschedulable,
    names.NODE_NAME: NodeName,
    names.TAINT_TOLERATION: TaintToleration,
    names.NODE_AFFINITY: NodeAffinity,
    names.NODE_PORTS: NodePorts,
    names.NODE_RESOURCES_FIT: NodeResourcesFit,
    names.VOLUME_RESTRICTIONS: VolumeRestrictions,
    names.NODE_VOLUME_LIMITS: NodeVolumeLimits,
    names.VOLUME_BINDING: VolumeBinding,
    names.VOLUME_ZONE: VolumeZone,
    names.POD_TOPOLOGY_SPREAD: PodTopologySpread,
    names.INTER_POD_AFFINITY: InterPodAffinity,
    names.DYNAMIC_RESOURCES: DynamicResources,
    names.BALANCED_ALLOCATION: NodeResourcesBalancedAllocation,
    names.IMAGE_LOCALITY: ImageLocality,
}

DEFAULT_PLUGINS: Final = tuple(PluginEntry(name, _FACTORIES.get(name), weight) for name, weight in ORDER)
