"""What the API server fills in when a pod is created from its manifest.

A pod that comes from a real cluster has all of it already, and nothing changes.

Sources: kubernetes pkg/apis/core/v1/defaults.go (SetDefaults_Pod), pkg/registry/core/pod/strategy.go
(applyMatchLabelKeysAndMismatchLabelKeys).
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Literal

from .affinity import Affinity, PodAffinity, PodAffinityTerm
from .pod import Container, Pod, PodSpec, ResourceRequirements
from .requests import aggregate_containers, pod_level_resource
from .selectors import LabelSelector, LabelSelectorRequirement


def default_pod(pod: Pod) -> Pod:
    """Return the pod as the API server would store it, apart from admission.

    - a container's limit without a request becomes the request;
    - a pod-level request missing beside pod-level limits is the containers' sum, else the limit (KEP-2837);
    - ports of a pod in the node's network are ports of the node;
    - `matchLabelKeys` and `mismatchLabelKeys` of affinity terms are merged into their selectors (KEP-3633); a
      pod with a uid has been stored, and its selectors are what the API server left.
    """
    spec = pod.spec
    change: dict[str, Any] = {}
    containers = _each(spec.containers, _request_limits)
    init_containers = _each(spec.init_containers, _request_limits)
    if spec.host_network:
        containers = _each(containers, _take_host_ports)
        init_containers = _each(init_containers, _take_host_ports)
    if containers is not spec.containers:
        change["containers"] = containers
    if init_containers is not spec.init_containers:
        change["init_containers"] = init_containers
    affinity = spec.affinity if pod.metadata.uid else _merge_label_keys(spec.affinity, pod.metadata.labels)
    if affinity is not spec.affinity:
        change["affinity"] = affinity
    if change:
        spec = spec.model_copy(update=change)
    resources = _pod_level(pod, spec)
    if resources is not spec.resources:
        spec = spec.model_copy(update={"resources": resources})
    return pod if spec is pod.spec else pod.model_copy(update={"spec": spec})


def _each(
    containers: tuple[Container, ...], change: Callable[[Container], Container]
) -> tuple[Container, ...]:
    """Return the same tuple unless a container changes."""
    changed = tuple(change(container) for container in containers)
    same = all(new is old for new, old in zip(changed, containers, strict=True))
    return containers if same else changed


def _request_limits(container: Container) -> Container:
    limits, requests = container.resources.limits, container.resources.requests
    if not limits or limits.keys() <= requests.keys():
        return container
    resources = container.resources.model_copy(update={"requests": {**limits, **requests}})
    return container.model_copy(update={"resources": resources})


def _take_host_ports(container: Container) -> Container:
    if all(port.host_port for port in container.ports):
        return container
    ports = tuple(
        port if port.host_port else port.model_copy(update={"host_port": port.container_port})
        for port in container.ports
    )
    return container.model_copy(update={"ports": ports})


def _pod_level(pod: Pod, spec: PodSpec) -> ResourceRequirements | None:
    resources = spec.resources
    if resources is None or not resources.limits:
        return resources
    together = aggregate_containers(
        pod.model_copy(update={"spec": spec}), lambda container: container.resources.requests
    )
    requests: dict[str, Fraction] = dict(resources.requests)
    for name, quantity in together.items():
        if name in ("cpu", "memory"):
            requests.setdefault(name, quantity)
    for name, quantity in resources.limits.items():
        if pod_level_resource(name):
            requests.setdefault(name, quantity)
    return (
        resources if requests == resources.requests else resources.model_copy(update={"requests": requests})
    )


def _merge_label_keys(affinity: Affinity | None, labels: dict[str, str]) -> Affinity | None:
    if affinity is None:
        return None
    change = {}
    for name in ("pod_affinity", "pod_anti_affinity"):
        old: PodAffinity | None = getattr(affinity, name)
        if old is None:
            continue
        required = tuple(_merge_term(term, labels) for term in old.required)
        preferred = tuple(
            item.model_copy(update={"pod_affinity_term": _merge_term(item.pod_affinity_term, labels)})
            for item in old.preferred
        )
        if required != old.required or preferred != old.preferred:
            change[name] = old.model_copy(
                update={
                    "required_during_scheduling_ignored_during_execution": required,
                    "preferred_during_scheduling_ignored_during_execution": preferred,
                }
            )
    return affinity.model_copy(update=change) if change else affinity


def _merge_term(term: PodAffinityTerm, labels: dict[str, str]) -> PodAffinityTerm:
    selector = term.label_selector
    if selector is None or not (term.match_label_keys or term.mismatch_label_keys):
        return term
    more = (
        *_label_conditions(selector, term.match_label_keys, "In", labels),
        *_label_conditions(selector, term.mismatch_label_keys, "NotIn", labels),
    )
    if not more:
        return term
    merged = selector.model_copy(update={"match_expressions": (*selector.match_expressions, *more)})
    return term.model_copy(update={"label_selector": merged})


def _label_conditions(
    selector: LabelSelector, keys: Sequence[str], operator: Literal["In", "NotIn"], labels: dict[str, str]
) -> tuple[LabelSelectorRequirement, ...]:
    """Return a condition for each key that the pod has, unless the selector holds one already."""
    there = {item.key for item in selector.match_expressions if item.operator == operator}
    return tuple(
        LabelSelectorRequirement(key=key, operator=operator, values=(labels[key],))
        for key in keys
        if key in labels and key not in there
    )
