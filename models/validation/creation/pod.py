"""New pods, and the pods that a new controller would make.

Not demanded, though the API server does: an image, a limit beside an extended resource, a RuntimeClass with
the overhead, a class with the priority and the preemption policy.

Source: kubernetes pkg/apis/core/validation (ValidatePodSpec and what it calls).
"""

from collections.abc import Iterable, Mapping, Sequence

from ...pod import Container, Pod, PodResourceClaim, PodSpec, PodTemplateSpec
from ..faults import Fault, Faults, known
from ..resources import name_faults
from .metadata import map_faults
from .names import address, label_name, object_name, port_name, qualified_name, spelled
from .placement import new_placement_faults
from .resources import new_amount_faults, new_pod_level_faults, new_resource_faults
from .volumes import new_volume_faults

_POLICIES = ("Always", "OnFailure", "Never")


def new_pod_faults(pod: Pod) -> Faults:
    """Find faults of a new pod; one with a phase has had its `matchLabelKeys` merged when it was stored."""
    labels = pod.metadata.labels if pod.status.phase is None else None
    yield from _spec_faults(pod.spec, labels, "spec")


def new_template_faults(
    template: PodTemplateSpec, path: str, policies: Sequence[str] = ("Always",)
) -> Faults:
    """Find faults of the pods that a controller would make; `policies` are the restart policies it allows."""
    yield from map_faults(template.metadata, f"{path}.metadata")
    yield from _spec_faults(template.spec, None, f"{path}.spec")
    # A policy that is left out is left to whoever writes a study by hand: no rule of scheduling looks at it.
    if "restart_policy" in template.spec.model_fields_set:
        yield from known(template.spec.restart_policy, policies, f"{path}.spec.restartPolicy")


def _spec_faults(spec: PodSpec, labels: Mapping[str, str] | None, path: str) -> Faults:
    yield from known(spec.restart_policy, _POLICIES, f"{path}.restartPolicy")
    yield from spelled(spec.node_name, object_name, f"{path}.nodeName")
    yield from spelled(spec.priority_class_name, object_name, f"{path}.priorityClassName")
    yield from _container_faults(spec, path)
    yield from _host_port_faults(spec, path)
    if spec.overhead:
        yield from name_faults(spec.overhead, f"{path}.overhead")
        yield from new_amount_faults(spec.overhead, f"{path}.overhead")
    if spec.resources is not None:
        yield from new_resource_faults(spec.resources, f"{path}.resources")
        yield from new_pod_level_faults(spec, path)
    yield from new_placement_faults(spec, labels, path)
    for index, gate in enumerate(spec.scheduling_gates):
        yield from spelled(gate.name, qualified_name, f"{path}.schedulingGates[{index}].name")
    if spec.volumes:
        yield from new_volume_faults(spec.volumes, f"{path}.volumes")
    yield from new_pod_claim_faults(spec.resource_claims, f"{path}.resourceClaims")
    if spec.workload_ref is not None:
        yield from spelled(spec.workload_ref.name, object_name, f"{path}.workloadRef.name")
        yield from spelled(spec.workload_ref.pod_group, label_name, f"{path}.workloadRef.podGroup")
    if spec.scheduling_group is not None:
        yield from spelled(
            spec.scheduling_group.pod_group_name, object_name, f"{path}.schedulingGroup.podGroupName"
        )


def _container_faults(spec: PodSpec, path: str) -> Faults:
    for part, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for index, container in enumerate(containers):
            where = f"{path}.{part}[{index}]"
            yield from spelled(container.name, label_name, f"{where}.name")
            yield from known(container.restart_policy, _POLICIES, f"{where}.restartPolicy")
            yield from new_resource_faults(container.resources, f"{where}.resources")
            for number, port in enumerate(container.ports):
                yield from spelled(port.name, port_name, f"{where}.ports[{number}].name")
                yield from spelled(port.host_ip, address, f"{where}.ports[{number}].hostIP")


def _host_port_faults(spec: PodSpec, path: str) -> Faults:
    """Find ports of the node that are taken twice, also by two containers; init containers run in turn."""
    yield from _taken_twice(enumerate(spec.containers), spec, f"{path}.containers")
    if spec.host_network:
        yield from _other_port_faults(spec.containers, f"{path}.containers")
    for pair in enumerate(spec.init_containers):
        yield from _taken_twice((pair,), spec, f"{path}.initContainers")


def _other_port_faults(containers: Sequence[Container], path: str) -> Faults:
    for index, container in enumerate(containers):
        for number, port in enumerate(container.ports):
            if port.host_port not in (0, port.container_port):
                yield Fault(
                    f"{path}[{index}].ports[{number}].hostPort",
                    f"must equal the containerPort, {port.container_port}, in the node's network",
                )


def _taken_twice(containers: Iterable[tuple[int, Container]], spec: PodSpec, path: str) -> Faults:
    taken: set[tuple[int, str | None, str]] = set()
    for index, container in containers:
        for number, port in enumerate(container.ports):
            on_node = port.host_port or (port.container_port if spec.host_network else 0)
            if not on_node:
                continue
            where = f"{path}[{index}].ports[{number}].hostPort"
            key = (on_node, port.host_ip or None, port.protocol)
            if key in taken:
                yield Fault(where, f"duplicate {on_node}: the pod takes this port of the node already")
            taken.add(key)


def new_pod_claim_faults(claims: Sequence[PodResourceClaim], path: str) -> Faults:
    """Find faults of the resource claims of a new pod or pod group."""
    for index, claim in enumerate(claims):
        where = f"{path}[{index}]"
        yield from spelled(claim.name, label_name, f"{where}.name")
        for name, value in (
            ("resourceClaimName", claim.resource_claim_name),
            ("resourceClaimTemplateName", claim.resource_claim_template_name),
        ):
            if value is not None and (wrong := object_name(value)):
                yield Fault(f"{where}.{name}", wrong)
