"""Admission: new objects as the API server stores them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar

from ..framework.events.objects import ObjectStore
from ..framework.index.group_names import group_name
from ..models.admission import PriorityClasses, admit
from ..models.base import KubeModel
from ..models.errors import InputError
from ..models.features import FeatureGates
from ..models.pod import Pod
from ..models.scheduling import CompositePodGroup, PodGroup, PriorityClass

M = TypeVar("M", bound=KubeModel)

_MOST_SPECS: Final = 1024


@dataclass(frozen=True, slots=True)
class _Admitted:
    """A pod whose specification others share, and the same pod as it is stored."""

    source: Pod
    stored: Pod


class Admission:
    """See the module's docstring.

    Parameters
    ----------
    name : str
        The scenario's, for messages.
    gates : FeatureGates
    objects : ObjectStore
        Where PriorityClasses are looked up.
    now : callable
        The time.
    """

    def __init__(
        self, name: str, gates: FeatureGates, objects: ObjectStore, now: Callable[[], datetime]
    ) -> None:
        self._name = name
        self._groups = gates.enabled("GenericWorkload")
        self._objects = objects
        self._now = now
        self._classes: PriorityClasses | None = None
        self._uids = 0
        self._known: dict[int, _Admitted] = {}
        self._blanks: dict[int, _Admitted] = {}

    def forget_classes(self) -> None:
        """Take note that a PriorityClass has come, changed or gone."""
        self._classes = None
        self._blanks.clear()

    def _priorities(self) -> PriorityClasses:
        if self._classes is None:
            self._classes = PriorityClasses(self._objects.all(PriorityClass))
            self._known.clear()
        return self._classes

    def group(self, item: PodGroup) -> PodGroup:
        """Return a new group as it is stored."""
        return admit(item, self._priorities(), self._name)

    def composite(self, item: CompositePodGroup) -> CompositePodGroup:
        """Return a new group of groups as it is stored."""
        return admit(item, self._priorities(), self._name)

    def pod(self, pod: Pod, meta: dict[str, Any] | None = None) -> Pod:
        """Return a new pod as it is stored, with other metadata where some is given.

        Raises
        ------
        InputError
            If it names a group of v1alpha1.
        """
        known = self._admitted(pod)
        meta = dict(meta or {})
        metadata = pod.metadata
        if not metadata.uid:
            name = meta.get("name", metadata.name)
            meta["uid"] = self._uid(f"{metadata.namespace}/{name}")
        if metadata.creation_timestamp is None:
            meta["creation_timestamp"] = self._now()
        update: dict[str, Any] = {"metadata": metadata.model_copy(update=meta)} if meta else {}
        if known.source is not pod:
            update |= {"spec": known.stored.spec}
            return pod.model_copy(update=update)
        return known.stored.model_copy(update=update)

    def arrival(self, template: Pod, name: str, key: str, annotations: dict[str, str]) -> Pod:
        """Return a new pod like a template as it is stored.

        Parameters
        ----------
        template : Pod
        name : str
        key : str
            `namespace/name` of the pod.
        annotations : dict

        Raises
        ------
        InputError
            As for `pod`.
        """
        blank = self._blanks.get(id(template))
        if blank is None:
            blank = self._blank(template)
        meta: dict[str, Any] = {"name": name, "annotations": annotations}
        if not template.metadata.uid:
            meta["uid"] = self._uid(key)
        if template.metadata.creation_timestamp is None:
            meta["creation_timestamp"] = self._now()
        stored = blank.stored
        metadata = stored.metadata.model_copy(update=meta)
        vars(metadata)["key"] = key  # which would be put together again
        return stored.model_copy(update={"metadata": metadata})

    def _blank(self, template: Pod) -> _Admitted:
        """Return what all pods of a template share."""
        known = self._admitted(template)
        stored = known.stored
        if known.source is not template:
            stored = template.model_copy(update={"spec": stored.spec})
        # With the fields told that each pod is about to tell, they need no set of such names each.
        meta = _telling(stored.metadata, ("name", "annotations", "uid", "creation_timestamp"))
        status = _telling(stored.status, ("conditions", "phase", "start_time"))
        stored = stored.model_copy(update={"metadata": meta, "status": status})
        if len(self._blanks) >= _MOST_SPECS:
            self._blanks.clear()
        found = self._blanks[id(template)] = _Admitted(template, stored)
        return found

    def _uid(self, key: str) -> str:
        """Return a uid that no other pod has."""
        self._uids += 1
        return f"{key}#{self._uids}"

    def _admitted(self, pod: Pod) -> _Admitted:
        """Return the first pod with a pod's specification, as it came and as it is stored.

        Pods of one template share its specification, and what is made of it, so that they are seen to be
        alike at once.
        """
        if self._groups and _is_old(pod):
            advice = "name a PodGroup in spec.schedulingGroup, or schedule members one by one "
            advice += "with --feature-gates GenericWorkload=false"
            text = f"groups of v1alpha1 are not simulated; {advice}"
            raise InputError(self._name, f"Pod {pod.key}", "spec.workloadRef", text)
        classes = self._priorities()
        known = self._known.get(id(pod.spec))
        if known is None:
            if len(self._known) >= _MOST_SPECS:
                self._known.clear()
            stored = pod.model_copy(update={"spec": admit(pod, classes, self._name).spec})
            known = self._known[id(pod.spec)] = _Admitted(pod, stored)
        return known


def _telling(part: M, names: Iterable[str]) -> M:
    """Return a part of an object with some of its fields told, whatever they hold."""
    return part.model_copy(update={name: getattr(part, name) for name in names})


def _is_old(pod: Pod) -> bool:
    """Whether a pod names a replica of a Workload's group: its members meet in Permit, not in a cycle."""
    name = group_name(pod)
    return name is not None and bool(name.workload)
