"""Pods.

Not demanded, though the API server does: that a port of the node is named once in a pod, and that it equals
the container's port in the node's network. The scheduler has an answer in both cases.

Source: kubernetes pkg/apis/core/validation (ValidatePodSpec and what it calls).
"""

from collections.abc import Collection, Sequence

from ..pod import ContainerPort, Pod, PodResourceClaim, PodSpec, PodTemplateSpec
from ..volumes import Volume
from .faults import Fault, Faults, required_text, unique, within
from .placement import affinity_faults, spread_faults, toleration_faults
from .resources import amount_faults, container_resource_faults, pod_resource_faults
from .storage import claim_spec_faults

HIGHEST_GUARD = 2_000_000_000
"""KEP-4664: a guard may not keep system-cluster-critical pods from anything."""


def pod_faults(pod: Pod) -> Faults:
    """Find faults of a pod."""
    yield from _spec_faults(pod.spec, "spec")
    if pod.spec.scheduling_gates and pod.spec.node_name:
        yield Fault("spec.nodeName", "cannot be set while the pod has scheduling gates")


def template_faults(template: PodTemplateSpec, path: str) -> Faults:
    """Find faults of the pods that a controller would make."""
    yield from _spec_faults(template.spec, f"{path}.spec")


def _spec_faults(spec: PodSpec, path: str) -> Faults:
    if not spec.containers:
        yield Fault(f"{path}.containers", "must have at least one container")
    claims = {claim.name for claim in spec.resource_claims}
    yield from _container_faults(spec, claims, path)
    yield from pod_resource_faults(spec.resources, f"{path}.resources")
    if spec.overhead:
        yield from amount_faults(spec.overhead, f"{path}.overhead")
    yield from toleration_faults(spec.tolerations, f"{path}.tolerations")
    yield from spread_faults(spec.topology_spread_constraints, f"{path}.topologySpreadConstraints")
    yield from affinity_faults(spec.affinity, f"{path}.affinity")
    guard = spec.allow_disruption_by_priority_greater_than_or_equal
    yield from guard_faults(guard, f"{path}.allowDisruptionByPriorityGreaterThanOrEqual")
    for index, gate in enumerate(spec.scheduling_gates):
        yield from required_text(gate.name, f"{path}.schedulingGates[{index}].name")
    yield from unique((gate.name for gate in spec.scheduling_gates), f"{path}.schedulingGates", "name")
    yield from _volume_faults(spec.volumes, f"{path}.volumes")
    yield from pod_claim_faults(spec.resource_claims, f"{path}.resourceClaims")
    if spec.workload_ref is not None:
        yield from required_text(spec.workload_ref.name, f"{path}.workloadRef.name")
        yield from required_text(spec.workload_ref.pod_group, f"{path}.workloadRef.podGroup")
    if spec.scheduling_group is not None:
        yield from required_text(spec.scheduling_group.pod_group_name, f"{path}.schedulingGroup.podGroupName")


def guard_faults(guard: int | None, path: str) -> Faults:
    """Find a KEP-4664 guard that is too high."""
    if guard is not None and guard > HIGHEST_GUARD:
        yield Fault(
            path, f"must be at most {HIGHEST_GUARD}, the value of system-cluster-critical, not {guard}"
        )


def _container_faults(spec: PodSpec, claims: Collection[str], path: str) -> Faults:
    taken: set[str] = set()
    for part, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for index, container in enumerate(containers):
            where = f"{path}.{part}[{index}]"
            if not container.name:
                yield Fault(f"{where}.name", "required")
            elif container.name in taken:
                yield Fault(f"{where}.name", f"duplicate {container.name!r}")
            taken.add(container.name)
            yield from container_resource_faults(container.resources, claims, f"{where}.resources")
            if container.ports:
                yield from _port_faults(container.ports, f"{where}.ports")


def _port_faults(ports: Sequence[ContainerPort], path: str) -> Faults:
    for index, port in enumerate(ports):
        yield from within(port.container_port, 1, 65535, f"{path}[{index}].containerPort")
        yield from within(port.host_port, 0, 65535, f"{path}[{index}].hostPort")
    yield from unique((port.name for port in ports), path, "name")


def pod_claim_faults(claims: Sequence[PodResourceClaim], path: str) -> Faults:
    """Find faults of the resource claims of a pod or a pod group."""
    for index, claim in enumerate(claims):
        where = f"{path}[{index}]"
        yield from required_text(claim.name, f"{where}.name")
        sources = (claim.resource_claim_name, claim.resource_claim_template_name)
        if sum(source is not None for source in sources) != 1:
            yield Fault(where, "must have exactly one of resourceClaimName and resourceClaimTemplateName")
    yield from unique((claim.name for claim in claims), path, "name")


def _volume_faults(volumes: Sequence[Volume], path: str) -> Faults:
    for index, volume in enumerate(volumes):
        where = f"{path}[{index}]"
        yield from required_text(volume.name, f"{where}.name")
        if volume.sources:
            yield Fault(where, f"must have one source, not {' and '.join(volume.sources)}")
        if volume.persistent_volume_claim is not None:
            yield from required_text(
                volume.persistent_volume_claim.claim_name, f"{where}.persistentVolumeClaim.claimName"
            )
        if volume.ephemeral is not None:
            template = volume.ephemeral.volume_claim_template
            if template is None:
                yield Fault(f"{where}.ephemeral.volumeClaimTemplate", "required")
            else:
                yield from claim_spec_faults(template.spec, f"{where}.ephemeral.volumeClaimTemplate.spec")
    yield from unique((volume.name for volume in volumes), path, "name")
