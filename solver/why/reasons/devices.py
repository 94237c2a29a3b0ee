"""Rules of a pod's claims to devices: requests, selectors, constraints, taints, where they reach."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ....framework.dra.pod_claims import ClaimProblem, PodClaims
from ....framework.vocabulary import names
from ....models.resource_api import DeviceToleration
from .base import Reason, filters, on_specs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ....framework.index.podinfo import PodInfo
    from ....models.pod import Pod, PodResourceClaim, PodResourceClaimStatus, PodSpec
    from ....models.resource_api import (
        DeviceClaim,
        DeviceConstraint,
        DeviceRequest,
        DeviceSubRequest,
        ExactDeviceRequest,
        ResourceClaim,
    )
    from ....models.snapshot import Snapshot
    from .base import Subject


def reasons(subject: Subject) -> Iterator[Reason]:
    """Yield the rules of the pods' claims."""
    cluster = subject.cluster
    claims = {item.key: item for item in cluster.snapshot.resource_claims}
    groups = {item.key: item for item in cluster.snapshot.pod_groups}
    shared = cluster.gates.enabled("DRAWorkloadResourceClaims")
    known = PodClaims(claims, groups if shared else {})
    found: dict[str, ResourceClaim] = {}
    for info in subject.infos:
        if not info.pod.spec.resource_claims or not filters(subject, info, names.DYNAMIC_RESOURCES):
            continue
        try:
            found.update((claim.key, claims[claim.key]) for claim in known.of(info.pod))
        except ClaimProblem as problem:
            yield from _missing(subject, info, str(problem))
    tainted = _has_taints(cluster.snapshot)
    for claim in found.values():
        if claim.status.allocation is None:
            yield from _open(claim, tainted=tainted)
        elif claim.status.allocation.node_selector is not None:
            yield Reason(
                kind="claimReach",
                object=f"ResourceClaim {claim.key}",
                field="status.allocation.nodeSelector",
                text=f"claim {claim.key} has devices that only some nodes reach",
                lift=partial(_on_claim, claim.key, _everywhere),
            )


def _missing(subject: Subject, info: PodInfo, problem: str) -> Iterator[Reason]:
    entries = info.pod.spec.resource_claims
    yield Reason(
        kind="claim",
        object=f"Pod {info.key}",
        field="spec.resourceClaims",
        text=problem,
        lift=on_specs(frozenset({info.key}), partial(_without_entries, entries)),
    )


def _without_entries(entries: tuple[PodResourceClaim, ...], spec: PodSpec) -> dict[str, Any]:
    return {"resource_claims": tuple(item for item in spec.resource_claims if item not in entries)}


def _has_taints(snapshot: Snapshot) -> bool:
    devices = (device for item in snapshot.resource_slices for device in item.spec.devices)
    return bool(snapshot.device_taint_rules) or any(device.taints for device in devices)


def _open(claim: ResourceClaim, *, tainted: bool) -> Iterator[Reason]:
    """Yield the rules of a claim whose devices are still to be chosen."""
    where = f"ResourceClaim {claim.key}"
    for request in claim.spec.devices.requests:
        path = f"spec.devices.requests[{request.name}]"
        yield Reason(
            kind="deviceRequest",
            object=where,
            field=path,
            text=f"claim {claim.key} requests {_wanted(request)}",
            lift=partial(_without_requested, claim.key, request.name),
            facts={"claim": claim.key, "request": request.name},
        )
        expressions = [
            selector.cel.expression
            for want in _wants(request)
            for selector in want.selectors
            if selector.cel is not None
        ]
        for expression in dict.fromkeys(expressions):
            yield Reason(
                kind="deviceSelector",
                object=where,
                field=f"{path}.selectors",
                text=f"claim {claim.key}, request {request.name}: selector {expression}",
                lift=partial(_on_devices, claim.key, partial(_without_selector, request.name, expression)),
                facts={"claim": claim.key, "request": request.name, "expression": expression},
            )
        if tainted:
            yield Reason(
                kind="deviceTaint",
                object=where,
                field=f"{path}.tolerations",
                text=f"claim {claim.key}, request {request.name} does not tolerate every taint of devices",
                lift=partial(_on_devices, claim.key, partial(_tolerant, request.name)),
                facts={"claim": claim.key, "request": request.name},
            )
    for constraint in claim.spec.devices.constraints:
        attribute = constraint.match_attribute or constraint.distinct_attribute
        word = "matchAttribute" if constraint.match_attribute else "distinctAttribute"
        yield Reason(
            kind="deviceConstraint",
            object=where,
            field="spec.devices.constraints",
            text=f"claim {claim.key}: {word} {attribute}",
            lift=partial(_on_devices, claim.key, partial(_without_constraint, constraint)),
            facts={"claim": claim.key, word: attribute},
        )


