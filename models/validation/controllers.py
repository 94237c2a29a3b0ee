"""Controllers of pods.

Source: kubernetes pkg/apis/apps/validation, pkg/apis/batch/validation, pkg/apis/core/validation.
"""

from ..controllers import DaemonSet, Deployment, Job, ReplicaSet, ReplicationController, StatefulSet
from ..pod import PodTemplateSpec
from ..selectors import LabelSelector
from .common import label_selector_faults
from .faults import Fault, Faults, at_least, known, number_or_share
from .pod import template_faults


def _selector_and_template(selector: LabelSelector | None, template: PodTemplateSpec) -> Faults:
    if selector is None:
        yield Fault("spec.selector", "required")
    elif selector.compiled.is_empty:
        yield Fault("spec.selector", "must not be empty")
    elif not selector.matches(template.metadata.labels):
        yield Fault("spec.template.metadata.labels", "must match spec.selector")
    yield from label_selector_faults(selector, "spec.selector")
    yield from template_faults(template, "spec.template")


def replicas_faults(item: Deployment | ReplicaSet) -> Faults:
    """Find faults of a Deployment or a ReplicaSet."""
    yield from at_least(item.spec.replicas, 0, "spec.replicas")
    if isinstance(item, Deployment):
        rolling, path = item.spec.strategy.rolling_update, "spec.strategy.rollingUpdate"
        yield from number_or_share(rolling.max_surge, f"{path}.maxSurge")
        yield from number_or_share(rolling.max_unavailable, f"{path}.maxUnavailable", most=100)
    yield from _selector_and_template(item.spec.selector, item.spec.template)


def stateful_set_faults(item: StatefulSet) -> Faults:
    """Find faults of a StatefulSet."""
    yield from at_least(item.spec.replicas, 0, "spec.replicas")
    if item.spec.ordinals is not None:
        yield from at_least(item.spec.ordinals.start, 0, "spec.ordinals.start")
    yield from known(
        item.spec.pod_management_policy, ("OrderedReady", "Parallel"), "spec.podManagementPolicy"
    )
    yield from _selector_and_template(item.spec.selector, item.spec.template)


def daemon_set_faults(item: DaemonSet) -> Faults:
    """Find faults of a DaemonSet."""
    yield from _selector_and_template(item.spec.selector, item.spec.template)


def replication_controller_faults(item: ReplicationController) -> Faults:
    """Find faults of a ReplicationController, whose selector is a map of labels."""
    yield from at_least(item.spec.replicas, 0, "spec.replicas")
    template = item.spec.template
    if template is not None:
        labels = template.metadata.labels
        if any(labels.get(key) != value for key, value in item.spec.selector.items()):
            yield Fault("spec.template.metadata.labels", "must match spec.selector")
        yield from template_faults(template, "spec.template")


def job_faults(item: Job) -> Faults:
    """Find faults of a Job."""
    yield from at_least(item.spec.parallelism, 0, "spec.parallelism")
    yield from at_least(item.spec.completions, 0, "spec.completions")
    yield from known(item.spec.completion_mode, ("NonIndexed", "Indexed"), "spec.completionMode")
    if item.spec.completion_mode == "Indexed" and item.spec.completions is None:
        yield Fault("spec.completions", "required with completionMode Indexed")
    yield from label_selector_faults(item.spec.selector, "spec.selector")
    yield from template_faults(item.spec.template, "spec.template")
