"""The pods of controllers: who belongs to which workload, and new ones from a template.

A pod belongs to the workload that its controller reference names: by API group, kind and name, and by uid
where both have one. A workload that the cluster never had is another matter than one that was deleted: its
pods stay.

Source: kubernetes pkg/controller/controller_ref_manager.go, controller_utils.go.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ..models.defaulting import default_pod
from ..models.meta import KubeObject, ObjectMeta, OwnerReference
from ..models.pod import Pod, PodStatus, PodTemplateSpec
from .world import World

Key = tuple[str, str]
"""Kind and key of a workload."""


class Offspring:
    """The pods of some kinds of workloads.

    Parameters
    ----------
    world : World
    kinds : mapping
        Kind to class.
    """

    def __init__(self, world: World, kinds: Mapping[str, type[KubeObject]]) -> None:
        self._world = world
        self._kinds = kinds
        self._owned: dict[Key, dict[str, None]] = {}
        self._deleted: dict[Key, KubeObject] = {}
        self._numbers: Counter[Key] = Counter()
        self._templates: dict[tuple[Key, int], tuple[PodTemplateSpec, Pod]] = {}

    def parent(self, item: KubeObject) -> Key | None:
        """Return the workload of these kinds that controls an object, None where there is none."""
        owner = item.metadata.controller
        model = self._kinds.get(owner.kind) if owner is not None else None
        if owner is None or model is None:
            return None
        if owner.api_version and _group(owner.api_version) != _group(_version(model)):
            return None  # such as the StatefulSet of apps.kruise.io
        return (owner.kind, f"{item.namespace}/{owner.name}")

    def follow(self, key: Key, old: KubeObject | None, new: KubeObject | None) -> None:
        """Take note of a pod of a workload that came, changed or went."""
        owned = self._owned.setdefault(key, {})
        if new is not None:
            owned[new.key] = None
        elif old is not None:
            owned.pop(old.key, None)

    def deleted(self, item: KubeObject) -> None:
        """Take note of a workload that is deleted: its pods are garbage from now on."""
        self._deleted[item.kind, item.key] = item

    def pods(self, item: KubeObject, among: Iterable[str] | None = None) -> list[Pod]:
        """Return a workload's pods, or those of them that are among some pods, by key."""
        keys = self._owned.get((item.kind, item.key), ()) if among is None else among
        found = (self._world.pod(key) for key in keys)
        return [pod for pod in found if pod is not None and _refers(pod, item)]

    def active(self, item: KubeObject) -> list[Pod]:
        """Return a workload's pods that have not finished and do not terminate."""
        return [pod for pod in self.pods(item) if not pod.is_terminal and not pod.is_terminating]

    def orphans(self, key: Key) -> list[Pod]:
        """Return the pods of a workload that is not there, if it was before; those of an unknown one stay."""
        item = self._deleted.get(key)
        if item is not None:
            return self.pods(item)
        if self._owned.get(key):
            kind, name = key
            self._world.record.note(
                f"{kind} {name} is not in the input: its pods stay, none takes their place"
            )
        return []

    def next_name(self, item: KubeObject) -> str:
        """Return a pod's name: the workload's and a number that was never used before."""
        key = (item.kind, item.key)
        while True:
            name = f"{item.name}-{self._numbers[key]}"
            self._numbers[key] += 1
            if self._world.pod(f"{item.namespace}/{name}") is None:
                return name

    def create(
        self,
        item: KubeObject,
        template: PodTemplateSpec,
        name: str,
        labels: dict[str, str] | None = None,
        annotations: dict[str, str] | None = None,
        spec: dict[str, Any] | None = None,
    ) -> None:
        """Make a pod of a workload; `labels`, `annotations` and `spec` go beyond its template."""
        known = self._templates.get(((item.kind, item.key), id(template)))
        if known is None:
            # One specification for all pods of a template, so that they are seen to be alike at once.
            fresh = Pod(metadata=template.metadata, spec=template.spec)
            known = (template, default_pod(fresh.model_copy(update={"status": PodStatus(phase="Pending")})))
            self._templates[(item.kind, item.key), id(template)] = known
        pod = known[1]
        meta = owned_by(item, name, {**template.metadata.labels, **(labels or {})})
        meta = meta.model_copy(
            update={"annotations": {**template.metadata.annotations, **(annotations or {})}}
        )
        if spec:
            pod = pod.model_copy(update={"spec": pod.spec.model_copy(update=spec)})
        self._world.put(pod.model_copy(update={"metadata": meta}))


def owned_by(owner: KubeObject, name: str, labels: dict[str, str]) -> ObjectMeta:
    """Return the metadata of an object that a workload makes."""
    reference = OwnerReference(
        api_version=owner.api_version,
        kind=owner.kind,
        name=owner.name,
        uid=owner.metadata.uid,
        controller=True,
    )
    return ObjectMeta(name=name, namespace=owner.namespace, labels=labels, owner_references=(reference,))


def _refers(pod: Pod, item: KubeObject) -> bool:
    owner = pod.metadata.controller
    mine = owner.uid if owner is not None else ""
    return not mine or not item.metadata.uid or mine == item.metadata.uid


def _version(model: type[KubeObject]) -> str:
    version: str = model.model_fields["api_version"].default
    return version


def _group(version: str) -> str:
    """Return the API group of an `apiVersion`."""
    return version.rpartition("/")[0]
