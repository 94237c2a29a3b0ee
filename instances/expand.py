"""Pending pods for controllers that lack some: what the controller manager would create.

Deployments, ReplicaSets, StatefulSets and Jobs get the pods that are missing; a DaemonSet's pods depend on
the nodes and are left to the input. Names are the controller's and a number from 0, so that a run can be
repeated. All missing pods are pending at once, also those of a StatefulSet that would start them one by one.

Sources: kubernetes pkg/controller/{deployment,replicaset,statefulset,job}.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count, islice
from uuid import NAMESPACE_URL, uuid5

from ..models.annotations import COMPLETION_INDEX, REVISION
from ..models.controllers import Deployment, Job, ReplicaSet, ReplicaSetSpec, StatefulSet
from ..models.defaulting import default_pod
from ..models.errors import InputError
from ..models.meta import KubeObject, ObjectMeta, OwnerReference
from ..models.pod import Pod, PodSpec, PodStatus, PodTemplateSpec
from ..models.selectors import LabelSelector, int64
from ..models.storage import PersistentVolumeClaim
from ..models.volumes import PersistentVolumeClaimVolumeSource, Volume
from .crowds import MOST_PODS
from .objects import Objects


def expand_controllers(objects: Objects) -> None:
    """Add to an input the pods that its controllers lack; StatefulSets, with fixed names, go first.

    Raises
    ------
    InputError
        If they would be more than a cluster can hold.
    """
    pods = _Pods(objects)
    makers: list[_Maker] = []
    total = 0
    for maker in chain(
        (_of_stateful_set(objects, file, item) for file, item in objects.with_files(StatefulSet)),
        (_of_deployment(objects, pods, file, item) for file, item in objects.with_files(Deployment)),
        (_of_replica_set(objects, pods, file, item) for file, item in objects.with_files(ReplicaSet)),
        (_of_job(objects, pods, file, item) for file, item in objects.with_files(Job)),
    ):
        total += max(0, maker.missing)
        if total > MOST_PODS:
            message = f"would bring --expand to {total} pods; {MOST_PODS} is the most"
            raise InputError(maker.file, f"{maker.owner.kind} {maker.owner.key}", maker.field, message)
        makers.append(maker)
    for maker in makers:
        if maker.missing > 0:
            maker.make(maker.missing)


def expand_workload(objects: Objects, item: KubeObject) -> None:
    """Add the pods that one workload of an input lacks; otherwise as `expand_controllers`."""
    pods = _Pods(objects)
    if isinstance(item, StatefulSet):
        maker = _of_stateful_set(objects, "", item)
    elif isinstance(item, Deployment):
        maker = _of_deployment(objects, pods, "", item)
    elif isinstance(item, ReplicaSet):
        maker = _of_replica_set(objects, pods, "", item)
    elif isinstance(item, Job):
        maker = _of_job(objects, pods, "", item)
    else:
        raise TypeError(item.kind)
    if maker.missing > 0:
        maker.make(maker.missing)


@dataclass(frozen=True)
class _Maker:
    """How many pods a controller lacks, and the function that makes them."""

    file: str
    owner: KubeObject
    field: str
    missing: int
    make: Callable[[int], None]


class _Pods:
    """The pods of an input by controller, as its controllers count them."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._active: Counter[tuple[str, str, str]] = Counter()
        self._succeeded: Counter[tuple[str, str, str]] = Counter()
        self._orphans: dict[str, list[Mapping[str, str]]] = {}
        self._indexes: dict[tuple[str, str, str], set[str]] = {}
        for pod in objects.of(Pod):
            owner = pod.metadata.controller
            key = (pod.namespace, owner.kind, owner.name) if owner else (pod.namespace, "", "")
            if pod.status.phase == "Succeeded":
                self._succeeded[key] += 1
            elif pod.is_terminal or pod.is_terminating:
                continue
            elif owner is None:
                self._orphans.setdefault(pod.namespace, []).append(pod.metadata.labels)
            else:
                self._active[key] += 1
            self._indexes.setdefault(key, set()).add(pod.metadata.annotations.get(COMPLETION_INDEX, ""))

    def active(self, owner: KubeObject, selector: LabelSelector | None) -> int:
        """Return how many pods count for a controller: its own, and those without one that it would adopt."""
        own = self._active[owner.namespace, owner.kind, owner.name]
        if selector is None:
            return own
        return own + sum(selector.matches(labels) for labels in self._orphans.get(owner.namespace, ()))

    def of_lost_replica_sets(self, deployment: Deployment) -> int:
        """Return how many pods belong to ReplicaSets of a Deployment that the input does not hold."""
        namespace, prefix = deployment.namespace, f"{deployment.name}-"
        return sum(
            number
            for (where, kind, name), number in self._active.items()
            if where == namespace
            and kind == "ReplicaSet"
            and name.startswith(prefix)
            and "-" not in name[len(prefix) :]
            and not self._objects.has(kind, f"{namespace}/{name}")
        )

    def succeeded(self, owner: KubeObject) -> int:
        """Return how many pods of a controller have succeeded."""
        return self._succeeded[owner.namespace, owner.kind, owner.name]

    def indexes(self, owner: KubeObject) -> set[str]:
        """Return the completion indexes that pods of a Job have taken."""
        return self._indexes.get((owner.namespace, owner.kind, owner.name), set())

    def new_names(self, owner: KubeObject, number: int) -> Iterator[str]:
        """Yield names for new pods, as they are free."""
        for index in count():
            if number <= 0:
                return
            name = f"{owner.name}-{index}"
            if not self._objects.has("Pod", f"{owner.namespace}/{name}"):
                number -= 1
                yield name


