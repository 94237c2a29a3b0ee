"""All hints of one profile: which plugins wait for an event, and what they say.

Source: kube-scheduler 1.34.1 scheduler.go (buildQueueingHintMap).
"""

from collections.abc import Mapping, Sequence
from typing import Final

from ...models.features import FeatureGates
from ..events.events import ANY_EVENT, NODE_TAINT, Action, ClusterEvent, Resource, matches
from ..events.objects import ObjectStore
from ..vocabulary.default_plugins import PLUGINS
from ..vocabulary.profile import Profile
from ..vocabulary.registry import PluginEntry, agree, by_name
from .base import HintPlugin, Registration
from .default_preemption import DefaultPreemption
from .dynamic_resources import DynamicResources
from .gang_scheduling import GangScheduling
from .inter_pod_affinity import InterPodAffinity
from .node_affinity import NodeAffinity
from .node_declared_features import NodeDeclaredFeatures
from .node_name import NodeName
from .node_ports import NodePorts
from .node_resources_fit import NodeResourcesFit
from .node_unschedulable import NodeUnschedulable
from .node_volume_limits import NodeVolumeLimits
from .scheduling_gates import SchedulingGates
from .spread_fallback import FallbackSpread
from .taint_toleration import TaintToleration
from .volume_binding import VolumeBinding
from .volume_restrictions import VolumeRestrictions
from .volume_zone import VolumeZone

HINT_PLUGINS: Final[dict[str, type[HintPlugin]]] = by_name(
    "HINT_PLUGINS",
    (
        SchedulingGates,
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
        FallbackSpread,
        InterPodAffinity,
        DynamicResources,
        DefaultPreemption,
        NodeDeclaredFeatures,
    ),
)
"""The in-tree plugins that say what they wait for, in the order of the default profile."""


GROUP_HINTS: Final[dict[str, type[HintPlugin]]] = by_name("GROUP_HINTS", (GangScheduling,))
"""Plugins of pod groups, which are in every profile as long as the gates GenericWorkload and theirs are on.

TopologyPlacementGenerator says nothing of what it waits for: every event counts for those whom it rejects.
"""


def check_hints(plugins: Mapping[str, PluginEntry], hints: Mapping[str, type[HintPlugin]]) -> None:
    """Check that the plugins with hints are those whose entries say so.

    Raises
    ------
    RegistryError
        For a plugin that is registered in part.
    """
    agree("HINT_PLUGINS", hints, (e.name for e in plugins.values() if e.hints), "has hints=True")


check_hints(PLUGINS, HINT_PLUGINS)


def registrations(plugin: HintPlugin, *, hints: bool = True) -> tuple[Registration, ...]:
    """Return all that a plugin waits for, with what the scheduler adds.

    Parameters
    ----------
    plugin : HintPlugin
    hints : bool
        The gate SchedulerQueueingHints. Off: no function is ever called, and a plugin that waits for nodes
        that come also waits for changes of labels and taints, since the node check of that time may have
        swallowed the arrival.
    """
    own = plugin.events_to_register()
    waits_for_nodes = any(_about_node(item, Action.ADD) for item in own)
    if not hints:
        return tuple(Registration(_widened(item.event) if waits_for_nodes else item.event) for item in own)
    if waits_for_nodes and not any(_about_node(item, Action.UPDATE_NODE_TAINT) for item in own):
        return (*own, Registration(NODE_TAINT, None, automatic=True))
    return own


def _about_node(item: Registration, action: Action) -> bool:
    return item.event.resource is Resource.NODE and bool(item.event.action & action)


def _widened(event: ClusterEvent) -> ClusterEvent:
    if event.resource is not Resource.NODE:
        return event
    return ClusterEvent(event.resource, event.action | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_TAINT)


class HintMap:
    """The registrations of all plugins of a profile.

    Parameters
    ----------
    profile : Profile
    objects : ObjectStore
        What the plugins' listers see.
    gates : FeatureGates
    plugins : mapping, optional
        Hints by plugin, where other than upstream's answer.
    """

    def __init__(
        self,
        profile: Profile,
        objects: ObjectStore,
        gates: FeatureGates,
        plugins: Mapping[str, type[HintPlugin]] = HINT_PLUGINS,
    ) -> None:
        self._hints = gates.enabled("SchedulerQueueingHints")
        self._plugins: dict[str, HintPlugin] = {}
        self._registered: dict[str, tuple[Registration, ...]] = {}
        self._matching: dict[ClusterEvent, tuple[tuple[str, Registration], ...]] = {}
        enabled = {name for point in profile.points.values() for name in point}
        for name in PLUGINS:
            if name in enabled and name in plugins:
                self._add(plugins[name](objects, gates, profile.args(name)))
        if gates.enabled("GenericWorkload"):
            for name, model in GROUP_HINTS.items():
                if gates.enabled(name):
                    self._add(model(objects, gates, profile.args(name)))

    def _add(self, plugin: HintPlugin) -> None:
        self._plugins[plugin.name] = plugin
        self._registered[plugin.name] = registrations(plugin, hints=self._hints)

    def know(self, plugin: str) -> bool:
        """Take in a plugin that does not say what it waits for: every event counts for it.

        Returns
        -------
        bool
            Whether that changes anything.
        """
        if plugin in self._registered:
            return False
        self._registered[plugin] = (Registration(ANY_EVENT),)
        self._matching.clear()
        return True

    def matching(self, event: ClusterEvent) -> Sequence[tuple[str, Registration]]:
        """Return the plugins that wait for an event, in the profile's order, with their registrations."""
        found = self._matching.get(event)
        if found is None:
            found = tuple(
                (name, item)
                for name, items in self._registered.items()
                for item in items
                if matches(item.event, event)
            )
            self._matching[event] = found
        return found

    def waits(self, plugin: str, event: ClusterEvent) -> bool:
        """Whether a plugin registered an event."""
        return any(matches(item.event, event) for item in self._registered.get(plugin, ()))

    def registers(self, event: ClusterEvent) -> bool:
        """Whether any plugin registered this very event, not only all events."""
        return any(item.event == event for items in self._registered.values() for item in items)

    def plugin(self, name: str) -> HintPlugin | None:
        """Return a plugin's hints; None for one that has none."""
        return self._plugins.get(name)
