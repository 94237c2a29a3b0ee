"""Pods: everything about them that the scheduler reads."""

from functools import cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from .affinity import Affinity
from .base import Bool, Int32, Int64, KubeModel, StringMap, Texts, Timestamp, kept_once, shared
from .meta import Condition, KubeObject, ObjectMeta
from .quantity import AmountField
from .selectors import LabelSelector
from .volumes import Volume

Protocol = Literal["TCP", "UDP", "SCTP"]
PreemptionPolicy = Literal["PreemptLowerPriority", "Never"]
WhenUnsatisfiable = Literal["DoNotSchedule", "ScheduleAnyway"]
NodeInclusionPolicy = Literal["Honor", "Ignore"]
FallbackCriterion = Literal["NodeProvisioningFailed", "PreemptionFailed"]
TolerationOperator = Literal["Equal", "Exists", "Lt", "Gt"]
TolerationEffect = Literal["", "NoSchedule", "PreferNoSchedule", "NoExecute"]


class ContainerPort(KubeModel):
    """A port of a container; `host_port` 0 takes none of the node's."""

    empty_is_absent: ClassVar = frozenset({"protocol"})

    container_port: Int32
    host_port: Int32 = 0
    host_ip: str | None = None
    protocol: Protocol = "TCP"
    name: str | None = None


class ContainerResourceClaim(KubeModel):
    """A container's use of one of the pod's resource claims, or of one request in it."""

    name: str
    request: str | None = None


class ResourceRequirements(KubeModel):
    """Requests and limits by resource name, in base units (cores, bytes, pieces)."""

    requests: dict[str, AmountField] = Field(default_factory=dict)
    limits: dict[str, AmountField] = Field(default_factory=dict)
    claims: tuple[ContainerResourceClaim, ...] = ()


class ContainerRestartRule(KubeModel):
    """What a container's exit does beyond its restart policy (KEP-5307)."""

    action: str = ""


class Container(KubeModel):
    """A container; as an init container, restartable (a sidecar) when `restart_policy` is Always."""

    name: str
    image: str | None = None
    ports: tuple[ContainerPort, ...] = ()
    resources: ResourceRequirements = shared(ResourceRequirements())
    restart_policy: str | None = None
    restart_policy_rules: tuple[ContainerRestartRule, ...] = ()

    @property
    def is_sidecar(self) -> bool:
        """Whether this, as an init container, keeps running beside the main containers."""
        return self.restart_policy == "Always"


@cache
def _read_of_containers() -> frozenset[str]:
    fields = Container.model_fields
    return frozenset(fields).union(field.alias or name for name, field in fields.items())


def _trim(containers: Any) -> Any:
    """Leave out of raw containers what is not read: mounts have names of their own in every pod."""
    if not isinstance(containers, list):
        return containers
    read = _read_of_containers()
    return [
        {name: value for name, value in item.items() if name in read} if type(item) is dict else item
        for item in containers
    ]


Containers = Annotated[tuple[Container, ...], kept_once(_trim)]


class Toleration(KubeModel):
    """Which taints a pod puts up with; an empty effect means all effects, an empty key all keys."""

    empty_is_absent: ClassVar = frozenset({"operator"})

    key: str = ""
    operator: TolerationOperator = "Equal"
    value: str = ""
    effect: TolerationEffect = ""
    toleration_seconds: Int64 | None = None


class TopologySpreadConstraint(KubeModel):
    """How evenly matching pods are to be spread over domains (KEP-895, 3022, 3094, 3243, 3990)."""

    max_skew: Int32
    topology_key: str
    when_unsatisfiable: WhenUnsatisfiable
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: NodeInclusionPolicy = "Honor"
    node_taints_policy: NodeInclusionPolicy = "Ignore"
    match_label_keys: Texts = ()
    fallback_criteria: tuple[FallbackCriterion, ...] = ()

    @property
    def is_hard(self) -> bool:
        """Whether breaking the constraint keeps a pod from a node."""
        return self.when_unsatisfiable == "DoNotSchedule"


class PodSchedulingGate(KubeModel):
    """A reason why a pod is not yet to be scheduled."""

    name: str


