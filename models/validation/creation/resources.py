"""Requests and limits of new containers and pods.

Not demanded, though the API server does: a limit beside the request of an extended resource.

Source: kubernetes pkg/apis/core/validation (ValidateResourceRequirements, validateContainerResourceName).
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache

from ...pod import Container, Pod, PodSpec, ResourceRequirements
from ...quantity import format_quantity, parse_quantity
from ...requests import aggregate_containers, extended_resource
from ..faults import Fault, Faults, below
from .names import label_name, qualified_name, spelled

_HUGE_PAGES = "hugepages-"


@lru_cache(maxsize=4096)
def resource_name(name: str) -> str:
    """Say what keeps a text from naming a resource of a container."""
    if extended_resource(name) and (wrong := qualified_name(f"requests.{name}")):
        return wrong
    return qualified_name(name)


@lru_cache(maxsize=4096)
def _page(name: str) -> Fraction:
    """Return the size of a page by the resource's name; 0 where it has none."""
    try:
        size = parse_quantity(name.removeprefix(_HUGE_PAGES))
    except ValueError:
        return Fraction(0)
    return size if size > 0 and size.denominator == 1 else Fraction(0)


def new_amount_faults(amounts: Mapping[str, Fraction], path: str) -> Faults:
    """Find resources with a name that is none, and memory that is no number of huge pages."""
    for name, quantity in amounts.items():
        if wrong := resource_name(name):
            yield Fault(below(path, name), wrong)
        elif name.startswith(_HUGE_PAGES):
            page = _page(name)
            if not page:
                yield Fault(below(path, name), "has no size of a page in its name, such as hugepages-2Mi")
            elif quantity % page:
                amount = format_quantity(quantity)
                yield Fault(below(path, name), f"must be a multiple of the page's size, not {amount}")


def new_resource_faults(resources: ResourceRequirements, path: str) -> Faults:
    """Find faults of the resources of a container, or of a pod as a whole."""
    requests, limits = resources.requests, resources.limits
    if requests:
        yield from new_amount_faults(requests, f"{path}.requests")
    if limits:
        yield from new_amount_faults(limits, f"{path}.limits")
    huge = [name for name in (*requests, *limits) if name.startswith(_HUGE_PAGES)]
    if huge:
        yield from _huge_page_faults(requests, limits, huge, path)
    if resources.claims:
        yield from _claim_faults(resources, f"{path}.claims")


def new_pod_level_faults(spec: PodSpec, path: str) -> Faults:
    """Find containers that together request more than their pod, or have a higher limit (KEP-2837)."""
    whole = spec.resources
    if whole is None:
        return
    together = aggregate_containers(Pod.model_construct(spec=spec), _wanted)
    for name, quantity in together.items():
        most = whole.requests.get(name)
        if most is not None and quantity > most:
            yield Fault(
                below(f"{path}.resources.requests", name),
                f"must be at least what the containers request, {format_quantity(quantity)}, "
                f"not {format_quantity(most)}",
            )
    for index, container in enumerate(spec.containers):
        for name, quantity in container.resources.limits.items():
            most = whole.limits.get(name)
            if most is not None and quantity > most:
                yield Fault(
                    below(f"{path}.containers[{index}].resources.limits", name),
                    f"must be at most the pod's limit of {format_quantity(most)}, "
                    f"not {format_quantity(quantity)}",
                )


def _wanted(container: Container) -> Mapping[str, Fraction]:
    return {**container.resources.limits, **container.resources.requests}


def _huge_page_faults(
    requests: Mapping[str, Fraction], limits: Mapping[str, Fraction], huge: Iterable[str], path: str
) -> Faults:
    for name in huge:
        if name not in limits:
            yield Fault(below(f"{path}.limits", name), "required beside a request for huge pages")
    if not {"cpu", "memory"} & (requests.keys() | limits.keys()):
        yield Fault(path, "must ask for cpu or memory beside huge pages")


def _claim_faults(resources: ResourceRequirements, path: str) -> Faults:
    """Find a claim that is used whole and in part."""
    whole: set[str] = set()
    part: set[str] = set()
    for index, claim in enumerate(resources.claims):
        if claim.name in whole or (not claim.request and claim.name in part):
            yield Fault(f"{path}[{index}]", f"duplicate {claim.name!r}")
        (part if claim.request else whole).add(claim.name)
        yield from spelled(claim.request, label_name, f"{path}[{index}].request")
