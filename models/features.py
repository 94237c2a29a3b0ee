"""Feature gates, in upstream's names and spelling.

A gate that is on means that the fields it guards are honoured where an object uses them; off means that these
fields are ignored as the proposal behind the gate says.  A gate that a release does not know yet is off
there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from .errors import KubestowError
from .kube_version import KubeVersion

KNOWN_GATES: Mapping[str, str] = MappingProxyType(
    {
        "MinDomainsInPodTopologySpread": "KEP-3022: topologySpreadConstraints[].minDomains",
        "NodeInclusionPolicyInPodTopologySpread": "KEP-3094: nodeAffinityPolicy and nodeTaintsPolicy",
        "MatchLabelKeysInPodTopologySpread": "KEP-3243: topologySpreadConstraints[].matchLabelKeys",
        "PodTopologySpreadFallbackMode": "KEP-3990: topologySpreadConstraints[].fallbackCriteria",
        "SchedulerQueueingHints": "KEP-4247: plugins say which events are worth a retry",
        "SchedulerPopFromBackoffQ": "KEP-5142: an idle queue pops pods that still back off",
        "SchedulerAsyncPreemption": "KEP-4832: victims are deleted outside the scheduling cycle",
        "DisruptionPolicyInPriorityClass": "KEP-4664: allowDisruptionByPriorityGreaterThanOrEqual",
        "PodSchedulingReadiness": "KEP-3521: spec.schedulingGates",
        "PodLevelResources": "KEP-2837: spec.resources",
        "SidecarContainers": "KEP-753: init containers with restartPolicy Always",
        "InPlacePodVerticalScaling": "KEP-1287: resources of running containers in the status",
        "GenericWorkload": "KEP-4671: Workload and PodGroup objects",
        "GangScheduling": "KEP-4671: the gang policy of a pod group",
        "TopologyAwareWorkloadScheduling": "KEP-5732: schedulingConstraints of a pod group",
        "WorkloadAwarePreemption": "KEP-5710: disruptionMode of a pod group, and preemption for it as one",
        "EnableWorkloadWithJob": "KEP-5547: a Job of equal pods is a gang (in simulations)",
        "WorkloadBasicPolicyDesiredCount": "KEP-5732: desiredCount of the basic policy",
        "CompositePodGroup": "KEP-6012: trees of pod groups",
        "DynamicResourceAllocation": "KEP-4381: resource claims",
        "DRAPrioritizedList": "KEP-4816: firstAvailable",
        "DRAAdminAccess": "KEP-5018: adminAccess",
        "DRADeviceTaints": "KEP-5055: device taints and tolerations",
        "DRAPartitionableDevices": "KEP-4815: sharedCounters and consumesCounters",
        "DRAConsumableCapacity": "KEP-5075: devices shared by capacity",
        "DRADeviceBindingConditions": "KEP-5007: devices that bind under conditions",
        "DRAListTypeAttributes": "KEP-5491: attributes of devices with several values",
        "DRAExtendedResource": "KEP-5004: extended resources served by DRA",
        "NodeDeclaredFeatures": "KEP-5328: status.declaredFeatures of nodes",
        "TaintTolerationComparisonOperators": "KEP-5471: tolerations with operators Lt and Gt",
        "VolumeLimitScaling": "KEP-5030: preventPodSchedulingIfMissing of CSI drivers",
        "DRAWorkloadResourceClaims": "KEP-5729: resource claims of a pod group",
    }
)


SINCE: Mapping[str, KubeVersion] = MappingProxyType(
    {
        "DRAListTypeAttributes": KubeVersion.V1_36,
        "EnableWorkloadWithJob": KubeVersion.V1_36,
        "NodeDeclaredFeatures": KubeVersion.V1_36,
        "TaintTolerationComparisonOperators": KubeVersion.V1_36,
        "VolumeLimitScaling": KubeVersion.V1_36,
        "CompositePodGroup": KubeVersion.V1_37,
    }
)
"""Gates that older releases do not know, with the first of the releases here that does."""


@dataclass(frozen=True)
class FeatureGates:
    """Which of `KNOWN_GATES` are on; every gate is on unless it was switched off."""

    off: frozenset[str] = field(default_factory=frozenset)

    def enabled(self, name: str) -> bool:
        """Whether gate `name` is on; `KeyError` for a name outside `KNOWN_GATES` (a bug in the caller)."""
        if name not in KNOWN_GATES:
            raise KeyError(name)
        return name not in self.off

    def known_to(self, version: KubeVersion) -> FeatureGates:
        """Return the gates of a release: what it does not know yet is off."""
        order = list(KubeVersion)
        later = {name for name, since in SINCE.items() if order.index(since) > order.index(version)}
        return FeatureGates(self.off | later) if later else self

    @classmethod
    def parse(cls, text: str) -> FeatureGates:
        """Read upstream's command-line spelling ``Name=true,Other=false``.

        Raises
        ------
        KubestowError
            For an unknown gate, or a value that is neither true nor false.
        """
        off: set[str] = set()
        for part in (p.strip() for p in text.split(",")):
            if not part:
                continue
            name, sep, value = (s.strip() for s in part.partition("="))
            if name not in KNOWN_GATES:
                known = ", ".join(sorted(KNOWN_GATES))
                raise KubestowError(f"--feature-gates: unknown gate '{name}'; known are {known}")
            if not sep or value.lower() not in ("true", "false"):
                raise KubestowError(f"--feature-gates: {name}={value}: the value must be true or false")
            off.discard(name)
            if value.lower() == "false":
                off.add(name)
        return cls(frozenset(off))