class PodResourceClaim(KubeModel):
    """A claim of the pod, by name or by the template it is made from."""

    name: str
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class WorkloadReference(KubeModel):
    """A pod's place in a Workload of v1alpha1: a replica (`pod_group_replica_key`) of one of its groups."""

    name: str
    pod_group: str = ""
    pod_group_replica_key: str = ""


class PodSchedulingGroup(KubeModel):
    """A pod's PodGroup, from v1alpha2 on."""

    pod_group_name: str | None = None


class PodSpec(KubeModel):
    """What a pod asks for."""

    empty_is_absent: ClassVar = frozenset({"schedulerName", "restartPolicy"})

    containers: Containers = ()
    init_containers: Containers = ()
    node_name: str | None = None
    node_selector: Annotated[StringMap, kept_once()] = Field(default_factory=dict)
    affinity: Annotated[Affinity | None, kept_once()] = None
    tolerations: Annotated[tuple[Toleration, ...], kept_once()] = ()
    topology_spread_constraints: Annotated[tuple[TopologySpreadConstraint, ...], kept_once()] = ()
    scheduler_name: str = "default-scheduler"
    priority: Int32 | None = None
    priority_class_name: str | None = None
    preemption_policy: PreemptionPolicy | None = None
    allow_disruption_by_priority_greater_than_or_equal: Int32 | None = None
    scheduling_gates: tuple[PodSchedulingGate, ...] = ()
    volumes: tuple[Volume, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    resources: ResourceRequirements | None = None
    overhead: dict[str, AmountField] = Field(default_factory=dict)
    host_network: Bool = False
    host_users: Bool | None = None
    restart_policy: str = "Always"
    termination_grace_period_seconds: Int64 | None = None
    workload_ref: WorkloadReference | None = None
    scheduling_group: PodSchedulingGroup | None = None


class ContainerStatus(KubeModel):
    """What a container has been given, which in-place resize can change."""

    name: str = ""
    ready: Bool = False
    resources: Annotated[ResourceRequirements | None, kept_once()] = None
    allocated_resources: Annotated[dict[str, AmountField], kept_once()] = Field(default_factory=dict)


class PodResourceClaimStatus(KubeModel):
    """The claim that was made from a template; no name means that none is needed."""

    name: str = ""
    resource_claim_name: str | None = None


class ContainerExtendedResourceRequest(KubeModel):
    """Which request of a claim serves a container's extended resource."""

    container_name: str
    resource_name: str
    request_name: str


class PodExtendedResourceClaimStatus(KubeModel):
    """The claim that serves the extended resources of a pod."""

    request_mappings: tuple[ContainerExtendedResourceRequest, ...] = ()
    resource_claim_name: str


class PodStatus(KubeModel):
    """Where a pod stands. `phase` is None where the input has none."""

    phase: str | None = None
    conditions: tuple[Condition, ...] = ()
    nominated_node_name: str | None = None
    start_time: Timestamp | None = None
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    resources: ResourceRequirements | None = None
    allocated_resources: dict[str, AmountField] = Field(default_factory=dict)
    resize: str | None = None
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None


class Pod(KubeObject):
    """A pod."""

    api_version: str = "v1"
    kind: str = "Pod"
    spec: PodSpec = shared(PodSpec())
    status: PodStatus = shared(PodStatus())

    def condition(self, kind: str) -> Condition | None:
        """Return the status condition of a type, or None."""
        return next((item for item in self.status.conditions if item.type == kind), None)

    @property
    def priority(self) -> int:
        """The pod's priority; 0 where none is set."""
        return self.spec.priority or 0

    @property
    def is_terminal(self) -> bool:
        """Whether the pod has finished and uses nothing."""
        return self.status.phase in ("Succeeded", "Failed")

    @property
    def is_terminating(self) -> bool:
        """Whether the pod is being deleted."""
        return self.metadata.deletion_timestamp is not None


class PodTemplateSpec(KubeModel):
    """The pod that a controller makes."""

    metadata: ObjectMeta = shared(ObjectMeta())
    spec: PodSpec = shared(PodSpec())
