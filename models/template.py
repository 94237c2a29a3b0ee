"""A pod, or a gang of like pods, of which a cluster is to take as many copies as it can (docs/fit.md).

Sources: kubernetes pkg/controller/{resourceclaim,volume/ephemeral} for the claims of a copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import TypeVar
from uuid import NAMESPACE_URL, uuid5

from .meta import ObjectMeta, OwnerReference
from .pod import Pod, PodResourceClaimStatus, PodSchedulingGroup, PodStatus
from .resource_api import ResourceClaim
from .scheduling import CompositePodGroup, PodGroup
from .snapshot import Snapshot
from .storage import PersistentVolumeClaim

_Ranked = TypeVar("_Ranked", Pod, PodGroup, CompositePodGroup)


@dataclass(frozen=True)
class Template:
    """What is copied.

    Attributes
    ----------
    pod : Pod
        The pod, or the member of the gang.
    group : PodGroup or None
        The gang; a copy of it has as many members as it has to have (`minCount`).
    """

    pod: Pod
    group: PodGroup | None = None

    @property
    def key(self) -> str:
        """The name of what is copied."""
        return self.pod.key if self.group is None else self.group.key

    @property
    def size(self) -> int:
        """Pods of one copy."""
        gang = None if self.group is None else self.group.spec.scheduling_policy.gang
        return 1 if gang is None or gang.min_count is None else gang.min_count

    @property
    def level(self) -> int:
        """The priority of the copies in the round that `beside` makes; no other pod has it."""
        return 2 * self.pod.priority - 1

    def beside(self, snapshot: Snapshot, copies: int) -> Round:
        """Return a round with copies beside all that a snapshot holds.

        In the queue they come after pods of their own priority and before those of a lower one. All
        priorities are doubled, guards with them, and the copies' is one less than that: so they are a level
        of their own, with the same pods above, below and in their way as before.
        """
        made = _Copies(self, snapshot)
        for _ in range(copies):
            made.add()
        pods = tuple(map(_doubled, snapshot.pods))
        groups = tuple(map(_doubled, snapshot.pod_groups))
        changed = replace(
            snapshot,
            pods=(*pods, *made.pods),
            pod_groups=(*groups, *made.groups),
            composite_pod_groups=tuple(map(_doubled, snapshot.composite_pod_groups)),
            resource_claims=(*snapshot.resource_claims, *made.claims),
            persistent_volume_claims=(*snapshot.persistent_volume_claims, *made.volume_claims),
        )
        return Round(changed, tuple(made.keys))


@dataclass(frozen=True)
class Round:
    """A snapshot with copies, and the pods of each copy."""

    snapshot: Snapshot
    copies: tuple[tuple[str, ...], ...]

    @cached_property
    def copy_of(self) -> dict[str, int]:
        """Pod -> the number of the copy that it belongs to."""
        return {pod: number for number, pods in enumerate(self.copies) for pod in pods}


def _doubled(item: _Ranked) -> _Ranked:
    """Double the priority of a pod or group; what compares with it compares as before."""
    change: dict[str, int] = {}
    if item.spec.priority is not None:
        change["priority"] = 2 * item.spec.priority
    guard = getattr(item.spec, "allow_disruption_by_priority_greater_than_or_equal", None)
    if guard is not None:  # copies of the guard's priority reach it, too
        change["allow_disruption_by_priority_greater_than_or_equal"] = 2 * guard - 1
    return item.model_copy(update={"spec": item.spec.model_copy(update=change)}) if change else item


class _Copies:
    """Copies under construction, with names that are free."""

    def __init__(self, template: Template, snapshot: Snapshot) -> None:
        self._template = template
        self._now = snapshot.now
        self._pod_names = _free(template.pod.metadata, (pod.key for pod in snapshot.pods))
        if template.group is not None:
            self._group_names = _free(template.group.metadata, (group.key for group in snapshot.pod_groups))
        self._templates = {item.key: item for item in snapshot.resource_claim_templates}
        self.pods: list[Pod] = []
        self.groups: list[PodGroup] = []
        self.claims: list[ResourceClaim] = []
        self.volume_claims: list[PersistentVolumeClaim] = []
        self.keys: list[tuple[str, ...]] = []

    def add(self) -> None:
        """Make one more copy."""
        group, level = self._template.group, self._template.level
        change: dict[str, object] = {"priority": level}
        if group is not None:
            name = next(self._group_names)
            # A group without a priority has 0: copies of that priority state their level, lest one copy
            # preempt another.
            unstated = group.spec.priority is None and self._template.pod.priority
            stated = {} if unstated else {"priority": level}
            self.groups.append(
                group.model_copy(
                    update={
                        "metadata": self._named(group.metadata, "PodGroup", name),
                        "spec": group.spec.model_copy(update=stated),
                    }
                )
            )
            change["scheduling_group"] = PodSchedulingGroup(pod_group_name=name)
        made = [self._pod(change) for _ in range(self._template.size)]
        self.pods += made
        self.keys.append(tuple(pod.key for pod in made))

    def _pod(self, change: dict[str, object]) -> Pod:
        pod = self._template.pod
        meta = self._named(pod.metadata, "Pod", next(self._pod_names))
        copy = pod.model_copy(
            update={
                "metadata": meta,
                "spec": pod.spec.model_copy(update={**change, "node_name": type(pod.spec)().node_name}),
            }
        )
        self.volume_claims += _volume_claims_of(copy)
        own = tuple(self._claims_of(copy))
        return copy.model_copy(update={"status": PodStatus(phase="Pending", resource_claim_statuses=own)})

    def _claims_of(self, pod: Pod) -> Iterator[PodResourceClaimStatus]:
        """Make the claims that the claim controller would make for a new pod."""
        for wanted in pod.spec.resource_claims:
            template = self._templates.get(f"{pod.namespace}/{wanted.resource_claim_template_name}")
            if template is None:
                continue
            name = f"{pod.name}-{wanted.name}"
            meta = _owned(pod, "ResourceClaim", name, template.spec.metadata)
            self.claims.append(ResourceClaim(metadata=meta, spec=template.spec.spec))
            yield PodResourceClaimStatus(name=wanted.name, resource_claim_name=name)

    def _named(self, meta: ObjectMeta, kind: str, name: str) -> ObjectMeta:
        uid = _uid(kind, meta.namespace, name)
        change = {"name": name, "uid": uid, "creation_timestamp": self._now, "deletion_timestamp": None}
        return meta.model_copy(update=change)


def _free(meta: ObjectMeta, taken: Iterator[str]) -> Iterator[str]:
    """Yield names for copies of an object, those that others have left out."""
    known = frozenset(taken)
    names = (f"{meta.name}-{number}" for number in count())
    return (name for name in names if f"{meta.namespace}/{name}" not in known)


def _volume_claims_of(pod: Pod) -> Iterator[PersistentVolumeClaim]:
    """Make the claims that the controller of ephemeral volumes would make for a new pod."""
    for volume in pod.spec.volumes:
        wanted = None if volume.ephemeral is None else volume.ephemeral.volume_claim_template
        if wanted is not None:
            name = f"{pod.name}-{volume.name}"
            meta = _owned(pod, "PersistentVolumeClaim", name, wanted.metadata)
            yield PersistentVolumeClaim(metadata=meta, spec=wanted.spec)


def _owned(pod: Pod, kind: str, name: str, template: ObjectMeta) -> ObjectMeta:
    """Return the metadata of a claim that goes with a pod."""
    owner = OwnerReference(api_version="v1", kind="Pod", name=pod.name, uid=pod.metadata.uid, controller=True)
    return ObjectMeta(
        name=name,
        namespace=pod.namespace,
        uid=_uid(kind, pod.namespace, name),
        labels=template.labels,
        annotations=template.annotations,
        owner_references=(owner,),
    )


def _uid(kind: str, namespace: str, name: str) -> str:
    return str(uuid5(NAMESPACE_URL, f"kubestow:{kind}/{namespace}/{name}"))
