"""Pending pods for controllers that lack some: what the controller manager would create.

Deployments, ReplicaSets, StatefulSets and Jobs get the pods that are missing; a DaemonSet's pods depend on
the nodes and are left to the input. Names are the controller's and a number from 0, so that a run can be
repeated. All missing pods are pending at once, also those of a StatefulSet that would start them one by one.

Sources: kubernetes pkg/controller/{deployment,replicaset,statefulset,job}.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import count
from uuid import NAMESPACE_URL, uuid5

from ..models.controllers import Deployment, Job, ReplicaSet, ReplicaSetSpec, StatefulSet
from ..models.defaulting import default_pod
from ..models.meta import KubeObject, ObjectMeta, OwnerReference
from ..models.pod import Pod, PodSpec, PodStatus, PodTemplateSpec
from ..models.selectors import LabelSelector, int64
from ..models.storage import PersistentVolumeClaim
from ..models.volumes import PersistentVolumeClaimVolumeSource, Volume
from .objects import Objects

_REVISION = "deployment.kubernetes.io/revision"
_INDEX = "batch.kubernetes.io/job-completion-index"


def expand_controllers(objects: Objects) -> None:
    """Add to an input the pods that its controllers lack; StatefulSets, with fixed names, go first."""
    pods = _Pods(objects)
    for file, stateful_set in objects.with_files(StatefulSet):
        _expand_stateful_set(objects, file, stateful_set)
    for file, deployment in objects.with_files(Deployment):
        _expand_deployment(objects, pods, file, deployment)
    for file, replica_set in objects.with_files(ReplicaSet):
        owner = replica_set.metadata.controller
        if owner is None or not objects.has(owner.kind, f"{replica_set.namespace}/{owner.name}"):
            missing = replica_set.spec.replicas - pods.active(replica_set, replica_set.spec.selector)
            for name in pods.new_names(replica_set, missing):
                objects.include(file, _pod(replica_set, replica_set.spec.template, name))
    for file, job in objects.with_files(Job):
        _expand_job(objects, pods, file, job)


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
            self._indexes.setdefault(key, set()).add(pod.metadata.annotations.get(_INDEX, ""))

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


def _expand_deployment(objects: Objects, pods: _Pods, file: str, deployment: Deployment) -> None:
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
    if missing <= 0:
        return
    if owned:
        newest = max(owned, key=_revision)
    else:
        template = deployment.spec.template
        newest = ReplicaSet(
            metadata=_made_by(deployment, "ReplicaSet", deployment.name, template.metadata.labels),
            spec=ReplicaSetSpec(
                replicas=deployment.spec.replicas, selector=deployment.spec.selector, template=template
            ),
        )
        if not objects.has("ReplicaSet", newest.key):
            objects.include(file, newest)
    for name in pods.new_names(deployment, missing):
        objects.include(file, _pod(newest, newest.spec.template, name))


def _revision(item: ReplicaSet) -> int:
    text = item.metadata.annotations.get(_REVISION, "")
    return int64(text) or 0


def _expand_stateful_set(objects: Objects, file: str, stateful_set: StatefulSet) -> None:
    spec, namespace = stateful_set.spec, stateful_set.namespace
    start = spec.ordinals.start if spec.ordinals is not None else 0
    for ordinal in range(start, start + spec.replicas):
        name = f"{stateful_set.name}-{ordinal}"
        if objects.has("Pod", f"{namespace}/{name}"):
            continue
        volumes = {volume.name: volume for volume in spec.template.spec.volumes}
        for template in spec.volume_claim_templates:
            claim = f"{template.name}-{name}"
            source = PersistentVolumeClaimVolumeSource(claim_name=claim)
            volumes[template.name] = Volume(name=template.name, persistent_volume_claim=source)
            if not objects.has("PersistentVolumeClaim", f"{namespace}/{claim}"):
                meta = template.metadata.model_copy(
                    update={
                        "name": claim,
                        "namespace": namespace,
                        "uid": _uid("PersistentVolumeClaim", namespace, claim),
                    }
                )
                objects.include(file, PersistentVolumeClaim(metadata=meta, spec=template.spec))
        labels = {
            "apps.kubernetes.io/pod-index": str(ordinal),
            "statefulset.kubernetes.io/pod-name": name,
        }
        pod_spec = spec.template.spec.model_copy(update={"volumes": tuple(volumes.values())})
        objects.include(file, _pod(stateful_set, spec.template, name, labels=labels, spec=pod_spec))


def _expand_job(objects: Objects, pods: _Pods, file: str, job: Job) -> None:
    missing = _missing(pods, job)
    labels = {"batch.kubernetes.io/job-name": job.name, "job-name": job.name}
    if job.spec.completion_mode != "Indexed":
        for name in pods.new_names(job, missing):
            objects.include(file, _pod(job, job.spec.template, name, labels=labels))
        return
    taken = pods.indexes(job)
    free = [str(index) for index in range(job.spec.completions or 0) if str(index) not in taken]
    for index in free[: max(0, missing)]:
        name = f"{job.name}-{index}"
        if objects.has("Pod", f"{job.namespace}/{name}"):
            name = next(pods.new_names(job, 1))
        pod = _pod(
            job,
            job.spec.template,
            name,
            labels={**labels, _INDEX: index},
            annotations={_INDEX: index},
        )
        objects.include(file, pod)


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
