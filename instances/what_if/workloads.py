"""Workloads with another number of copies: those that are missing are made, those that are too many go.

Which copies a Deployment gives up is decided among all its ReplicaSets at once. Copies leave at once, without
the time that they take to terminate.

Source: kubernetes pkg/controller/{replicaset,statefulset,job}.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final

from ...models.admission import PriorityClasses, admit
from ...models.controllers import Deployment, Job, ReplicaSet, StatefulSet
from ...models.errors import KubestowError
from ...models.leaving import without_pods
from ...models.meta import KubeObject
from ...models.pod import Pod
from ...models.storage import PersistentVolumeClaim
from ...models.surplus import ordinal_of, who_goes_first
from ...models.validation import title
from ..crowds import MOST_PODS
from ..expand import expand_workload
from ..objects import Objects
from .references import find, with_object

if TYPE_CHECKING:
    from ...models.changes import Changed, ScaleWorkload
    from ...models.snapshot import Snapshot

_SCALABLE: Final = ("Deployment", "ReplicaSet", "StatefulSet", "Job")


def scale(changed: Changed, change: ScaleWorkload) -> Changed:
    """Give a workload another number of copies."""
    snapshot = changed.snapshot
    if not 0 <= change.replicas <= MOST_PODS:
        raise KubestowError(f"{change.replicas} copies cannot be had; from 0 to {MOST_PODS} can")
    old = find(snapshot, change.workload, _SCALABLE)
    _refuse_owned(snapshot, old)
    field = "parallelism" if isinstance(old, Job) else "replicas"
    new = old.model_copy(update={"spec": old.spec.model_copy(update={field: change.replicas})})
    snapshot = with_object(snapshot, old, new)
    surplus = _surplus(snapshot, new)
    snapshot = without_pods(snapshot, surplus, ())
    snapshot, made = _filled(snapshot, new)
    return replace(
        changed,
        snapshot=snapshot,
        removed=(*changed.removed, *surplus),
        new_pods=(*(key for key in changed.new_pods if key not in surplus), *made),
        made_again={key: node for key, node in changed.made_again.items() if key not in surplus},
    )


def _refuse_owned(snapshot: Snapshot, item: KubeObject) -> None:
    """Refuse to scale what a Deployment of the input would scale back."""
    owner = item.metadata.controller
    if owner is not None and owner.kind == "Deployment":
        key = f"{item.namespace}/{owner.name}"
        if any(parent.key == key for parent in snapshot.deployments):
            raise KubestowError(f"{title(item)} is kept at its number by Deployment {key}: scale that")


def _surplus(snapshot: Snapshot, item: Any) -> list[str]:
    """Return the pods (keys) that a workload has too many, in the order in which they go."""
    family = _Family(snapshot, item)
    active = [
        pod for pod in snapshot.pods if not pod.is_terminal and not pod.is_terminating and pod in family
    ]
    if isinstance(item, StatefulSet):
        start = item.spec.ordinals.start if item.spec.ordinals is not None else 0
        last = start + item.spec.replicas
        return [pod.key for pod in sorted(active, key=ordinal_of, reverse=True) if ordinal_of(pod) >= last]
    wanted: int = (item.spec.parallelism if isinstance(item, Job) else item.spec.replicas) or 0
    return [pod.key for pod in sorted(active, key=who_goes_first)[: max(0, len(active) - wanted)]]


class _Family:
    """Whether pods count for a workload: its own, or those of a Deployment's ReplicaSets, known or not."""

    def __init__(self, snapshot: Snapshot, item: KubeObject) -> None:
        self._item = item
        self._deployment = isinstance(item, Deployment)
        self._sets = {
            each.name: (owner.kind, owner.name) == (item.kind, item.name) if owner is not None else False
            for each in snapshot.replica_sets
            if each.namespace == item.namespace
            for owner in [each.metadata.controller]
        }

    def __contains__(self, pod: Pod) -> bool:
        owner, item = pod.metadata.controller, self._item
        if owner is None or pod.namespace != item.namespace:
            return False
        if (owner.kind, owner.name) == (item.kind, item.name):
            return True
        if not self._deployment or owner.kind != "ReplicaSet":
            return False
        prefix = f"{item.name}-"
        lost = owner.name.startswith(prefix) and "-" not in owner.name.removeprefix(prefix)
        return self._sets.get(owner.name, lost)


def _filled(snapshot: Snapshot, item: KubeObject) -> tuple[Snapshot, list[str]]:
    """Return a snapshot in which a workload has the copies that it lacked, and their keys."""
    objects = Objects()
    for field in fields(snapshot):
        items = getattr(snapshot, field.name)
        for each in items if isinstance(items, tuple) else ():
            if isinstance(each, KubeObject):
                objects.include("", each)
    expand_workload(objects, item)
    classes = PriorityClasses(snapshot.priority_classes)
    made = [
        admit(_created(pod, snapshot), classes, title(item)) for pod in objects.of(Pod)[len(snapshot.pods) :]
    ]
    return (
        replace(
            snapshot,
            pods=(*snapshot.pods, *made),
            replica_sets=objects.of(ReplicaSet),
            persistent_volume_claims=objects.of(PersistentVolumeClaim),
        ),
        [pod.key for pod in made],
    )


def _created(pod: Pod, snapshot: Snapshot) -> Pod:
    """Return a pod that was made at the time of the round."""
    meta = pod.metadata.model_copy(update={"creation_timestamp": snapshot.now})
    return pod.model_copy(update={"metadata": meta})
