"""Priority classes, workloads and pod groups.

What holds between objects (a parent that is missing, a circle of parents) is no fault of an object: see
`framework.rules.hierarchy`.

Sources: kubernetes pkg/apis/scheduling/validation; KEP-4671, KEP-5732, KEP-5729, KEP-4664, KEP-6012.
"""

from collections.abc import Iterator

from ..scheduling import (
    CompositePodGroup,
    CompositePodGroupTemplate,
    GroupSpec,
    PodGroup,
    PodGroupSpec,
    PodGroupTemplate,
    PriorityClass,
    SchedulingPolicy,
    Workload,
)
from .faults import Fault, Faults, at_least, at_most_items, required_text, unique
from .pod import guard_faults, pod_claim_faults

HIGHEST_USER_PRIORITY = 1_000_000_000
SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""The classes that every cluster has."""
MOST_LEVELS = 4
"""How deep a tree of groups may be, its pod groups included (KEP-6012)."""
_MOST_TEMPLATES = 8


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
    if policy.basic is not None and composite and policy.basic.desired_count is not None:
        yield Fault(f"{path}.basic.desiredCount", "is for pod groups, not for groups of groups")
    if policy.basic is not None:
        yield from at_least(policy.basic.desired_count, 1, f"{path}.basic.desiredCount")


def _group_faults(spec: GroupSpec, path: str, *, composite: bool = False) -> Faults:
    yield from _policy_faults(spec.scheduling_policy, f"{path}.schedulingPolicy", composite=composite)
    topology = spec.scheduling_constraints.topology
    # Served versions take one entry; several levels are KEP-5732's future extension.
    yield from at_most_items(len(topology), 8, f"{path}.schedulingConstraints.topology")
    for index, item in enumerate(topology):
        where = f"{path}.schedulingConstraints.topology[{index}]"
        yield from required_text(item.key, f"{where}.key")
        if composite and item.mode != "Required":
            yield Fault(f"{where}.mode", f"must be Required for a group of groups, not {item.mode!r}")
    if composite and spec.resource_claims:
        yield Fault(f"{path}.resourceClaims", "is for pod groups, not for groups of groups")
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
    templates, composites = item.spec.pod_group_templates, item.spec.composite_pod_group_templates
    if templates and composites:
        text = "must have exactly one of podGroupTemplates and compositePodGroupTemplates"
        yield Fault("spec", text)
    if not templates and not composites:
        yield Fault("spec.podGroupTemplates", "must have at least one entry")
    yield from at_most_items(len(templates), _MOST_TEMPLATES, "spec.podGroupTemplates")
    for index, template in enumerate(templates):
        yield from _template_faults(item, template, f"spec.podGroupTemplates[{index}]")
    yield from _tree_faults(item, composites, "spec.compositePodGroupTemplates", 1)
    if composites:
        yield from _names_faults(item)
    else:
        yield from unique((template.name for template in templates), "spec.podGroupTemplates", "name")


def _template_faults(item: Workload, template: PodGroupTemplate, path: str) -> Faults:
    yield from required_text(template.name, f"{path}.name")
    yield from _group_faults(template, path)
    yield from _mode_faults(item, template, path)


def _tree_faults(
    item: Workload, templates: tuple[CompositePodGroupTemplate, ...], path: str, level: int
) -> Faults:
    """Find faults of the templates of a level, 1 for the roots, and of those below them."""
    yield from at_most_items(len(templates), _MOST_TEMPLATES, path)
    for index, template in enumerate(templates):
        where = f"{path}[{index}]"
        yield from required_text(template.name, f"{where}.name")
        yield from _group_faults(template, where, composite=True)
        pod_groups, composites = template.pod_group_templates, template.composite_pod_group_templates
        if level == MOST_LEVELS and (pod_groups or composites):
            yield Fault(where, f"must not have children: a tree has at most {MOST_LEVELS} levels")
            continue
        if template.disruption_mode == "all":
            yield from _parted_faults(pod_groups, f"{where}.podGroupTemplates", template.name)
            yield from _parted_faults(composites, f"{where}.compositePodGroupTemplates", template.name)
        yield from at_most_items(len(pod_groups), _MOST_TEMPLATES, f"{where}.podGroupTemplates")
        for number, leaf in enumerate(pod_groups):
            yield from _template_faults(item, leaf, f"{where}.podGroupTemplates[{number}]")
        yield from _tree_faults(item, composites, f"{where}.compositePodGroupTemplates", level + 1)


def _parted_faults(
    children: tuple[PodGroupTemplate, ...] | tuple[CompositePodGroupTemplate, ...], path: str, parent: str
) -> Faults:
    """Find children that could be disrupted in parts below a parent that is disrupted as a whole."""
    for index, child in enumerate(children):
        if child.disruption_mode != "all":
            field = f"{path}[{index}].disruptionMode"
            yield Fault(
                field, f"must be all below {parent!r}, whose mode is all, not {child.disruption_mode}"
            )


def _names_faults(item: Workload) -> Faults:
    """Find template names that occur twice in a workload's trees: references would be ambiguous."""
    seen: set[str] = set()
    for path, name in _names(item.spec.composite_pod_group_templates, "spec.compositePodGroupTemplates"):
        if name in seen:
            yield Fault(path, f"duplicate {name!r}")
        seen.add(name)


def _names(templates: tuple[CompositePodGroupTemplate, ...], path: str) -> Iterator[tuple[str, str]]:
    for index, template in enumerate(templates):
        where = f"{path}[{index}]"
        yield f"{where}.name", template.name
        for number, leaf in enumerate(template.pod_group_templates):
            yield f"{where}.podGroupTemplates[{number}].name", leaf.name
        yield from _names(template.composite_pod_group_templates, f"{where}.compositePodGroupTemplates")


def _reference_faults(spec: PodGroupSpec) -> Faults:
    if spec.workload_ref is not None:
        yield from required_text(spec.workload_ref.workload_name, "spec.workloadRef.workloadName")
        yield from required_text(spec.workload_ref.template_name, "spec.workloadRef.templateName")


def pod_group_faults(item: PodGroup) -> Faults:
    """Find faults of a pod group."""
    yield from _mode_faults(item, item.spec, "spec")
    if item.spec.parent_composite_pod_group_name and item.spec.workload_ref is None:
        yield Fault("spec.workloadRef", "required beside parentCompositePodGroupName")
    yield from _reference_faults(item.spec)
    yield from _group_faults(item.spec, "spec")


def composite_pod_group_faults(item: CompositePodGroup) -> Faults:
    """Find faults of a group of groups."""
    if item.spec.workload_ref is None:
        yield Fault("spec.workloadRef", "required")
    yield from _reference_faults(item.spec)
    yield from _group_faults(item.spec, "spec", composite=True)
    if item.spec.parent_composite_pod_group_name == item.name:
        yield Fault("spec.parentCompositePodGroupName", "must not be the group itself")
