"""Namespaces, services and the controllers that own pods."""

from typing import ClassVar

from pydantic import Field

from .base import Bool, Int32, KubeModel, StringMap, shared
from .meta import Condition, KubeObject
from .pod import PodTemplateSpec
from .policy import IntOrText
from .selectors import LabelSelector
from .storage import PersistentVolumeClaim


class Namespace(KubeObject):
    """A namespace; its labels are what namespace selectors look at."""

    namespaced: ClassVar[bool] = False

    api_version: str = "v1"
    kind: str = "Namespace"


class ServiceSpec(KubeModel):
    """Which pods a service sends traffic to; an empty selector selects none."""

    selector: StringMap = Field(default_factory=dict)
    type: str = "ClusterIP"
    cluster_ip: str | None = None


class Service(KubeObject):
    """A service; default spreading looks at its selector."""

    api_version: str = "v1"
    kind: str = "Service"
    spec: ServiceSpec = shared(ServiceSpec())


class ReplicaSetSpec(KubeModel):
    """How many pods of which template."""

    replicas: Int32 = 1
    selector: LabelSelector | None = None
    template: PodTemplateSpec = shared(PodTemplateSpec())


class ReplicaSet(KubeObject):
    """A set of equal pods."""

    api_version: str = "apps/v1"
    kind: str = "ReplicaSet"
    spec: ReplicaSetSpec = shared(ReplicaSetSpec())


class ReplicationControllerSpec(KubeModel):
    """How many pods of which template; the selector is a plain map."""

    replicas: Int32 = 1
    selector: StringMap = Field(default_factory=dict)
    template: PodTemplateSpec | None = None


class ReplicationController(KubeObject):
    """The predecessor of ReplicaSet."""

    api_version: str = "v1"
    kind: str = "ReplicationController"
    spec: ReplicationControllerSpec = shared(ReplicationControllerSpec())


class StatefulSetOrdinals(KubeModel):
    """The number of a set's first pod."""

    start: Int32 = 0


class StatefulSetSpec(KubeModel):
    """How many numbered pods of which template, each with its own claims."""

    empty_is_absent: ClassVar = frozenset({"podManagementPolicy"})

    replicas: Int32 = 1
    selector: LabelSelector | None = None
    template: PodTemplateSpec = shared(PodTemplateSpec())
    service_name: str | None = None
    pod_management_policy: str = "OrderedReady"
    ordinals: StatefulSetOrdinals | None = None
    volume_claim_templates: tuple[PersistentVolumeClaim, ...] = ()


class StatefulSet(KubeObject):
    """A set of numbered pods."""

    api_version: str = "apps/v1"
    kind: str = "StatefulSet"
    spec: StatefulSetSpec = shared(StatefulSetSpec())


class RollingUpdate(KubeModel):
    """How many pods a rollout may have too many, or too few; a number or a percentage."""

    max_surge: IntOrText = "25%"
    max_unavailable: IntOrText = "25%"


class DeploymentStrategy(KubeModel):
    """How a rollout replaces pods: little by little, or all at once (Recreate)."""

    empty_is_absent: ClassVar = frozenset({"type"})

    type: str = "RollingUpdate"
    rolling_update: RollingUpdate = shared(RollingUpdate())


class DeploymentSpec(KubeModel):
    """How many pods of which template."""

    replicas: Int32 = 1
    selector: LabelSelector | None = None
    template: PodTemplateSpec = shared(PodTemplateSpec())
    strategy: DeploymentStrategy = shared(DeploymentStrategy())
    paused: Bool = False


class Deployment(KubeObject):
    """A set of equal pods with a rollout, run through ReplicaSets."""

    api_version: str = "apps/v1"
    kind: str = "Deployment"
    spec: DeploymentSpec = shared(DeploymentSpec())


class JobSpec(KubeModel):
    """How many pods run at once, and how many must succeed."""

    parallelism: Int32 | None = None
    completions: Int32 | None = None
    completion_mode: str = "NonIndexed"
    suspend: Bool = False
    selector: LabelSelector | None = None
    template: PodTemplateSpec = shared(PodTemplateSpec())


class JobStatus(KubeModel):
    """How far a job is."""

    active: Int32 = 0
    succeeded: Int32 = 0
    conditions: tuple[Condition, ...] = ()


class Job(KubeObject):
    """Pods that run to completion."""

    api_version: str = "batch/v1"
    kind: str = "Job"
    spec: JobSpec = shared(JobSpec())
    status: JobStatus = shared(JobStatus())


class DaemonSetSpec(KubeModel):
    """One pod of a template on each node."""

    selector: LabelSelector | None = None
    template: PodTemplateSpec = shared(PodTemplateSpec())


class DaemonSet(KubeObject):
    """A pod on each node."""

    api_version: str = "apps/v1"
    kind: str = "DaemonSet"
    spec: DaemonSetSpec = shared(DaemonSetSpec())
