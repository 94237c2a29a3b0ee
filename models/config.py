"""KubeSchedulerConfiguration: profiles, plugins and their arguments, with upstream's defaults.

Source: kube-scheduler 1.34.1 apis/config/v1/defaults.go.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, SerializeAsAny, ValidationInfo, field_validator

from .affinity import NodeAffinity
from .base import Bool, Duration, Int32, Int64, KubeModel, shared
from .pod import TopologySpreadConstraint


class ResourceSpec(KubeModel):
    """A resource and its weight in a score."""

    name: str
    weight: Int64 = 1

    @field_validator("weight", mode="after")
    @classmethod
    def _zero_is_absent(cls, weight: int) -> int:
        return weight or 1


class UtilizationShapePoint(KubeModel):
    """A point of the scoring function: utilisation 0..100, score 0..10."""

    utilization: Int32
    score: Int32


class RequestedToCapacityRatioParam(KubeModel):
    """The scoring function of RequestedToCapacityRatio."""

    shape: tuple[UtilizationShapePoint, ...] = ()


CPU_AND_MEMORY = (ResourceSpec(name="cpu", weight=1), ResourceSpec(name="memory", weight=1))

ResourceSpecs = Annotated[tuple[ResourceSpec, ...], AfterValidator(lambda given: given or CPU_AND_MEMORY)]
"""Resources of a score; an empty list is an absent one."""


class ScoringStrategy(KubeModel):
    """How NodeResourcesFit scores a node."""

    type: Literal["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"] = "LeastAllocated"
    resources: ResourceSpecs = CPU_AND_MEMORY
    requested_to_capacity_ratio: RequestedToCapacityRatioParam | None = None


class PluginArgs(KubeModel):
    """Arguments of a plugin that has none we know."""


class NodeResourcesFitArgs(PluginArgs):
    """Arguments of NodeResourcesFit."""

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = shared(ScoringStrategy())


class NodeResourcesBalancedAllocationArgs(PluginArgs):
    """Arguments of NodeResourcesBalancedAllocation."""

    resources: ResourceSpecs = CPU_AND_MEMORY


class InterPodAffinityArgs(PluginArgs):
    """Arguments of InterPodAffinity."""

    hard_pod_affinity_weight: Int32 = 1
    ignore_preferred_terms_of_existing_pods: Bool = False


class PodTopologySpreadArgs(PluginArgs):
    """Arguments of PodTopologySpread; `node_provisioning_timeout` (KEP-3990) is in seconds."""

    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    defaulting_type: Literal["System", "List"] = "System"
    node_provisioning_timeout: Duration | None = None


class NodeAffinityArgs(PluginArgs):
    """Arguments of NodeAffinity."""

    added_affinity: NodeAffinity | None = None


class DefaultPreemptionArgs(PluginArgs):
    """Arguments of DefaultPreemption."""

    min_candidate_nodes_percentage: Int32 = 10
    min_candidate_nodes_absolute: Int32 = 100


class VolumeBindingArgs(PluginArgs):
    """Arguments of VolumeBinding."""

    bind_timeout_seconds: Int32 = 600
    shape: tuple[UtilizationShapePoint, ...] = ()


class DynamicResourcesArgs(PluginArgs):
    """Arguments of DynamicResources; `filter_timeout` is in seconds."""

    filter_timeout: Duration = 10.0


class GangSchedulingArgs(PluginArgs):
    """Arguments of GangScheduling: which text of the workload cycle runs. They are ours, upstream has none.

    `workload_cycle` is Proposal (KEP-5732 as first proposed) or Current (that of the release, the newest
    one where the release has none); absent it is the release's, Proposal in 1.34.  `placement_plugins` are
    the proposal's plugins beside TopologyPlacementPlugin, which always runs.
    """

    workload_cycle: Literal["Proposal", "Current"] | None = None
    placement_plugins: tuple[
        Literal["PlacementBinPackingPlugin", "PlacementPodCountScorerPlugin", "DRATestPlugin"], ...
    ] = (
        "PlacementBinPackingPlugin",
        "PlacementPodCountScorerPlugin",
    )


ARGUMENTS: dict[str, type[PluginArgs]] = {
    "NodeResourcesFit": NodeResourcesFitArgs,
    "NodeResourcesBalancedAllocation": NodeResourcesBalancedAllocationArgs,
    "InterPodAffinity": InterPodAffinityArgs,
    "PodTopologySpread": PodTopologySpreadArgs,
    "NodeAffinity": NodeAffinityArgs,
    "DefaultPreemption": DefaultPreemptionArgs,
    "VolumeBinding": VolumeBindingArgs,
    "DynamicResources": DynamicResourcesArgs,
    "GangScheduling": GangSchedulingArgs,
}


class PluginConfig(KubeModel):
    """The arguments of one plugin, typed by its name."""

    name: str
    args: SerializeAsAny[PluginArgs] = Field(default=PluginArgs(), validate_default=True)

    @field_validator("args", mode="before")
    @classmethod
    def _read_args(cls, args: Any, info: ValidationInfo) -> Any:
        """Read the arguments as those of the plugin named beside them."""
        kind = ARGUMENTS.get(info.data.get("name", ""), PluginArgs)
        if isinstance(args, PluginArgs):
            return kind() if type(args) is PluginArgs else args
        return kind.model_validate(args)


class PluginRef(KubeModel):
    """A plugin by name; a weight of 0 means the default one."""

    name: str
    weight: Int32 = 0


class PluginSet(KubeModel):
    """Plugins switched on and off at an extension point; `*` switches all defaults off."""

    enabled: tuple[PluginRef, ...] = ()
    disabled: tuple[PluginRef, ...] = ()


class Plugins(KubeModel):
    """Plugins by extension point."""

    pre_enqueue: PluginSet = shared(PluginSet())
    queue_sort: PluginSet = shared(PluginSet())
    pre_filter: PluginSet = shared(PluginSet())
    filter: PluginSet = shared(PluginSet())
    post_filter: PluginSet = shared(PluginSet())
    pre_score: PluginSet = shared(PluginSet())
    score: PluginSet = shared(PluginSet())
    reserve: PluginSet = shared(PluginSet())
    permit: PluginSet = shared(PluginSet())
    pre_bind: PluginSet = shared(PluginSet())
    bind: PluginSet = shared(PluginSet())
    post_bind: PluginSet = shared(PluginSet())
    multi_point: PluginSet = shared(PluginSet())


class KubeSchedulerProfile(KubeModel):
    """A scheduler by name, with its plugins."""

    scheduler_name: str = "default-scheduler"
    percentage_of_nodes_to_score: Int32 | None = None
    percentage_of_placements_to_score: Int32 | None = None
    plugins: Plugins = shared(Plugins())
    plugin_config: tuple[PluginConfig, ...] = ()

    def args(self, plugin: str) -> PluginArgs:
        """Return the arguments of a plugin: the configured ones, else its defaults."""
        for config in self.plugin_config:
            if config.name == plugin:
                return config.args
        return ARGUMENTS.get(plugin, PluginArgs)()


class KubeSchedulerConfiguration(KubeModel):
    """The configuration of a scheduler process."""

    api_version: str = "kubescheduler.config.k8s.io/v1"
    kind: str = "KubeSchedulerConfiguration"
    parallelism: Int32 = 16
    percentage_of_nodes_to_score: Int32 = 0
    percentage_of_placements_to_score: Int32 = 0
    pod_initial_backoff_seconds: Int32 = 1
    pod_max_backoff_seconds: Int32 = 10
    profiles: Annotated[
        tuple[KubeSchedulerProfile, ...], AfterValidator(lambda given: given or (KubeSchedulerProfile(),))
    ] = (KubeSchedulerProfile(),)

    @property
    def key(self) -> str:
        """A constant: an input has at most one configuration."""
        return self.kind
