"""Budgets, priority classes, groups of pods, namespaces."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from ...models.controllers import Namespace
from ...models.errors import KubestowError
from ...models.policy import PodDisruptionBudget
from ...models.scheduling import CompositePodGroup, PodGroup, PriorityClass, Workload
from .making import made
from .values import Document, ago, selector


@dataclass(frozen=True, kw_only=True)
class BudgetBuilder:
    """A disruption budget under construction."""

    doc: Document = field(default_factory=dict)

    def disrupted(self, *names: str) -> BudgetBuilder:
        """List pods whose disruption is paid for already."""
        doc = deepcopy(self.doc)
        doc["status"].setdefault("disruptedPods", {}).update(dict.fromkeys(names, ago(1)))
        return replace(self, doc=doc)

    def build(self) -> PodDisruptionBudget:
        """Build the budget."""
        return made(PodDisruptionBudget, self.doc)


def budget(
    name: str,
    labels: Mapping[str, Any] | tuple[()] = (),
    /,
    *,
    allowed: int | None = None,
    min_available: int | str | None = None,
    max_unavailable: int | str | None = None,
    namespace: str = "default",
    **more: str,
) -> BudgetBuilder:
    """Return a budget over the pods with these labels.

    Parameters
    ----------
    allowed : int, optional
        How many more may go, as its status says. Without it `kubestow.cluster` counts that from the pods, as
        the disruption controller does.
    min_available, max_unavailable : int or str, optional
        How many have to stay, or may be missing: a number or a percentage. Without either one has to stay.
    """
    if not isinstance(labels, Mapping) and labels != ():
        words = f"labels: must be a map, such as {{'app': 'web'}}, not {labels!r}"
        raise KubestowError(f"PodDisruptionBudget {namespace}/{name}: {words}")
    limits: Document = {"minAvailable": min_available, "maxUnavailable": max_unavailable}
    if min_available is None and max_unavailable is None:
        limits["minAvailable"] = 1
    return BudgetBuilder(
        doc={
            "metadata": {"name": name, "namespace": namespace},
            "spec": {**limits, "selector": selector({**dict(labels), **more})},
            "status": {} if allowed is None else {"disruptionsAllowed": allowed},
        }
    )


def priority_class(
    name: str, value: int, *, default: bool = False, preempts: bool = True, guard: int | None = None
) -> PriorityClass:
    """Return a priority class.

    Parameters
    ----------
    default : bool
        Whether it holds for pods that say nothing of their priority.
    preempts : bool
        Whether its pods may evict others.
    guard : int, optional
        allowDisruptionByPriorityGreaterThanOrEqual (KEP-4664).
    """
    return made(
        PriorityClass,
        {
            "metadata": {"name": name},
            "value": value,
            "globalDefault": default,
            "preemptionPolicy": "PreemptLowerPriority" if preempts else "Never",
            "allowDisruptionByPriorityGreaterThanOrEqual": guard,
        },
    )


def group(
    name: str,
    *keys: str,
    gang: int | None = None,
    desired: int | None = None,
    namespace: str = "default",
    version: str = "v1alpha2",
    parent: str | None = None,
    **spec: Any,
) -> PodGroup:
    """Return a PodGroup in one domain of each key: a gang of so many at least, else the basic policy."""
    if parent is not None:
        version, spec = "v1beta1", {**_place(name, parent), **spec}
    policy: Document = {"gang": {"minCount": gang}} if gang else {"basic": {"desiredCount": desired}}
    topology = [{"key": key} for key in keys]
    return made(
        PodGroup,
        {
            "apiVersion": f"scheduling.k8s.io/{version}",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"schedulingPolicy": policy, "schedulingConstraints": {"topology": topology}, **spec},
        },
    )


def composite(
    name: str,
    *keys: str,
    gang: int | None = None,
    parent: str | None = None,
    namespace: str = "default",
    minutes: float | None = None,
    **spec: Any,
) -> CompositePodGroup:
    """Return a CompositePodGroup: a gang of so many groups at least, else the basic policy."""
    created = {} if minutes is None else {"creationTimestamp": ago(minutes)}
    return made(
        CompositePodGroup,
        {
            "apiVersion": "scheduling.k8s.io/v1alpha3",
            "metadata": {"name": name, "namespace": namespace, **created},
            "spec": {
                "schedulingPolicy": {"gang": {"minGroupCount": gang}} if gang else {"basic": {}},
                "schedulingConstraints": {"topology": [{"key": key} for key in keys]},
                **_place(name, parent),
                **spec,
            },
        },
    )


def _place(name: str, parent: str | None) -> Document:
    """Return where a group is in a tree."""
    reference = {"workloadName": "w", "templateName": name}
    return {"workloadRef": reference, "parentCompositePodGroupName": parent}


def workload(
    name: str, *templates: Mapping[str, Any], namespace: str = "default", version: str = "v1alpha1"
) -> Workload:
    """Return a Workload with templates as in a file."""
    return made(
        Workload,
        {
            "apiVersion": f"scheduling.k8s.io/{version}",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"podGroups": list(templates)},
        },
    )


def namespace(name: str, **labels: str) -> Namespace:
    """Return a namespace with labels."""
    return made(Namespace, {"metadata": {"name": name, "labels": labels}})
