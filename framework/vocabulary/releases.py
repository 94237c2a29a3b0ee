"""What differs between the releases of kube-scheduler that are rebuilt, one object for each.

A rule that changed is a field here, and the plugin that follows it reads the field; no plugin compares
versions.

Sources: kube-scheduler 1.34.1, 1.36.2 and 1.37 (apis/config/v1/default_plugins.go, kube_features.go and the
plugins' own files).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Final

from ...models.kube_version import KubeVersion
from . import names
from .default_plugins import PLUGINS, SCORE
from .workload_cycles import PROPOSAL, V1_36, V1_37

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .registry import PluginEntry
    from .workload_cycles import WorkloadCycle


class BalancedAllocation(Enum):
    """What NodeResourcesBalancedAllocation scores."""

    SHARES = "how even the node's shares are with the pod there"
    CHANGE = "how much evener the pod makes them, 50 to 100"


@dataclass(frozen=True, kw_only=True)
class Release:
    """A release of kube-scheduler.

    Attributes
    ----------
    version : KubeVersion
    untolerated_taint : str
        TaintToleration's reason; `{key}` and `{value}` stand for the taint.
    balanced_allocation : BalancedAllocation
    whole_pools : bool
        Whether a pool of devices is judged by the slices of all nodes; slices that are missing, and faults,
        then keep its devices back.  Else it is judged as each node sees it, gives what is there, and ends
        the attempt that comes to a fault.
    repeated_shares : bool
        Whether one request may be given several shares of the same device.
    lost_counters : bool
        Whether the counters of a device that a taint or a constraint turns down stay taken for the rest of
        the search on that node.
    empty_offers : bool
        Whether a node whose allocatable names an extended resource with 0 offers it itself, so that its
        devices are not asked for it.
    workload_cycle : WorkloadCycle
        How groups are scheduled where a profile does not say.
    current_cycle : WorkloadCycle
        What a profile means by `Current`.
    whole_groups : bool
        Whether a pod that preempts evicts groups of disruptionMode `all` whole.
    absent : frozenset of str
        Plugins that came later.
    absent_points : mapping
        Plugin to the extension points that it got later.
    gates : mapping
        Upstream's defaults of the gates that it has; they decide nothing here, where every gate is on whose
        fields an input uses.
    """

    version: KubeVersion
    untolerated_taint: str
    balanced_allocation: BalancedAllocation
    whole_pools: bool
    repeated_shares: bool
    lost_counters: bool
    empty_offers: bool
    workload_cycle: WorkloadCycle
    current_cycle: WorkloadCycle
    whole_groups: bool
    absent: frozenset[str] = frozenset()
    absent_points: Mapping[str, frozenset[str]] = field(default_factory=dict)
    gates: Mapping[str, bool] = field(default_factory=dict)

    @property
    def plugins(self) -> dict[str, PluginEntry]:
        """The default profile's plugins in upstream's order."""
        found: dict[str, PluginEntry] = {}
        for name, entry in PLUGINS.items():
            if name in self.absent:
                continue
            points = entry.points - self.absent_points.get(name, frozenset())
            found[name] = entry._replace(points=points, weight=entry.weight if SCORE in points else 0)
        return found


PROPOSED_GATES: Final = frozenset(
    {
        "DisruptionPolicyInPriorityClass",
        "PodTopologySpreadFallbackMode",
        "WorkloadBasicPolicyDesiredCount",
    }
)
"""Gates that only a proposal has."""

_ON: Final = (
    "MinDomainsInPodTopologySpread",
    "NodeInclusionPolicyInPodTopologySpread",
    "MatchLabelKeysInPodTopologySpread",
    "SchedulerQueueingHints",
    "SchedulerPopFromBackoffQ",
    "SchedulerAsyncPreemption",
    "PodSchedulingReadiness",
    "PodLevelResources",
    "SidecarContainers",
    "InPlacePodVerticalScaling",
    "DynamicResourceAllocation",
    "DRAPrioritizedList",
    "DRAAdminAccess",
)
_LATER_ON: Final = (
    "DRADeviceTaints",
    "DRAPartitionableDevices",
    "DRAConsumableCapacity",
    "DRADeviceBindingConditions",
    "DRAExtendedResource",
)
"""On since 1.36, there and off in 1.34."""

_V1_36 = Release(
    version=KubeVersion.V1_36,
    untolerated_taint="node(s) had untolerated taint(s)",
    balanced_allocation=BalancedAllocation.CHANGE,
    whole_pools=True,
    repeated_shares=False,
    lost_counters=True,
    empty_offers=False,
    workload_cycle=V1_36,
    current_cycle=V1_36,
    whole_groups=False,
    gates={
        **dict.fromkeys((*_ON, *_LATER_ON, "NodeDeclaredFeatures"), True),
        **dict.fromkeys(
            (
                "GenericWorkload",
                "GangScheduling",
                "TopologyAwareWorkloadScheduling",
                "WorkloadAwarePreemption",
                "EnableWorkloadWithJob",
                "DRAWorkloadResourceClaims",
                "DRAListTypeAttributes",
                "TaintTolerationComparisonOperators",
                "VolumeLimitScaling",
            ),
            False,
        ),
    },
)

RELEASES: Final[Mapping[KubeVersion, Release]] = {
    KubeVersion.V1_34: Release(
        version=KubeVersion.V1_34,
        untolerated_taint="node(s) had untolerated taint {{{key}: {value}}}",
        balanced_allocation=BalancedAllocation.SHARES,
        whole_pools=False,
        repeated_shares=True,
        lost_counters=False,
        empty_offers=True,
        workload_cycle=PROPOSAL,
        current_cycle=V1_37,
        whole_groups=False,
        absent=frozenset({names.NODE_DECLARED_FEATURES}),
        absent_points={names.DYNAMIC_RESOURCES: frozenset({SCORE})},
        gates={**dict.fromkeys(_ON, True), **dict.fromkeys(_LATER_ON, False)},
    ),
    KubeVersion.V1_36: _V1_36,
    KubeVersion.V1_37: replace(
        _V1_36,
        version=KubeVersion.V1_37,
        workload_cycle=V1_37,
        current_cycle=V1_37,
        whole_groups=True,
        gates={**_V1_36.gates, "VolumeLimitScaling": True, "CompositePodGroup": False},
    ),
}
"""Every release that is known, oldest first."""
