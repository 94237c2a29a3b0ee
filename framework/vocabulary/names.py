"""The names of the plugins, written once.

Source: kube-scheduler 1.36.2 framework/plugins/names/names.go.
"""

from typing import Final

SCHEDULING_GATES: Final = "SchedulingGates"
PRIORITY_SORT: Final = "PrioritySort"
NODE_UNSCHEDULABLE: Final = "NodeUnschedulable"
NODE_NAME: Final = "NodeName"
TAINT_TOLERATION: Final = "TaintToleration"
NODE_AFFINITY: Final = "NodeAffinity"
NODE_PORTS: Final = "NodePorts"
NODE_RESOURCES_FIT: Final = "NodeResourcesFit"
VOLUME_RESTRICTIONS: Final = "VolumeRestrictions"
NODE_VOLUME_LIMITS: Final = "NodeVolumeLimits"
VOLUME_BINDING: Final = "VolumeBinding"
VOLUME_ZONE: Final = "VolumeZone"
POD_TOPOLOGY_SPREAD: Final = "PodTopologySpread"
INTER_POD_AFFINITY: Final = "InterPodAffinity"
DYNAMIC_RESOURCES: Final = "DynamicResources"
DEFAULT_PREEMPTION: Final = "DefaultPreemption"
BALANCED_ALLOCATION: Final = "NodeResourcesBalancedAllocation"
IMAGE_LOCALITY: Final = "ImageLocality"
DEFAULT_BINDER: Final = "DefaultBinder"
NODE_DECLARED_FEATURES: Final = "NodeDeclaredFeatures"

# Plugins of the workload cycle: of kube-scheduler 1.35 and later, and of KEP-5732's first text.
GANG_SCHEDULING: Final = "GangScheduling"
TOPOLOGY_PLACEMENT_GENERATOR: Final = "TopologyPlacementGenerator"
POD_GROUP_PODS_COUNT: Final = "PodGroupPodsCount"
TOPOLOGY_PLACEMENT: Final = "TopologyPlacementPlugin"
PLACEMENT_BIN_PACKING: Final = "PlacementBinPackingPlugin"
PLACEMENT_POD_COUNT_SCORER: Final = "PlacementPodCountScorerPlugin"
DRA_TEST: Final = "DRATestPlugin"
