"""Requests and limits of containers and pods, and amounts that nodes offer.

Not demanded, though the API server does: a limit beside each request of an extended resource. The scheduler
does not need it, and inputs made for a study often leave the limits out.

Source: kubernetes pkg/apis/core/validation (ValidateResourceRequirements).
"""

from collections.abc import Collection, Mapping
from fractions import Fraction

from ..pod import ResourceRequirements
from ..quantity import format_quantity
from ..requests import extended_resource, pod_level_resource
from .faults import Fault, Faults, below, not_negative


def amount_faults(amounts: Mapping[str, Fraction], path: str) -> Faults:
    """Find amounts that are negative, or that split what comes in whole pieces."""
    yield from not_negative(amounts, path)
    for name, quantity in amounts.items():
        if quantity.denominator != 1 and (name == "pods" or extended_resource(name)):
            yield Fault(below(path, name), f"must be a whole number, not {format_quantity(quantity)}")


def name_faults(amounts: Mapping[str, Fraction], path: str) -> Faults:
    """Find names that are no resources of a container."""
    for name in amounts:
        if name in ("cpu", "memory", "ephemeral-storage") or name.startswith("hugepages-"):
            continue
        if "/" not in name or not (extended_resource(name) or "kubernetes.io/" in name):
            yield Fault(
                below(path, name),
                "is no resource of a container; use cpu, memory, ephemeral-storage, hugepages-<size> "
                "or <domain>/<name>",
            )


def _limit_faults(resources: ResourceRequirements, path: str) -> Faults:
    for name, wanted in resources.requests.items():
        limit = resources.limits.get(name)
        if limit is None or wanted == limit:
            continue
        if wanted > limit:
            message = f"must be at most the limit of {format_quantity(limit)}, not {format_quantity(wanted)}"
        elif extended_resource(name) or name.startswith("hugepages-"):
            message = f"must equal the limit of {format_quantity(limit)}, not {format_quantity(wanted)}"
        else:
            continue
        yield Fault(below(f"{path}.requests", name), message)


def container_resource_faults(resources: ResourceRequirements, claims: Collection[str], path: str) -> Faults:
    """Find faults of a container's resources; `claims` are the names of the pod's resource claims."""
    for part, amounts in (("limits", resources.limits), ("requests", resources.requests)):
        if amounts:
            yield from name_faults(amounts, f"{path}.{part}")
            yield from amount_faults(amounts, f"{path}.{part}")
    if resources.limits:
        yield from _limit_faults(resources, path)
    seen: set[tuple[str, str | None]] = set()
    for index, claim in enumerate(resources.claims):
        where = f"{path}.claims[{index}]"
        if claim.name not in claims:
            yield Fault(f"{where}.name", f"must be one of the pod's resource claims, not {claim.name!r}")
        if (claim.name, claim.request) in seen:
            yield Fault(where, f"duplicate {claim.name!r}")
        seen.add((claim.name, claim.request))


def pod_resource_faults(resources: ResourceRequirements | None, path: str) -> Faults:
    """Find faults of the resources of a pod as a whole (KEP-2837)."""
    if resources is None:
        return
    for part, amounts in (("limits", resources.limits), ("requests", resources.requests)):
        for name in amounts:
            if not pod_level_resource(name):
                yield Fault(
                    below(f"{path}.{part}", name),
                    "is no resource of a pod as a whole; use cpu, memory or hugepages-<size>",
                )
        yield from amount_faults(amounts, f"{path}.{part}")
    yield from _limit_faults(resources, path)
