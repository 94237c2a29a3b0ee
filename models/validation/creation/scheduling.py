"""New priority classes, workloads and pod groups.

Not demanded, though the API server does: one level of topology at most, the spelling of a field in the
object's own version, a class with the priority.

Sources: kubernetes pkg/apis/scheduling/validation; KEP-4671, KEP-5732.
"""

from ...scheduling import CompositePodGroup, GroupSpec, PodGroup, PriorityClass, Workload
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
    for index, template in enumerate(item.spec.pod_group_templates):
        where = f"spec.podGroupTemplates[{index}]"
        yield from spelled(template.name, label_name, f"{where}.name")
        yield from _group_faults(template, where)


def _path_segment(text: str) -> str:
    if text in (".", "..") or "/" in text or "%" in text:
        return f"must not be '.' or '..', nor have '/' or '%', but is {text!r}"
    return ""


def new_pod_group_faults(item: PodGroup) -> Faults:
    """Find faults of a new pod group."""
    reference = item.spec.workload_ref
    if reference is not None:
        yield from spelled(reference.workload_name, object_name, "spec.workloadRef.workloadName")
        yield from spelled(reference.template_name, label_name, "spec.workloadRef.templateName")
    yield from spelled(
        item.spec.parent_composite_pod_group_name, object_name, "spec.parentCompositePodGroupName"
    )
    yield from _group_faults(item.spec, "spec")


def new_composite_pod_group_faults(item: CompositePodGroup) -> Faults:
    """Find faults of a new group of groups."""
    yield from spelled(
        item.spec.parent_composite_pod_group_name, object_name, "spec.parentCompositePodGroupName"
    )
    yield from _group_faults(item.spec, "spec")
