"""Nodes: what they offer, and whom they keep away."""

from typing import ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from .base import Bool, Int64, KubeModel, Texts, Timestamp, shared
from .meta import Condition, KubeObject
from .quantity import AmountField

ZONE: Final = "topology.kubernetes.io/zone"
"""The label that says where a node stands."""

TaintEffect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


class Taint(KubeModel):
    """A mark that keeps pods away unless they tolerate it."""

    key: str
    value: str = ""
    effect: TaintEffect
    time_added: Timestamp | None = None


class NodeSpec(KubeModel):
    """What an administrator decided about a node."""

    unschedulable: Bool = False
    taints: tuple[Taint, ...] = ()
    provider_id: str | None = None


class ContainerImage(KubeModel):
    """An image on a node: all its names and its size in bytes."""

    names: Texts = ()
    size_bytes: Int64 = 0


class NodeStatus(KubeModel):
    """What a node reports. `allocatable` is `capacity` where it is absent, as the API server sets it."""

    capacity: dict[str, AmountField] = Field(default_factory=dict)
    allocatable: dict[str, AmountField] = Field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()
    images: tuple[ContainerImage, ...] = ()
    declared_features: Texts = ()

    @model_validator(mode="after")
    def _allocatable_from_capacity(self) -> Self:
        if "allocatable" not in self.model_fields_set and self.capacity:
            object.__setattr__(self, "allocatable", dict(self.capacity))
        return self


class Node(KubeObject):
    """A machine of the cluster."""

    namespaced: ClassVar[bool] = False

    api_version: str = "v1"
    kind: str = "Node"
    spec: NodeSpec = shared(NodeSpec())
    status: NodeStatus = shared(NodeStatus())
