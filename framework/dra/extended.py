"""Extended resources that devices serve (KEP-5004).

A resource belongs to a device class where the class names it (`extendedResourceName`), or by the name
`deviceclass.resource.kubernetes.io/<class>`. A node whose allocatable names the resource offers it itself:
its device plugin is there, and NodeResourcesFit decides. Whether 0 is an offer depends on the release. On any
other node the pod gets a claim of its own, made up in memory, with one request for each container and
resource.

Source: plugins/dynamicresources (extendeddynamicresources.go), plugins/noderesources/fit.go.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from ...models.pod import Pod
from ...models.resource_api import DeviceClaim, DeviceClass, DeviceRequest, ExactDeviceRequest
from ..index.podinfo import EARLIEST
from ..vocabulary.arrays import Bools

if TYPE_CHECKING:
    from ..index.cluster import Cluster

PREFIX: Final = "deviceclass.resource.kubernetes.io/"
IN_MEMORY: Final = "<extended-resources>"
"""The name that the claim has in error texts."""


def class_by_resource(classes: Iterable[DeviceClass]) -> dict[str, str]:
    """Return the device class of each resource; of classes that name the same one the newest has it."""
    listed = sorted(classes, key=lambda item: item.name, reverse=True)
    listed.sort(key=lambda item: item.metadata.creation_timestamp or EARLIEST)
    found = {f"{PREFIX}{item.name}": item.name for item in listed}
    found.update(
        {item.spec.extended_resource_name: item.name for item in listed if item.spec.extended_resource_name}
    )
    return found


def mapped_resources(cluster: "Cluster") -> Mapping[str, str]:
    """Return the cluster's resources that devices serve, with their classes; none where the gate is off."""

    def look() -> dict[str, str]:
        gates = cluster.gates
        if not (gates.enabled("DynamicResourceAllocation") and gates.enabled("DRAExtendedResource")):
            return {}
        by_resource = class_by_resource(cluster.snapshot.device_classes)
        return {name: by_resource[name] for name in cluster.resources if name in by_resource}

    return cluster.memo("resources that devices serve", look)


def requested(cluster: "Cluster", i: int) -> tuple[str, ...]:
    """Return the resources that pod i requests and that devices serve."""
    mapped = mapped_resources(cluster)
    if not mapped:
        return ()
    request = cluster.pods[i].request
    return tuple(name for name in mapped if request[cluster.resource_index[name]])


def offered(cluster: "Cluster", resource: str) -> Bools:
    """Say which nodes offer a resource themselves; bool[N], shared."""

    def look() -> Bools:
        least = 0 if cluster.release.empty_offers else 1
        have = [node.status.allocatable.get(resource, -1) for node in cluster.nodes]
        return np.array([amount >= least for amount in have], dtype=np.bool_)

    return cluster.memo(("nodes that offer", resource), look)


def served_resources(cluster: "Cluster", i: int, n: int) -> dict[str, str]:
    """Return the resources that devices have to serve for pod i on node n, with their device classes."""
    classes = mapped_resources(cluster)
    return {r: classes[r] for r in requested(cluster, i) if not offered(cluster, r)[n]}


def claim_for(pod: Pod, resources: Mapping[str, str]) -> DeviceClaim:
    """Return the claim that serves resources of a pod.

    Parameters
    ----------
    pod : Pod
    resources : mapping
        Resource to device class.
    """
    requests: list[DeviceRequest] = []
    for c, container in enumerate((*pod.spec.init_containers, *pod.spec.containers)):
        wanted = container.resources.requests
        for r, name in enumerate(sorted(wanted)):
            amount = wanted[name]
            if name in resources and amount and amount.denominator == 1:
                exactly = ExactDeviceRequest(device_class_name=resources[name], count=int(amount))
                requests.append(DeviceRequest(name=f"container-{c}-request-{r}", exactly=exactly))
    return DeviceClaim(requests=tuple(sorted(requests, key=lambda item: item.name)))
