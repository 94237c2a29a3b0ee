"""New priority classes, workloads and pod groups.

Not demanded, though the API server does: one level of topology at most, the spelling of a field in the
object's own version, a class with the priority.

Sources: kubernetes pkg/apis/scheduling/validation; KEP-4671, KEP-5732, KEP-6012.
"""

from ...scheduling import (
    CompositePodGroup,
    CompositePodGroupTemplate,
    GroupSpec,
    PodGroup,
    PodGroupSpec,
    PodGroupTemplate,
    PriorityClass,
    Workload,
)
from ..faults import Fault, Faults, required_text
from .names import label_name, object_name, qualified_name, spelled, subdomain
from .pod import new_pod_claim_faults


def new_priority_class_faults(item: PriorityClass) -> Faults:
    """Find faults of a new priority class."""
    if item.name.startswith("system-") and item.global_default:
        yield Fault("globalDefault", "cannot be true for a class of the system")


def _group_faults(spec: GroupSpec, path: str) -> Faults:
    for index, item in enumerate(spec.scheduling_constraints.topology):
        yield from spelled(item.key, qualified_name, f"{path}.schedulingConstraints.topology[{index}].key")
    yield from new_pod_claim_faults(spec.resource_claims, f"{path}.resourceClaims")
    yield from spelled(spec.priority_class_name, object_name, f"{path}.priorityClassName")


def new_workload_faults(item: Workload) -> Faults:
    """Find faults of a new workload."""
    controller = item.spec.controller_ref
    if controller is not None:
        yield from spelled(controller.api_group, subdomain, "spec.controllerRef.apiGroup")
        for name, value in (("kind", controller.kind), ("name", controller.name)):
            yield from required_text(value, f"spec.controllerRef.{name}")
            yield from spelled(value, _path_segment, f"spec.controllerRef.{name}")
    yield from _templates_faults(
        item.spec.pod_group_templates, item.spec.composite_pod_group_templates, "spec"
    )


def _templates_faults(
    pod_groups: tuple[PodGroupTemplate, ...], composites: tuple[CompositePodGroupTemplate, ...], path: str
) -> Faults:
    for index, leaf in enumerate(pod_groups):
        where = f"{path}.podGroupTemplates[{index}]"
        yield from spelled(leaf.name, label_name, f"{where}.name")
        yield from _group_faults(leaf, where)
    for index, template in enumerate(composites):
        where = f"{path}.compositePodGroupTemplates[{index}]"
        yield from spelled(template.name, label_name, f"{where}.name")
        yield from _group_faults(template, where)
        yield from _templates_faults(
            template.pod_group_templates, template.composite_pod_group_templates, where
        )


def _path_segment(text: str) -> str:
    if text in (".", "..") or "/" in text or "%" in text:
        return f"must not be '.' or '..', nor have '/' or '%', but is {text!r}"
    return ""


def _place_faults(spec: PodGroupSpec) -> Faults:
    if spec.workload_ref is not None:
        yield from spelled(spec.workload_ref.workload_name, object_name, "spec.workloadRef.workloadName")
        yield from spelled(spec.workload_ref.template_name, label_name, "spec.workloadRef.templateName")
    parent = spec.parent_composite_pod_group_name
    yield from spelled(parent, object_name, "spec.parentCompositePodGroupName")


def new_pod_group_faults(item: PodGroup) -> Faults:
    """Find faults of a new pod group."""
    yield from _place_faults(item.spec)
    yield from _group_faults(item.spec, "spec")


def new_composite_pod_group_faults(item: CompositePodGroup) -> Faults:
    """Find faults of a new group of groups."""
    yield from _place_faults(item.spec)
    yield from _group_faults(item.spec, "spec")
