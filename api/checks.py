"""What `ks.cluster` asks of its objects: what the reading of manifests asks of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from ..models.admission import PriorityClasses, admit
from ..models.budgets import Scales, fill_status
from ..models.defaulting import default_pod
from ..models.errors import InputError
from ..models.validation import check, check_new, title
from .builders.rounds import FIELDS

if TYPE_CHECKING:
    from ..models.meta import KubeObject
    from ..models.pod import Pod
    from ..models.snapshot import Snapshot


def admissible(snapshot: Snapshot) -> Snapshot:
    """Return a snapshot of built objects as an API server would have stored them.

    Raises
    ------
    InputError
        For the first object that an API server would refuse, or that has the kind and name of another one.
    """
    objects: list[KubeObject] = [item for name in FIELDS.values() for item in getattr(snapshot, name)]
    titles = Counter(map(title, objects))
    for name, times in titles.items():
        if times > 1:
            raise InputError("", name, "", f"stands {times} times in the cluster; names of a kind are unique")
    for item in objects:
        check_new(item, "")
        if item.kind != "Pod":
            check(item, "")
    if snapshot.configuration is not None:
        check(snapshot.configuration, "")
    classes = PriorityClasses(snapshot.priority_classes)
    pods = tuple(stored(pod, classes) for pod in snapshot.pods)
    budgets = fill_status(snapshot.pod_disruption_budgets, pods, Scales(), snapshot.now)
    return replace(
        snapshot,
        pods=pods,
        pod_disruption_budgets=budgets,
        pod_groups=tuple(admit(group, classes) for group in snapshot.pod_groups),
        composite_pod_groups=tuple(admit(group, classes) for group in snapshot.composite_pod_groups),
    )


def stored(pod: Pod, classes: PriorityClasses) -> Pod:
    """Return a pod with its defaults, and the priority of its class.

    Raises
    ------
    InputError
        If an API server would refuse it, or there is no class of the name that it has.
    """
    check_new(pod, "")
    pod = default_pod(pod)
    check(pod, "")
    return admit(pod, classes)