def _uid(kind: str, namespace: str, name: str) -> str:
    return str(uuid5(NAMESPACE_URL, f"kubestow:{kind}/{namespace}/{name}"))


def _made_by(owner: KubeObject, kind: str, name: str, labels: Mapping[str, str]) -> ObjectMeta:
    reference = OwnerReference(
        api_version=owner.api_version,
        kind=owner.kind,
        name=owner.name,
        uid=owner.metadata.uid,
        controller=True,
    )
    return ObjectMeta(
        name=name,
        namespace=owner.namespace,
        uid=_uid(kind, owner.namespace, name),
        labels=dict(labels),
        creation_timestamp=owner.metadata.creation_timestamp,
        owner_references=(reference,),
    )


def _pod(
    owner: KubeObject,
    template: PodTemplateSpec,
    name: str,
    *,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    spec: PodSpec | None = None,
) -> Pod:
    labels = {**template.metadata.labels, **(labels or {})}
    meta = _made_by(owner, "Pod", name, labels).model_copy(
        update={"annotations": {**template.metadata.annotations, **(annotations or {})}}
    )
    # Defaults come before the uid: a pod with one counts as stored.
    fresh = Pod(
        metadata=meta.model_copy(update={"uid": ""}),
        spec=spec or template.spec,
        status=PodStatus(phase="Pending"),
    )
    return default_pod(fresh).model_copy(update={"metadata": meta})


def _of_replica_set(objects: Objects, pods: _Pods, file: str, item: ReplicaSet) -> _Maker:
    owner = item.metadata.controller
    owned = owner is not None and objects.has(owner.kind, f"{item.namespace}/{owner.name}")
    missing = 0 if owned else item.spec.replicas - pods.active(item, item.spec.selector)

    def make(number: int) -> None:
        for name in pods.new_names(item, number):
            objects.include(file, _pod(item, item.spec.template, name))

    return _Maker(file, item, "spec.replicas", missing, make)


def _of_deployment(objects: Objects, pods: _Pods, file: str, deployment: Deployment) -> _Maker:
    """Give a Deployment's newest ReplicaSet the missing pods; without any it gets one of its own name."""
    owned = [
        item
        for item in objects.of(ReplicaSet)
        if item.namespace == deployment.namespace
        and (owner := item.metadata.controller) is not None
        and (owner.kind, owner.name) == ("Deployment", deployment.name)
    ]
    missing = deployment.spec.replicas - pods.of_lost_replica_sets(deployment)
    missing -= sum(pods.active(item, None) for item in owned)
    missing -= pods.active(deployment, deployment.spec.selector)

    def make(number: int) -> None:
        newest = max(owned, key=_revision) if owned else _first_replica_set(deployment)
        if not owned and not objects.has("ReplicaSet", newest.key):
            objects.include(file, newest)
        for name in pods.new_names(deployment, number):
            objects.include(file, _pod(newest, newest.spec.template, name))

    return _Maker(file, deployment, "spec.replicas", missing, make)


