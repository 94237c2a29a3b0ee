"""kube-scheduler's in-tree plugins, one file each, under upstream's names.

`DEFAULT_PLUGINS` is the one list of what runs, in which order and with which default weight; a plugin that
acts on volumes is named there and has no class, as long as `framework.supported` refuses pods that need it.
"""

from typing import Final, NamedTuple

from .. import names
from ..profile import DEFAULT_PLUGINS as ORDER
from .base import FilterPlugin, Plugin, ScorePlugin, StaticFilter
from .image_locality import ImageLocality
from .inter_pod_affinity import InterPodAffinity
from .node_affinity import NodeAffinity
from .node_name import NodeName
from .node_ports import NodePorts
from .node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from .node_resources_fit import NodeResourcesFit
from .node_unschedulable import NodeUnschedulable
from .pod_topology_spread import PodTopologySpread
from .taint_toleration import TaintToleration

__all__ = ["DEFAULT_PLUGINS", "FilterPlugin", "Plugin", "PluginEntry", "ScorePlugin", "StaticFilter"]


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
    names.POD_TOPOLOGY_SPREAD: PodTopologySpread,
    names.INTER_POD_AFFINITY: InterPodAffinity,
    names.BALANCED_ALLOCATION: NodeResourcesBalancedAllocation,
    names.IMAGE_LOCALITY: ImageLocality,
}

DEFAULT_PLUGINS: Final = tuple(PluginEntry(name, _FACTORIES.get(name), weight) for name, weight in ORDER)
