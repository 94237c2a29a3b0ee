"""From an object's old and new version to the events that the scheduler's handlers make of it.

A finished pod counts as gone. A pod on a node and a pod that waits are two sides with handlers of their own:
a pod that gets bound appears on the one and goes from the other.

Source: kube-scheduler 1.34.1 eventhandlers.go, framework/events.go.
"""

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Final, NamedTuple

from ...models.meta import KubeObject
from ...models.node import Node
from ...models.pod import Pod
from ...models.requests import running_pod_requests
from ..index.group_names import group_name
from . import events
from .events import Action, ClusterEvent, Resource


class Audience(Enum):
    """Which waiting pods an event is offered to."""

    ALL = "all"
    OWN = "own"
    """Only the pod that changed."""
    LOWER_OR_EQUAL = "lower or equal"
    """Pods of at most the changed pod's priority: to them it was as good as on its nominated node."""
    NOBODY = "nobody"


class Occurrence(NamedTuple):
    """One event with the objects that the hints get to see."""

    event: ClusterEvent
    old: KubeObject | None
    new: KubeObject | None
    audience: Audience = Audience.ALL

    def offered(self, pod: Pod) -> bool:
        """Whether the queue asks about this waiting pod at all."""
        if self.audience is Audience.OWN:
            return isinstance(self.new, Pod) and identity(self.new) == identity(pod)
        if self.audience is Audience.LOWER_OR_EQUAL:
            return isinstance(self.old, Pod) and pod.priority <= self.old.priority
        return self.audience is Audience.ALL


RESOURCES: Final[dict[str, Resource]] = {
    "PersistentVolume": Resource.PERSISTENT_VOLUME,
    "PersistentVolumeClaim": Resource.PERSISTENT_VOLUME_CLAIM,
    "CSINode": Resource.CSI_NODE,
    "CSIDriver": Resource.CSI_DRIVER,
    "CSIStorageCapacity": Resource.CSI_STORAGE_CAPACITY,
    "VolumeAttachment": Resource.VOLUME_ATTACHMENT,
    "StorageClass": Resource.STORAGE_CLASS,
    "ResourceClaim": Resource.RESOURCE_CLAIM,
    "ResourceSlice": Resource.RESOURCE_SLICE,
    "DeviceClass": Resource.DEVICE_CLASS,
    "PodGroup": Resource.POD_GROUP,
    "CompositePodGroup": Resource.COMPOSITE_POD_GROUP,
}
"""Kinds of which every addition, update and deletion is one event; nodes and pods have finer ones."""


def identity(pod: Pod) -> str:
    """Return what tells a pod from a later one of the same name: its uid, or its key where it has none."""
    meta = pod.metadata
    return meta.uid or meta.key


def occurrences(old: KubeObject | None, new: KubeObject | None) -> tuple[Occurrence, ...]:
    """Return the events of one change, in the order in which the handlers make them.

    Parameters
    ----------
    old, new : KubeObject or None
        The versions before and after: no old one is an addition, no new one a deletion.

    Returns
    -------
    tuple of Occurrence
        Empty where the scheduler takes no notice: a kind that it does not watch, a heartbeat of a node.
    """
    if isinstance(new, Pod) or isinstance(old, Pod):
        return _pod(_live(old), _live(new))
    item = new if new is not None else old
    if isinstance(item, Node):
        return tuple(_node(old, new))
    resource = RESOURCES.get(item.kind) if item is not None else None
    if resource is None:
        return ()
    action = Action.ADD if old is None else Action.DELETE if new is None else Action.UPDATE
    return (Occurrence(ClusterEvent(resource, action), old, new),)


def _live(item: KubeObject | None) -> Pod | None:
    return item if isinstance(item, Pod) and not item.is_terminal else None


def _pod(old: Pod | None, new: Pod | None) -> tuple[Occurrence, ...]:
    if (
        old is not None
        and new is not None
        and old.metadata is not new.metadata
        and identity(old) != identity(new)
    ):
        # Informers may merge a deletion and the addition of a pod of the same name into one update.
        return (*_pod(old, None), *_pod(None, new))
    was_assigned = old is not None and bool(old.spec.node_name)
    is_assigned = new is not None and bool(new.spec.node_name)
    if was_assigned:
        if is_assigned or new is None:
            return _assigned(old, new)
        return (*_assigned(old, None), *_waiting(None, new))
    if is_assigned:
        return (*_assigned(None, new), *_waiting(old, None))
    return _waiting(old, new)


def _assigned(old: Pod | None, new: Pod | None) -> tuple[Occurrence, ...]:
    if new is not None and old is not None:
        return tuple([Occurrence(event, old, new) for event in pod_events(old, new)])
    if new is not None:
        return (Occurrence(events.ASSIGNED_POD_ADD, None, new),)
    if old is not None:
        return (Occurrence(events.ASSIGNED_POD_DELETE, old, None),)
    return ()


