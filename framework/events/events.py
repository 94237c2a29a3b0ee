"""Cluster events of the scheduling queue, in upstream's spelling, and which registrations match them.

An event is a resource and an action. Actions are bits, so that a plugin can register several at once; the
order of the bits takes part in matching.

Source: kube-scheduler 1.34.1, kube-scheduler/framework/types.go and framework/types.go (MatchClusterEvents).
"""

from dataclasses import dataclass, field
from enum import IntFlag, StrEnum
from functools import lru_cache
from typing import Final


class Resource(StrEnum):
    """What an event is about; plugins register `POD` for both kinds of pods."""

    POD = "Pod"
    ASSIGNED_POD = "AssignedPod"
    UNSCHEDULABLE_POD = "UnschedulablePod"
    NODE = "Node"
    PERSISTENT_VOLUME = "PersistentVolume"
    PERSISTENT_VOLUME_CLAIM = "PersistentVolumeClaim"
    CSI_NODE = "storage.k8s.io/CSINode"
    CSI_DRIVER = "storage.k8s.io/CSIDriver"
    CSI_STORAGE_CAPACITY = "storage.k8s.io/CSIStorageCapacity"
    VOLUME_ATTACHMENT = "storage.k8s.io/VolumeAttachment"
    STORAGE_CLASS = "storage.k8s.io/StorageClass"
    RESOURCE_CLAIM = "resource.k8s.io/ResourceClaim"
    RESOURCE_SLICE = "resource.k8s.io/ResourceSlice"
    DEVICE_CLASS = "resource.k8s.io/DeviceClass"
    POD_GROUP = "PodGroup"
    COMPOSITE_POD_GROUP = "CompositePodGroup"
    TIME = "Time"
    """Nothing happened but that time passed (KEP-3990)."""
    ANYTHING = "*"


class Action(IntFlag):
    """What happened to it."""

    ADD = 1 << 0
    DELETE = 1 << 1
    UPDATE_NODE_ALLOCATABLE = 1 << 2
    UPDATE_NODE_LABEL = 1 << 3
    UPDATE_NODE_TAINT = 1 << 4
    UPDATE_NODE_CONDITION = 1 << 5
    UPDATE_NODE_ANNOTATION = 1 << 6
    UPDATE_NODE_DECLARED_FEATURE = 1 << 7
    UPDATE_POD_LABEL = 1 << 8
    UPDATE_POD_SCALE_DOWN = 1 << 9
    UPDATE_POD_TOLERATION = 1 << 10
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 1 << 11
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = 1 << 12
    UPDATE_OTHER = 1 << 13
    ALL = (1 << 14) - 1
    UPDATE = ALL & ~0b11
    """Some update: of a kind that has no finer actions, or one that no finer action describes."""


_PARTS: Final = (
    (Action.ADD, "Add"),
    (Action.DELETE, "Delete"),
    (Action.UPDATE_NODE_ALLOCATABLE, "UpdateNodeAllocatable"),
    (Action.UPDATE_NODE_LABEL, "UpdateNodeLabel"),
    (Action.UPDATE_NODE_TAINT, "UpdateNodeTaint"),
    (Action.UPDATE_NODE_CONDITION, "UpdateNodeCondition"),
    (Action.UPDATE_NODE_ANNOTATION, "UpdateNodeAnnotation"),
    (Action.UPDATE_NODE_DECLARED_FEATURE, "UpdateNodeDeclaredFeature"),
    (Action.UPDATE_POD_LABEL, "UpdatePodLabel"),
    (Action.UPDATE_POD_SCALE_DOWN, "UpdatePodScaleDown"),
    (Action.UPDATE_POD_TOLERATION, "UpdatePodToleration"),
    (Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED, "UpdatePodSchedulingGatesEliminated"),
    (Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM, "UpdatePodGeneratedResourceClaim"),
)


def action_names(action: Action) -> tuple[str, ...]:
    """Return the names of all actions in a combination; all updates together are one `Update`."""
    general = (action & Action.UPDATE) == Action.UPDATE
    parts = [name for bit, name in _PARTS if action & bit and not (general and bit & Action.UPDATE)]
    return (*parts, "Update") if general else tuple(parts)


@dataclass(frozen=True, slots=True)
class ClusterEvent:
    """A resource and what happened to it; as a registration `action` may combine several.

    Attributes
    ----------
    resource : Resource
    action : Action
    label : str
        A name of its own (the events that concern every pod); empty for the spelling from the other two.
    """

    resource: Resource
    action: Action
    label: str = ""
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.resource, self.action, self.label)))

    def __hash__(self) -> int:
        return self._hash  # events are looked up more often than anything else

    @property
    def is_wildcard(self) -> bool:
        """Whether the event is about everything."""
        return self.resource is Resource.ANYTHING and self.action == Action.ALL

    @property
    def names(self) -> tuple[str, ...]:
        """Every event that this stands for, as upstream writes it: `NodeUpdateNodeTaint`."""
        if self.label:
            return (self.label,)
        return tuple(f"{self.resource.value}{name}" for name in action_names(self.action))

    def __str__(self) -> str:
        return _spelling(self)


@lru_cache(maxsize=256)
def _spelling(event: ClusterEvent) -> str:
    return "|".join(event.names)


ANY_EVENT: Final = ClusterEvent(Resource.ANYTHING, Action.ALL)
"""What a plugin registers that does not say which events it waits for."""

UNSCHEDULABLE_TIMEOUT: Final = ClusterEvent(Resource.ANYTHING, Action.ALL, "UnschedulableTimeout")
"""A pod waited too long for an event."""

FORCE_ACTIVATE: Final = ClusterEvent(Resource.ANYTHING, Action.ALL, "ForceActivate")
"""A plugin wants a pod to be tried again."""

POD_ADD: Final = ClusterEvent(Resource.UNSCHEDULABLE_POD, Action.ADD)
POD_UPDATE: Final = ClusterEvent(Resource.UNSCHEDULABLE_POD, Action.UPDATE)
POD_DELETE: Final = ClusterEvent(Resource.UNSCHEDULABLE_POD, Action.DELETE)
ASSIGNED_POD_ADD: Final = ClusterEvent(Resource.ASSIGNED_POD, Action.ADD)
ASSIGNED_POD_UPDATE: Final = ClusterEvent(Resource.ASSIGNED_POD, Action.UPDATE)
ASSIGNED_POD_DELETE: Final = ClusterEvent(Resource.ASSIGNED_POD, Action.DELETE)
NODE_ADD: Final = ClusterEvent(Resource.NODE, Action.ADD)
NODE_DELETE: Final = ClusterEvent(Resource.NODE, Action.DELETE)
NODE_TAINT: Final = ClusterEvent(Resource.NODE, Action.UPDATE_NODE_TAINT)

_PODS: Final = (Resource.POD, Resource.ASSIGNED_POD, Resource.UNSCHEDULABLE_POD)


def matches(registered: ClusterEvent, incoming: ClusterEvent) -> bool:
    """Whether an event is one that a plugin registered.

    Besides sharing an action, the incoming action must not be the larger number of the two: so a general
    update is no match for a plugin that waits for one kind of update only.
    """
    if registered.is_wildcard:
        return True
    same = (
        registered.resource is Resource.ANYTHING
        or registered.resource is incoming.resource
        or (registered.resource is Resource.POD and incoming.resource in _PODS)
    )
    return same and bool(registered.action & incoming.action) and incoming.action <= registered.action
