"""What `kubestow fit` copies, from a file: a Pod, or a PodGroup and the Pod that is its member."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..models.admission import PriorityClasses, admit
from ..models.errors import InputError
from ..models.pod import Pod
from ..models.scheduling import PodGroup
from ..models.template import Template
from .documents import read_documents
from .files import read_files
from .objects import Objects

if TYPE_CHECKING:
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
    if not groups:
        if pod.spec.scheduling_group is not None:
            missing = "names a PodGroup that the file lacks: a copy of the pod is a copy of its gang"
            raise InputError(name, f"Pod {pod.key}", "spec.schedulingGroup", missing)
        return Template(pod)
    group = admit(groups[0], classes, name)
    member_of = pod.spec.scheduling_group
    if member_of is None or member_of.pod_group_name != group.name or pod.namespace != group.namespace:
        words = f"names no member of PodGroup {group.key}; its podGroupName would be {group.name}"
        raise InputError(name, f"Pod {pod.key}", "spec.schedulingGroup", words)
    gang = group.spec.scheduling_policy.gang
    if gang is None or gang.min_count is None:
        words = "is no gang: a copy needs minCount, which is how many pods it has"
        raise InputError(name, f"PodGroup {group.key}", "spec.schedulingPolicy", words)
    return Template(pod, group)