def _wants(request: DeviceRequest) -> tuple[ExactDeviceRequest | DeviceSubRequest, ...]:
    return request.first_available if request.exactly is None else (request.exactly,)


def _wanted(request: DeviceRequest) -> str:
    """Write what a request asks for: `2 of gpu`, `all of gpu`, alternatives with `or`."""
    return " or ".join(
        f"{'all' if want.allocation_mode == 'All' else want.count} of class {want.device_class_name}"
        for want in _wants(request)
    )


# -- lifts --


def _on_claim(key: str, change: Callable[[ResourceClaim], ResourceClaim], snapshot: Snapshot) -> Snapshot:
    claims = tuple(change(item) if item.key == key else item for item in snapshot.resource_claims)
    return replace(snapshot, resource_claims=claims)


def _everywhere(claim: ResourceClaim) -> ResourceClaim:
    allocation = claim.status.allocation
    assert allocation is not None
    freed = allocation.model_copy(update={"node_selector": None})
    return claim.model_copy(update={"status": claim.status.model_copy(update={"allocation": freed})})


def _on_devices(key: str, change: Callable[[DeviceClaim], dict[str, Any]], snapshot: Snapshot) -> Snapshot:
    def apply(claim: ResourceClaim) -> ResourceClaim:
        devices = claim.spec.devices.model_copy(update=change(claim.spec.devices))
        return claim.model_copy(update={"spec": claim.spec.model_copy(update={"devices": devices})})

    return _on_claim(key, apply, snapshot)


def _without_requested(key: str, name: str, snapshot: Snapshot) -> Snapshot:
    """Leave a request out; with the last one the claim leaves its pods, as a claim asks for something."""
    changed = _on_devices(key, partial(_without_request, name), snapshot)
    claim = next(item for item in changed.resource_claims if item.key == key)
    if claim.spec.devices.requests:
        return changed
    made = {
        item.key: {each.name for each in item.status.resource_claim_statuses if _names(each, claim)}
        for item in changed.pod_groups
    }

    def freed(pod: Pod) -> Pod:
        if pod.namespace != claim.namespace or not pod.spec.resource_claims or pod.spec.node_name:
            return pod
        group = pod.spec.scheduling_group
        entries = {each.name for each in pod.status.resource_claim_statuses if _names(each, claim)}
        if group is not None:
            entries |= made.get(f"{pod.namespace}/{group.pod_group_name}", set())
        kept = tuple(
            item
            for item in pod.spec.resource_claims
            if item.resource_claim_name != claim.name and item.name not in entries
        )
        return pod.model_copy(update={"spec": pod.spec.model_copy(update={"resource_claims": kept})})

    return replace(changed, pods=tuple(map(freed, changed.pods)))


def _names(status: PodResourceClaimStatus, claim: ResourceClaim) -> bool:
    return status.resource_claim_name == claim.name


def _without_request(name: str, devices: DeviceClaim) -> dict[str, Any]:
    constraints = []
    for item in devices.constraints:
        # An empty list would be all requests.
        left = tuple(each for each in item.requests if each.partition("/")[0] != name)
        if left or not item.requests:
            constraints.append(item.model_copy(update={"requests": left}))
    return {
        "requests": tuple(item for item in devices.requests if item.name != name),
        "constraints": tuple(constraints),
    }


def _changed_wants(
    name: str, change: Callable[[Any], dict[str, Any]], devices: DeviceClaim
) -> dict[str, Any]:
    def apply(request: DeviceRequest) -> DeviceRequest:
        if request.name != name:
            return request
        exactly = request.exactly
        return request.model_copy(
            update={
                "exactly": None if exactly is None else exactly.model_copy(update=change(exactly)),
                "first_available": tuple(
                    want.model_copy(update=change(want)) for want in request.first_available
                ),
            }
        )

    return {"requests": tuple(map(apply, devices.requests))}


def _without_selector(name: str, expression: str, devices: DeviceClaim) -> dict[str, Any]:
    def freed(want: Any) -> dict[str, Any]:
        return {
            "selectors": tuple(
                item for item in want.selectors if item.cel is None or item.cel.expression != expression
            )
        }

    return _changed_wants(name, freed, devices)


def _tolerant(name: str, devices: DeviceClaim) -> dict[str, Any]:
    everything = DeviceToleration(operator="Exists")
    return _changed_wants(name, lambda want: {"tolerations": (*want.tolerations, everything)}, devices)


def _without_constraint(constraint: DeviceConstraint, devices: DeviceClaim) -> dict[str, Any]:
    return {"constraints": tuple(item for item in devices.constraints if item != constraint)}