def _first_replica_set(deployment: Deployment) -> ReplicaSet:
    spec = deployment.spec
    return ReplicaSet(
        metadata=_made_by(deployment, "ReplicaSet", deployment.name, spec.template.metadata.labels),
        spec=ReplicaSetSpec(replicas=spec.replicas, selector=spec.selector, template=spec.template),
    )


def _revision(item: ReplicaSet) -> int:
    text = item.metadata.annotations.get(REVISION, "")
    return int64(text) or 0


def _of_stateful_set(objects: Objects, file: str, stateful_set: StatefulSet) -> _Maker:
    spec, prefix = stateful_set.spec, f"{stateful_set.key}-"
    start = spec.ordinals.start if spec.ordinals is not None else 0
    ordinals = range(start, start + spec.replicas)
    too_many = spec.replicas > MOST_PODS + len(objects.of(Pod))
    there = 0 if too_many else sum(objects.has("Pod", f"{prefix}{each}") for each in ordinals)

    def make(number: int) -> None:
        for ordinal in ordinals:
            if not objects.has("Pod", f"{prefix}{ordinal}"):
                _include_ordinal(objects, file, stateful_set, ordinal)

    return _Maker(file, stateful_set, "spec.replicas", spec.replicas - there, make)


def _include_ordinal(objects: Objects, file: str, stateful_set: StatefulSet, ordinal: int) -> None:
    """Add one pod of a StatefulSet, with the claims that it lacks."""
    spec, namespace = stateful_set.spec, stateful_set.namespace
    name = f"{stateful_set.name}-{ordinal}"
    volumes = {volume.name: volume for volume in spec.template.spec.volumes}
    for template in spec.volume_claim_templates:
        claim = f"{template.name}-{name}"
        source = PersistentVolumeClaimVolumeSource(claim_name=claim)
        volumes[template.name] = Volume(name=template.name, persistent_volume_claim=source)
        if not objects.has("PersistentVolumeClaim", f"{namespace}/{claim}"):
            uid = _uid("PersistentVolumeClaim", namespace, claim)
            change = {"name": claim, "namespace": namespace, "uid": uid}
            meta = template.metadata.model_copy(update=change)
            objects.include(file, PersistentVolumeClaim(metadata=meta, spec=template.spec))
    labels = {
        "apps.kubernetes.io/pod-index": str(ordinal),
        "statefulset.kubernetes.io/pod-name": name,
    }
    pod_spec = spec.template.spec.model_copy(update={"volumes": tuple(volumes.values())})
    objects.include(file, _pod(stateful_set, spec.template, name, labels=labels, spec=pod_spec))


def _of_job(objects: Objects, pods: _Pods, file: str, job: Job) -> _Maker:
    labels = {"batch.kubernetes.io/job-name": job.name, "job-name": job.name}

    def make(number: int) -> None:
        for name in pods.new_names(job, number):
            objects.include(file, _pod(job, job.spec.template, name, labels=labels))

    def make_indexed(number: int) -> None:
        taken = pods.indexes(job)
        free = (index for index in map(str, range(job.spec.completions or 0)) if index not in taken)
        for index in islice(free, number):
            name = f"{job.name}-{index}"
            if objects.has("Pod", f"{job.namespace}/{name}"):
                name = next(pods.new_names(job, 1))
            pod = _pod(
                job,
                job.spec.template,
                name,
                labels={**labels, COMPLETION_INDEX: index},
                annotations={COMPLETION_INDEX: index},
            )
            objects.include(file, pod)

    indexed = job.spec.completion_mode == "Indexed"
    return _Maker(file, job, "spec.parallelism", _missing(pods, job), make_indexed if indexed else make)


def _missing(pods: _Pods, job: Job) -> int:
    """Return how many pods a Job would start now."""
    spec = job.spec
    finished = any(
        item.type in ("Complete", "Failed") and item.status == "True" for item in job.status.conditions
    )
    if spec.suspend or finished:
        return 0
    parallelism = 1 if spec.parallelism is None else spec.parallelism
    succeeded = max(job.status.succeeded, pods.succeeded(job))
    active = pods.active(job, None)
    if spec.completions is None and spec.parallelism is not None:
        # A work queue: once a pod has succeeded, no other is started.
        return 0 if succeeded else parallelism - active
    completions = 1 if spec.completions is None else spec.completions
    return min(parallelism, completions - succeeded) - active
