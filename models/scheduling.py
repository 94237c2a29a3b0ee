"""Priorities and groups of pods: PriorityClass, Workload, PodGroup, CompositePodGroup.

Groups are read in every served version and in the proposals' early spellings, and are kept in one shape, that
of v1beta1; `api_version` still tells which rules hold.

Sources: KEP-4671, KEP-5832, KEP-5732, KEP-5729, KEP-4664, KEP-6012.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import AliasChoices, Field, field_validator, model_validator

from .base import Bool, Int32, KubeModel, shared
from .meta import Condition, KubeObject
from .pod import PodResourceClaim, PodResourceClaimStatus, PreemptionPolicy

DisruptionMode = Literal["single", "all"]


class PriorityClass(KubeObject):
    """A named priority (scheduling.k8s.io/v1), with KEP-4664's guard for budgets."""

    namespaced: ClassVar[bool] = False

    api_version: str = "scheduling.k8s.io/v1"
    kind: str = "PriorityClass"
    value: Int32 = 0
    global_default: Bool = False
    preemption_policy: PreemptionPolicy = "PreemptLowerPriority"
    allow_disruption_by_priority_greater_than_or_equal: Int32 | None = None


class BasicPolicy(KubeModel):
    """No gang: pods are scheduled one by one. `desired_count` is KEP-5732's hint on the group's size."""

    desired_count: Int32 | None = None


class GangPolicy(KubeModel):
    """All or nothing: `min_count` pods (of a composite group: `min_group_count` groups) start together."""

    min_count: Int32 | None = None
    min_group_count: Int32 | None = None


class SchedulingPolicy(KubeModel):
    """Exactly one of the two."""

    basic: BasicPolicy | None = None
    gang: GangPolicy | None = None


class TopologyConstraint(KubeModel):
    """All pods of the group in one domain of this node label.

    `mode` is in no served version: Preferred is KEP-5732's future extension, a wish and no condition.
    """

    key: str = Field(validation_alias=AliasChoices("key", "topologyKey", "level"))
    mode: Literal["Required", "Preferred"] = "Required"


class SchedulingConstraints(KubeModel):
    """Where the pods of a group may be, as a whole."""

    topology: tuple[TopologyConstraint, ...] = Field(
        default=(), validation_alias=AliasChoices("topology", "topologyConstraints")
    )


class GroupSpec(KubeModel):
    """What a PodGroup and the template of one have in common."""

    scheduling_policy: SchedulingPolicy = Field(
        default=SchedulingPolicy(), validation_alias=AliasChoices("schedulingPolicy", "policy")
    )
    scheduling_constraints: SchedulingConstraints = shared(SchedulingConstraints())
    resource_claims: tuple[PodResourceClaim, ...] = ()
    disruption_mode: DisruptionMode = "single"
    priority_class_name: str | None = None
    priority: Int32 | None = None
    preemption_policy: PreemptionPolicy | None = None

    early_modes: ClassVar[Mapping[str, DisruptionMode]] = {"Pod": "single", "PodGroup": "all"}
    """v1alpha2's words for modes."""

    @field_validator("disruption_mode", mode="before")
    @classmethod
    def _read_disruption_mode(cls, value: Any) -> Any:
        """Accept v1beta1's union and v1alpha2's word."""
        if isinstance(value, dict):
            present = [name for name in ("single", "all") if value.get(name) is not None]
            return present[0] if len(present) == 1 else "/".join(present) or value
        return cls.early_modes.get(value, value) if isinstance(value, str) else value


class PodGroupTemplate(GroupSpec):
    """A named group of a Workload; in v1alpha1 an entry of `podGroups`, of which replicas are made by key."""

    name: str


class CompositePodGroupTemplate(GroupSpec):
    """A named group of groups of a Workload, with the templates of its children (KEP-6012)."""

    early_modes: ClassVar[Mapping[str, DisruptionMode]] = {}  # v1alpha2 has no groups of groups

    name: str
    composite_pod_group_templates: tuple["CompositePodGroupTemplate", ...] = ()
    pod_group_templates: tuple[PodGroupTemplate, ...] = ()


class ControllerReference(KubeModel):
    """The controller that a Workload stands for."""

    api_group: str = ""
    kind: str = ""
    name: str = ""


class WorkloadSpec(KubeModel):
    """The groups of a workload: pod groups, or trees of groups."""

    controller_ref: ControllerReference | None = None
    composite_pod_group_templates: tuple[CompositePodGroupTemplate, ...] = ()
    pod_group_templates: tuple[PodGroupTemplate, ...] = Field(
        default=(), validation_alias=AliasChoices("podGroupTemplates", "podGroups")
    )


class Workload(KubeObject):
    """Groups of pods that belong together."""

    api_version: str = "scheduling.k8s.io/v1beta1"
    kind: str = "Workload"
    spec: WorkloadSpec = shared(WorkloadSpec())


class WorkloadTemplateReference(KubeModel):
    """Which template of which Workload a group was made from."""

    workload_name: str = ""
    template_name: str = Field(
        default="", validation_alias=AliasChoices("templateName", "podGroupTemplateName")
    )


class PodGroupSpec(GroupSpec):
    """One group at run time."""

    workload_ref: WorkloadTemplateReference | None = None
    parent_composite_pod_group_name: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _read_early_reference(cls, data: Any) -> Any:
        """Accept `podGroupTemplateRef`, with its fields flat or below `workload`, for `workloadRef`."""
        if isinstance(data, dict) and isinstance(early := data.get("podGroupTemplateRef"), dict):
            return {"workloadRef": early.get("workload", early), **data}
        return data


class CompositePodGroupSpec(PodGroupSpec):
    """One group of groups at run time."""

    early_modes: ClassVar[Mapping[str, DisruptionMode]] = {}  # v1alpha2 has no groups of groups


class PodGroupStatus(KubeModel):
    """What became of a group."""

    conditions: tuple[Condition, ...] = ()
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()


class PodGroup(KubeObject):
    """A group of pods that refer to it by `schedulingGroup.podGroupName`."""

    api_version: str = "scheduling.k8s.io/v1beta1"
    kind: str = "PodGroup"
    spec: PodGroupSpec = shared(PodGroupSpec())
    status: PodGroupStatus = shared(PodGroupStatus())


class CompositePodGroup(KubeObject):
    """A group of groups (v1alpha3); its children name it as `parentCompositePodGroupName`."""

    api_version: str = "scheduling.k8s.io/v1alpha3"
    kind: str = "CompositePodGroup"
    spec: CompositePodGroupSpec = shared(CompositePodGroupSpec())
    status: PodGroupStatus = shared(PodGroupStatus())
