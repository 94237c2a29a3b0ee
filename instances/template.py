"""What `kubestow fit` copies: a Pod of a file or of the instance, with its gang if it is a member of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..models.admission import PriorityClasses, admit
from ..models.errors import InputError, KubestowError
from ..models.pod import Pod
from ..models.scheduling import PodGroup
from ..models.template import Template
from .documents import read_documents
from .files import read_files
from .objects import Objects

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ..models.snapshot import Snapshot


def load_template(path: str | Path, snapshot: Snapshot) -> Template:
    """Read a template; priorities are those of the snapshot's PriorityClasses.

    Raises
    ------
    InputError
        For anything that the API server would refuse, and where the file is not one Pod, or with its gang.
    """
    objects = Objects()
    name = str(path)
    for file, content in read_files([path]):
        for number, document in enumerate(read_documents(file, content), 1):
            objects.add(file, document, f"document {number}")
    pods, groups = objects.of(Pod), objects.of(PodGroup)
    if len(pods) != 1:
        raise InputError(name, "", "", f"has {len(pods)} Pods; what is needed is one, the template")
    if len(groups) > 1:
        raise InputError(name, "", "", f"has {len(groups)} PodGroups; what is needed is one, the gang")
    classes = PriorityClasses(snapshot.priority_classes)
    pod = admit(pods[0], classes, name)
    admitted = [admit(group, classes, name) for group in groups]
    if admitted and _group_of(pod) != admitted[0].key:
        words = f"names no member of PodGroup {admitted[0].key}; its podGroupName would be {admitted[0].name}"
        raise InputError(name, f"Pod {pod.key}", "spec.schedulingGroup", words)
    return _template(name, pod, admitted, snapshot)


def template_of(snapshot: Snapshot, name: str) -> Template:
    """Return a pod of a snapshot as a template, running or not.

    Parameters
    ----------
    name : str
        `namespace/name`, or a name that only one pod has.

    Raises
    ------
    KubestowError
        Where there is no such pod, or it is a member of a group that is no gang.
    """
    found = [pod for pod in snapshot.pods if name in (pod.key, pod.name)]
    if not found:
        raise KubestowError(f"--pod: '{name}' is no file, and no pod of {snapshot.name}")
    if len(found) > 1:
        raise KubestowError(f"--pod: '{name}' is one of {', '.join(pod.key for pod in found)}")
    return _template(snapshot.name, found[0], snapshot.pod_groups, snapshot)


def _group_of(pod: Pod) -> str:
    """Return the key of the PodGroup that a pod names; empty where it names none."""
    member_of = pod.spec.scheduling_group
    return "" if member_of is None else f"{pod.namespace}/{member_of.pod_group_name}"


def _require_made(name: str, pod: Pod, snapshot: Snapshot) -> None:
    """Refuse a pod of which a copy would never have its claims: what they are made from is not there."""
    templates = {item.key for item in snapshot.resource_claim_templates}
    for number, entry in enumerate(pod.spec.resource_claims):
        wanted = entry.resource_claim_template_name
        if wanted is not None and f"{pod.namespace}/{wanted}" not in templates:
            field = f"spec.resourceClaims[{number}].resourceClaimTemplateName"
            words = (
                f"names ResourceClaimTemplate {pod.namespace}/{wanted}, which {snapshot.name} does not have"
            )
            raise InputError(name, f"Pod {pod.key}", field, words)
    classes = {item.name for item in snapshot.storage_classes}
    for number, volume in enumerate(pod.spec.volumes):
        made = None if volume.ephemeral is None else volume.ephemeral.volume_claim_template
        named = None if made is None else made.spec.storage_class_name
        if named and named not in classes:
            field = f"spec.volumes[{number}].ephemeral.volumeClaimTemplate.spec.storageClassName"
            words = f"names StorageClass {named}, which {snapshot.name} does not have"
            raise InputError(name, f"Pod {pod.key}", field, words)


def _template(name: str, pod: Pod, groups: Iterable[PodGroup], snapshot: Snapshot) -> Template:
    _require_made(name, pod, snapshot)
    if pod.spec.workload_ref is not None:
        words = "is a member of a Workload by v1alpha1, of which no copies are made; schedulingGroup is known"
        raise InputError(name, f"Pod {pod.key}", "spec.workloadRef", words)
    key = _group_of(pod)
    if not key:
        return Template(pod)
    group = next((group for group in groups if group.key == key), None)
    if group is None:
        words = f"names PodGroup {key}, which is not there: a copy of the pod is a copy of its gang"
        raise InputError(name, f"Pod {pod.key}", "spec.schedulingGroup", words)
    gang = group.spec.scheduling_policy.gang
    if gang is None or gang.min_count is None:
        words = "is no gang: a copy needs minCount, which is how many pods it has"
        raise InputError(name, f"PodGroup {group.key}", "spec.schedulingPolicy", words)
    return Template(pod, group)
