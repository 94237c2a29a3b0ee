"""Priority classes, workloads and pod groups.

Sources: kubernetes pkg/apis/scheduling/validation; KEP-4671, KEP-5732, KEP-5729, KEP-4664.
"""

from ..scheduling import (
    CompositePodGroup,
    GroupSpec,
    PodGroup,
    PriorityClass,
    SchedulingPolicy,
    Workload,
)
from .faults import Fault, Faults, at_least, at_most_items, required_text, unique
from .pod import guard_faults, pod_claim_faults

HIGHEST_USER_PRIORITY = 1_000_000_000
SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""The classes that every cluster has."""


def _user_priority_faults(priority: int | None, path: str) -> Faults:
    if priority is not None and priority > HIGHEST_USER_PRIORITY:
        yield Fault(path, f"must be at most {HIGHEST_USER_PRIORITY}, not {priority}")


def priority_class_faults(item: PriorityClass) -> Faults:
    """Find faults of a priority class."""
    if item.name in SYSTEM_PRIORITIES:
        value = SYSTEM_PRIORITIES[item.name]
        if item.value != value:
            yield Fault("value", f"must be {value} for {item.name}, not {item.value}")
    elif item.name.startswith("system-"):
        yield Fault("metadata.name", "must not start with system-, which is kept for the built-in classes")
    else:
        yield from _user_priority_faults(item.value, "value")
    guard = item.allow_disruption_by_priority_greater_than_or_equal
    yield from guard_faults(guard, "allowDisruptionByPriorityGreaterThanOrEqual")


def _policy_faults(policy: SchedulingPolicy, path: str, *, composite: bool = False) -> Faults:
    if (policy.basic is None) == (policy.gang is None):
        yield Fault(path, "must have exactly one of basic and gang")
    if policy.gang is not None:
        name, count = (
            ("minGroupCount", policy.gang.min_group_count)
            if composite
            else ("minCount", policy.gang.min_count)
        )
        if count is None:
            yield Fault(f"{path}.gang.{name}", "required")
        yield from at_least(count, 1, f"{path}.gang.{name}")
    if policy.basic is not None:
        yield from at_least(policy.basic.desired_count, 1, f"{path}.basic.desiredCount")


def _group_faults(spec: GroupSpec, path: str, *, composite: bool = False) -> Faults:
    yield from _policy_faults(spec.scheduling_policy, f"{path}.schedulingPolicy", composite=composite)
    topology = spec.scheduling_constraints.topology
    # Served versions take one entry; several levels are KEP-5732's future extension.
    yield from at_most_items(len(topology), 8, f"{path}.schedulingConstraints.topology")
    for index, item in enumerate(topology):
        yield from required_text(item.key, f"{path}.schedulingConstraints.topology[{index}].key")
    yield from at_most_items(len(spec.resource_claims), 4, f"{path}.resourceClaims")
    yield from pod_claim_faults(spec.resource_claims, f"{path}.resourceClaims")
    if not spec.priority_class_name or spec.priority_class_name not in SYSTEM_PRIORITIES:
        yield from _user_priority_faults(spec.priority, f"{path}.priority")


def _mode_faults(item: Workload | PodGroup, spec: GroupSpec, path: str) -> Faults:
    # v1alpha2 takes the word for a whole group beside either policy.
    early = item.api_version.endswith("/v1alpha2")
    if not early and spec.disruption_mode == "all" and spec.scheduling_policy.basic is not None:
        yield Fault(f"{path}.disruptionMode", "cannot be 'all' with the basic policy")


def workload_faults(item: Workload) -> Faults:
    """Find faults of a workload."""
    templates = item.spec.pod_group_templates
    if not templates:
        yield Fault("spec.podGroupTemplates", "must have at least one entry")
    yield from at_most_items(len(templates), 8, "spec.podGroupTemplates")
    for index, template in enumerate(templates):
        where = f"spec.podGroupTemplates[{index}]"
        yield from required_text(template.name, f"{where}.name")
        yield from _group_faults(template, where)
        yield from _mode_faults(item, template, where)
    yield from unique((template.name for template in templates), "spec.podGroupTemplates", "name")


def pod_group_faults(item: PodGroup) -> Faults:
    """Find faults of a pod group."""
    yield from _mode_faults(item, item.spec, "spec")
    reference = item.spec.workload_ref
    if reference is not None:
        yield from required_text(reference.workload_name, "spec.workloadRef.workloadName")
        yield from required_text(reference.template_name, "spec.workloadRef.templateName")
    yield from _group_faults(item.spec, "spec")


def composite_pod_group_faults(item: CompositePodGroup) -> Faults:
    """Find faults of a group of groups."""
    yield from _group_faults(item.spec, "spec", composite=True)
    if item.spec.parent_composite_pod_group_name == item.name:
        yield Fault("spec.parentCompositePodGroupName", "must not be the group itself")
