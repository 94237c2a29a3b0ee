"""What a plan's allocations are as the status of resource claims: what kube-scheduler would write there.

Source: resource.k8s.io/v1 (AllocationResult); k8s.io/dynamic-resource-allocation/structured for results and
configurations; plugins/dynamicresources for the claims of extended resources (KEP-5004).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ...framework.dra.extended import claim_for, served_resources
from ...framework.dra.index import device_index
from .device_allocations import newest_devices

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ...framework.dra.allocation import Allocation
    from ...framework.dra.devices import Device, DeviceId
    from ...framework.dra.index import DeviceIndex
    from ...framework.index.cluster import Cluster
    from ...models.resource_api import DeviceClaim, DeviceRequest, DeviceSubRequest, ExactDeviceRequest


class ClaimStatuses:
    """Writes `status.allocation`.

    Parameters
    ----------
    cluster : Cluster
        One whose plan allocates something.
    """

    def __init__(self, cluster: Cluster) -> None:
        index = device_index(cluster)
        assert index is not None
        self._cluster = cluster
        self._index: DeviceIndex = index
        self._newest: Mapping[DeviceId, Device] = newest_devices(index)

    def allocation(self, asked: DeviceClaim, allocation: Allocation) -> dict[str, Any]:
        """Write an allocation of a claim that asks for something."""
        taken = {result.request for result in allocation.results}
        wants = {name: want for name, want in _wants(asked) if name in taken}
        results = []
        for result, written in zip(allocation.results, allocation.document(), strict=True):
            device, want = self._newest[result.id].spec, wants.get(result.request)
            if want is not None and want.tolerations:
                dumped = (t.model_dump(by_alias=True, mode="json") for t in want.tolerations)
                # an empty effect means every effect, and is left out in the API
                written["tolerations"] = [
                    {name: value for name, value in item.items() if value not in (None, "")}
                    for item in dumped
                ]
            for name, conditions in (
                ("bindingConditions", device.binding_conditions),
                ("bindingFailureConditions", device.binding_failure_conditions),
            ):
                if conditions:
                    written[name] = list(conditions)
            results.append(written)
        devices: dict[str, Any] = {"results": results}
        if config := [*self._of_classes(wants), *_of_claim(asked, wants)]:
            devices["config"] = config
        found: dict[str, Any] = {"devices": devices}
        if allocation.selector is not None:
            found["nodeSelector"] = allocation.selector.model_dump(
                by_alias=True, mode="json", exclude_defaults=True
            )
        return found

    def _of_classes(
        self, wants: Mapping[str, ExactDeviceRequest | DeviceSubRequest]
    ) -> Iterator[dict[str, Any]]:
        for name, want in wants.items():
            found = self._index.classes.get(want.device_class_name)
            for text in found.spec.config if found is not None else ():
                yield {**json.loads(text), "source": "FromClass", "requests": [name]}

    def made_up(self, pod: int, node: int) -> tuple[DeviceClaim, tuple[dict[str, Any], ...]]:
        """Return the claim for a pod's extended resources on a node, and which request serves which."""
        resources = served_resources(self._cluster, pod, node)
        spec = self._cluster.pods[pod].pod.spec
        claim = claim_for(self._cluster.pods[pod].pod, resources)
        named = {request.name for request in claim.requests}
        mappings = []
        for c, container in enumerate((*spec.init_containers, *spec.containers)):
            for r, resource in enumerate(sorted(container.resources.requests)):
                request = f"container-{c}-request-{r}"
                if request in named:
                    mappings.append(
                        {
                            "containerName": container.name,
                            "resourceName": resource,
                            "requestName": request,
                        }
                    )
        return claim, tuple(mappings)


def _wants(asked: DeviceClaim) -> Iterator[tuple[str, ExactDeviceRequest | DeviceSubRequest]]:
    """Yield each request and alternative under the name that results have."""
    for request in asked.requests:
        if request.exactly is not None:
            yield request.name, request.exactly
        for alternative in request.first_available:
            yield f"{request.name}/{alternative.name}", alternative


def _of_claim(asked: DeviceClaim, wants: Mapping[str, object]) -> Iterator[dict[str, Any]]:
    """Yield the claim's own configurations that are for a request that is served, or for all."""
    served = {*wants, *(name.partition("/")[0] for name in wants)}
    for text in asked.config:
        config = json.loads(text)
        if not config.get("requests") or not served.isdisjoint(config["requests"]):
            yield {**config, "source": "FromClaim"}


def written_spec(asked: DeviceClaim) -> dict[str, Any]:
    """Write the spec of a claim for extended resources, whose requests are plain counts of a class."""
    return {"devices": {"requests": [_plain(request) for request in asked.requests]}}


def _plain(request: DeviceRequest) -> dict[str, Any]:
    assert request.exactly is not None
    exactly = request.exactly
    wanted = {
        "deviceClassName": exactly.device_class_name,
        "allocationMode": exactly.allocation_mode,
        "count": exactly.count,
    }
    return {"name": request.name, "exactly": wanted}
