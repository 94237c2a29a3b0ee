"""What kube-scheduler-simulator exports, as a list of Kubernetes objects.

Its document has a field for each kind and a `schedulerConfig`, each null where there is nothing
(`ResourcesForSnap` in simulator/snapshot/snapshot.go of kubernetes-sigs/kube-scheduler-simulator). The
objects are written without `apiVersion` and `kind`, as Go's client has them in lists.
"""

from __future__ import annotations

from typing import Any, Final

from ..models.errors import InputError

_KINDS: Final = {
    "namespaces": ("v1", "Namespace"),
    "priorityClasses": ("scheduling.k8s.io/v1", "PriorityClass"),
    "storageClasses": ("storage.k8s.io/v1", "StorageClass"),
    "pvcs": ("v1", "PersistentVolumeClaim"),
    "pvs": ("v1", "PersistentVolume"),
    "nodes": ("v1", "Node"),
    "pods": ("v1", "Pod"),
}
_CONFIGURATION: Final = "schedulerConfig"
_CONFIGURATION_KIND: Final = ("kubescheduler.config.k8s.io/v1", "KubeSchedulerConfiguration")


def as_list(file: str, document: Any) -> Any:
    """Return a List with the objects of an export; any other document as it is.

    Raises
    ------
    InputError
        Where a field of an export is no list.
    """
    if not isinstance(document, dict) or not {"pods", "nodes"} <= document.keys():
        return document
    if not document.keys() <= {*_KINDS, _CONFIGURATION}:
        return document
    items: list[Any] = []
    for field, (version, kind) in _KINDS.items():
        listed = [] if document.get(field) is None else document[field]
        if not isinstance(listed, list):
            raise InputError(file, "", field, "must be a list, as kube-scheduler-simulator exports it")
        items += [_typed(version, kind, item) for item in listed]
    if document.get(_CONFIGURATION) is not None:
        items.append(_typed(*_CONFIGURATION_KIND, document[_CONFIGURATION]))
    return {"apiVersion": "v1", "kind": "List", "items": items}


def _typed(version: str, kind: str, item: Any) -> Any:
    return {"apiVersion": version, "kind": kind, **item} if isinstance(item, dict) else item
