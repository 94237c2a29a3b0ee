"""Rules about the room of a node: host ports, requests, slots."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from ....framework.index.missing import amount, readable
from ....framework.index.ports import ANY_ADDRESS
from ....framework.plugins.node_resources_fit import wanted_room
from ....framework.vocabulary import names
from .base import Reason, filters, on_specs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ....framework.index.podinfo import PodInfo
    from ....models.node import Node
    from ....models.pod import Container, PodSpec, ResourceRequirements
    from ....models.snapshot import Snapshot
    from .base import Subject


def reasons(subject: Subject) -> Iterator[Reason]:
    """Yield the rules about room."""
    if any(filters(subject, info, names.NODE_RESOURCES_FIT) for info in subject.kinds):
        yield _slots(subject)
    for info in subject.kinds:
        yield from _ports(subject, info)
        yield from _requests(subject, info)


# -- host ports --


def _ports(subject: Subject, info: PodInfo) -> Iterator[Reason]:
    if not filters(subject, info, names.NODE_PORTS):
        return
    for port in sorted(info.ports, key=lambda item: (item.port, item.protocol, item.ip)):
        yield Reason(
            kind="hostPort",
            object=f"Pod {info.key}",
            field="spec.containers[].ports[].hostPort",
            text=f"hostPort {port.port}/{port.protocol}"
            + ("" if port.ip == ANY_ADDRESS else f" on {port.ip}"),
            lift=on_specs(subject.like(info), partial(_without_port, (port.port, port.protocol, port.ip))),
            facts={"port": port.port, "protocol": port.protocol, "hostIP": port.ip},
        )


def _without_port(port: tuple[int, str, str], spec: PodSpec) -> dict[str, Any]:
    def freed(container: Container) -> Container:
        ports = tuple(
            item.model_copy(update={"host_port": 0})
            if (item.host_port, item.protocol, item.host_ip or ANY_ADDRESS) == port
            else item
            for item in container.ports
        )
        return container.model_copy(update={"ports": ports})

    return _each_container(spec, freed)


def _each_container(spec: PodSpec, change: Callable[[Container], Container]) -> dict[str, Any]:
    return {
        "containers": tuple(change(item) for item in spec.containers),
        "init_containers": tuple(change(item) for item in spec.init_containers),
    }


# -- requests and slots --


def _requests(subject: Subject, info: PodInfo) -> Iterator[Reason]:
    if not filters(subject, info, names.NODE_RESOURCES_FIT):
        return
    known = info.scheduler in subject.cluster.profiles
    request = wanted_room(subject.cluster, info.index) if known else info.request
    amounts = zip(subject.cluster.resources, request or (), strict=request is not None)
    for resource, wanted in reversed(list(amounts)):
        if wanted > 0:
            yield Reason(
                kind="request",
                object=f"Pod {info.key}",
                field=f"spec.containers[].resources.requests[{resource}]",
                text=f"request of {readable(resource, wanted)} {resource}",
                lift=on_specs(subject.like(info), partial(_without_request, resource)),
                facts={"resource": resource, "wanted": amount(resource, wanted)},
            )


def _without_request(resource: str, spec: PodSpec) -> dict[str, Any]:
    def free(amounts: ResourceRequirements) -> ResourceRequirements:
        return amounts.model_copy(update={"requests": _less(amounts.requests, resource)})

    def freed(container: Container) -> Container:
        return container.model_copy(update={"resources": free(container.resources)})

    return {
        **_each_container(spec, freed),
        "overhead": _less(spec.overhead, resource),
        "resources": None if spec.resources is None else free(spec.resources),
    }


def _less(amounts: Mapping[str, Fraction], resource: str) -> dict[str, Fraction]:
    return {name: value for name, value in amounts.items() if name != resource}


def _slots(subject: Subject) -> Reason:
    """Return the rule that a pod takes one of its node's slots; lifted, each node has some more of them."""
    more = Fraction(len(subject.pods))

    def roomier(node: Node) -> Node:
        offered = dict(node.status.allocatable)
        offered["pods"] = offered.get("pods", Fraction(0)) + more
        return node.model_copy(update={"status": node.status.model_copy(update={"allocatable": offered})})

    def lift(snapshot: Snapshot) -> Snapshot:
        return replace(snapshot, nodes=tuple(map(roomier, snapshot.nodes)))

    return Reason(
        kind="slot",
        object=subject.name,
        field="(every pod takes one)",
        text="a pod takes one of its node's slots (allocatable pods)",
        lift=lift,
    )
