"""What a pod asks of a node, in the scheduler's integer units.

Amounts are integers: cpu in thousandths of a core, everything else in whole units. Each container's amount
is rounded up to a thousandth when it is read (`AmountField`), as the API server stores it, so cpu is exact;
the rest is rounded up once, after the sum over containers. An amount ends at 2**63 - 1, the largest that the
API can hold.

    request = max(sum of containers and sidecars,
                  for each init container: its own request + the sidecars declared before it)
    with a pod-level request for cpu, memory or hugepages in its place, plus the overhead

The slot that a pod takes (`pods`) is not in it: every pod takes exactly one.

Source: kube-scheduler 1.34.1, component-helpers/resource/helpers.go, framework/types.go (CalculateResource),
noderesources/resource_allocation.go.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache

from .pod import Container, ContainerStatus, Pod
from .quantity import milli_ceil, unit_ceil

Amounts = dict[str, Fraction]

MAX_AMOUNT = 2**63 - 1

DEFAULT_REQUESTS: Mapping[str, Fraction] = {"cpu": Fraction(1, 10), "memory": Fraction(200 * 2**20)}
"""What a container without a request counts for in scores: a tenth of a core and 200 MiB."""


@lru_cache(maxsize=4096)
def counted_resource(name: str) -> bool:
    """Whether a resource takes part in scheduling: other names are ignored on pods and nodes alike."""
    if "/" not in name:
        return name in ("cpu", "memory", "ephemeral-storage", "pods") or name.startswith(
            ("hugepages-", "attachable-volumes-")
        )
    return "kubernetes.io/" in name or not name.startswith("requests.")


@lru_cache(maxsize=4096)
def extended_resource(name: str) -> bool:
    """Whether a resource is an extended one, outside Kubernetes' own domain (as `nvidia.com/gpu`)."""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


@lru_cache(maxsize=4096)
def pod_level_resource(name: str) -> bool:
    """Whether a resource may be requested for the pod as a whole (KEP-2837)."""
    return name in ("cpu", "memory") or name.startswith("hugepages-")


@lru_cache(maxsize=1 << 16)
def amount(name: str, quantity: Fraction) -> int:
    """Return a quantity in the scheduler's unit for this resource, rounded up."""
    return min(milli_ceil(quantity) if name == "cpu" else unit_ceil(quantity), MAX_AMOUNT)


def in_units(amounts: Mapping[str, Fraction]) -> dict[str, int]:
    """Return the counted resources of a map in the scheduler's units; also right for a node's allocatable."""
    return {name: amount(name, quantity) for name, quantity in amounts.items() if counted_resource(name)}


def _add(into: Amounts, more: Mapping[str, Fraction]) -> None:
    for name, quantity in more.items():
        into[name] = into[name] + quantity if name in into else quantity


def _raise_to(into: Amounts, other: Mapping[str, Fraction]) -> None:
    for name, quantity in other.items():
        if name not in into or quantity > into[name]:
            into[name] = quantity


def aggregate_containers(pod: Pod, of: Callable[[Container], Mapping[str, Fraction]]) -> Amounts:
    """Combine per-container amounts by the rule above, without pod-level ones and without overhead.

    Parameters
    ----------
    pod : Pod
        The pod whose containers are combined.
    of : callable
        The amounts of one container.
    """
    total: Amounts = {}
    for container in pod.spec.containers:
        _add(total, of(container))
    if not pod.spec.init_containers:
        return total
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in pod.spec.init_containers:
        wanted = of(container)
        if container.is_sidecar:
            _add(total, wanted)
            _add(sidecars, wanted)
            _raise_to(peak, sidecars)
        else:
            need = dict(wanted)
            _add(need, sidecars)
            _raise_to(peak, need)
    _raise_to(total, peak)
    return total


def pod_level_requests(pod: Pod) -> Mapping[str, Fraction]:
    """Return the requests made for the pod as a whole, of the resources for which that is possible."""
    if pod.spec.resources is None:
        return {}
    return {
        name: quantity for name, quantity in pod.spec.resources.requests.items() if pod_level_resource(name)
    }


def _spec(container: Container) -> Mapping[str, Fraction]:
    return container.resources.requests


def _with_defaults(
    of: Callable[[Container], Mapping[str, Fraction]], defaults: Mapping[str, Fraction]
) -> Callable[[Container], Mapping[str, Fraction]]:
    return lambda container: {**defaults, **of(container)}


def _running(pod: Pod) -> Callable[[Container], Mapping[str, Fraction]]:
    """Return what a container of a pod on a node counts for: the largest of wanted, actual and allocated."""
    statuses: dict[str, ContainerStatus] = {}
    for status in (*pod.status.container_statuses, *pod.status.init_container_statuses):
        if status.resources is not None:
            statuses[status.name] = status
    if not statuses:
        return _spec
    pending = pod.condition("PodResizePending")
    infeasible = pending is not None and pending.reason == "Infeasible"
    plain_init = {item.name for item in pod.spec.init_containers if not item.is_sidecar}

    def of(container: Container) -> Mapping[str, Fraction]:
        status = statuses.get(container.name)
        if status is None or status.resources is None or container.name in plain_init:
            return container.resources.requests
        largest = {} if infeasible else dict(container.resources.requests)
        _raise_to(largest, status.resources.requests)
        _raise_to(largest, status.allocated_resources)
        return largest

    return of


def _total(
    pod: Pod, of: Callable[[Container], Mapping[str, Fraction]], *, with_pod_level: bool = True
) -> Amounts:
    total = aggregate_containers(pod, of)
    if with_pod_level:
        total.update(pod_level_requests(pod))
    _add(total, pod.spec.overhead)
    return total


def _requested(total: Amounts) -> dict[str, int]:
    return {
        name: amount(name, quantity)
        for name, quantity in total.items()
        if counted_resource(name) and name != "pods"
    }


def pod_requests(pod: Pod) -> dict[str, int]:
    """Return what a pod that is to be placed asks for, by its spec alone."""
    return _requested(_total(pod, _spec))


def running_pod_requests(pod: Pod) -> dict[str, int]:
    """Return what a pod on a node takes, with what in-place resize has given it (KEP-1287)."""
    return _requested(_total(pod, _running(pod)))


def scoring_requests(pod: Pod) -> dict[str, int]:
    """Return what a pod that is to be placed asks for in scores of NodeResourcesFit.

    Each container without a request for cpu or memory counts for `DEFAULT_REQUESTS`. Upstream's scorer does
    not see pod-level requests; neither does this.
    """
    return _requested(_total(pod, _with_defaults(_spec, DEFAULT_REQUESTS), with_pod_level=False))


def running_scoring_requests(pod: Pod) -> dict[str, int]:
    """Return what a pod on a node takes in scores of NodeResourcesFit.

    Here pod-level requests count, and beside them a container gets a default only for a resource that neither
    the pod nor any of its containers requests.
    """
    of = _running(pod)
    defaults = DEFAULT_REQUESTS
    if pod_level_requests(pod):
        total = _total(pod, of)
        defaults = {name: quantity for name, quantity in DEFAULT_REQUESTS.items() if name not in total}
    return _requested(_total(pod, _with_defaults(of, defaults)))