def _waiting(old: Pod | None, new: Pod | None) -> tuple[Occurrence, ...]:
    if old is None:
        if new is None:
            return ()
        # Its group may have waited for it.
        audience = Audience.NOBODY if group_name(new) is None else Audience.ALL
        return (Occurrence(events.POD_ADD, None, new, audience),)
    if new is None:
        found: tuple[Occurrence, ...] = (Occurrence(events.POD_DELETE, old, None, Audience.NOBODY),)
    else:
        found = tuple([Occurrence(event, old, new, Audience.OWN) for event in pod_events(old, new)])
    nominated = old.status.nominated_node_name
    if nominated and (new is None or new.status.nominated_node_name != nominated):
        # To pods of its priority and below it was as good as on that node.
        found = (*found, Occurrence(events.ASSIGNED_POD_DELETE, old, None, Audience.LOWER_OR_EQUAL))
    return found


def _node(old: KubeObject | None, new: KubeObject | None) -> Iterator[Occurrence]:
    if isinstance(old, Node) and isinstance(new, Node):
        for changed, action in _NODE_CHANGES:
            if changed(old, new):
                yield Occurrence(_OF_NODES[action], old, new)
    elif new is not None:
        yield Occurrence(events.NODE_ADD, None, new)
    else:
        yield Occurrence(events.NODE_DELETE, old, None)


def _conditions(node: Node) -> dict[str, str]:
    return {item.type: item.status for item in node.status.conditions}


_NODE_CHANGES: Final[tuple[tuple[Callable[[Node, Node], bool], Action], ...]] = (
    (lambda old, new: old.spec.unschedulable and not new.spec.unschedulable, Action.UPDATE_NODE_TAINT),
    (lambda old, new: old.status.allocatable != new.status.allocatable, Action.UPDATE_NODE_ALLOCATABLE),
    (lambda old, new: old.metadata.labels != new.metadata.labels, Action.UPDATE_NODE_LABEL),
    (lambda old, new: old.spec.taints != new.spec.taints, Action.UPDATE_NODE_TAINT),
    (
        lambda old, new: old.status is not new.status and _conditions(old) != _conditions(new),
        Action.UPDATE_NODE_CONDITION,
    ),
    (lambda old, new: old.metadata.annotations != new.metadata.annotations, Action.UPDATE_NODE_ANNOTATION),
    (
        lambda old, new: old.status.declared_features != new.status.declared_features,
        Action.UPDATE_NODE_DECLARED_FEATURE,
    ),
)


_OF_NODES: Final = {action: ClusterEvent(Resource.NODE, action) for _, action in _NODE_CHANGES}


def pod_events(old: Pod, new: Pod) -> tuple[ClusterEvent, ...]:
    """Return the events of a pod's update: one for each aspect that changed, else one general update."""
    if old.spec is new.spec and old.metadata is new.metadata and _same_in_status(old, new):
        return (
            events.ASSIGNED_POD_UPDATE if new.spec.node_name else events.POD_UPDATE,
        )  # as in most updates
    resource = Resource.ASSIGNED_POD if new.spec.node_name else Resource.UNSCHEDULABLE_POD
    found = [action for changed, action in _POD_CHANGES if changed(old, new)]
    return tuple(ClusterEvent(resource, action) for action in found or [Action.UPDATE])


def _same_in_status(old: Pod, new: Pod) -> bool:
    """Whether all that makes an event of its own in a status is the very same."""
    before, after = old.status, new.status
    return (
        before.container_statuses is after.container_statuses
        and before.init_container_statuses is after.init_container_statuses
        and before.resource_claim_statuses is after.resource_claim_statuses
    )


def _scaled_down(old: Pod, new: Pod) -> bool:
    before, after = running_pod_requests(old), running_pod_requests(new)
    return any(name not in after or after[name] < amount for name, amount in before.items())


_POD_CHANGES: Final[tuple[tuple[Callable[[Pod, Pod], bool], Action], ...]] = (
    (lambda old, new: old.metadata.labels != new.metadata.labels, Action.UPDATE_POD_LABEL),
    (_scaled_down, Action.UPDATE_POD_SCALE_DOWN),
    (
        lambda old, new: bool(old.spec.scheduling_gates) and not new.spec.scheduling_gates,
        Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED,
    ),
    (lambda old, new: len(old.spec.tolerations) != len(new.spec.tolerations), Action.UPDATE_POD_TOLERATION),
    (
        lambda old, new: old.status.resource_claim_statuses != new.status.resource_claim_statuses,
        Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM,
    ),
)


def schedulable_change(old: Pod, new: Pod) -> bool:
    """Whether an update could help a pod, as far as one can tell without hints.

    Its status does not count, apart from the claims made for it. (Gate SchedulerQueueingHints off.)
    """
    return (
        old.spec != new.spec
        or old.metadata.labels != new.metadata.labels
        or old.metadata.annotations != new.metadata.annotations
        or old.metadata.deletion_timestamp != new.metadata.deletion_timestamp
        or old.metadata.owner_references != new.metadata.owner_references
        or old.status.resource_claim_statuses != new.status.resource_claim_statuses
        or old.status.extended_resource_claim_status != new.status.extended_resource_claim_status
    )
