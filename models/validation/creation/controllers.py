"""New controllers of pods.

Source: kubernetes pkg/apis/apps/validation, pkg/apis/batch/validation, pkg/apis/core/validation.
"""

from ...controllers import DaemonSet, Deployment, Job, ReplicaSet, ReplicationController, StatefulSet
from ..faults import Fault, Faults, known
from .metadata import new_selector_faults
from .names import label_faults
from .pod import new_template_faults


def _usual_faults(item: DaemonSet | Deployment | ReplicaSet | StatefulSet) -> Faults:
    yield from new_selector_faults(item.spec.selector, "spec.selector")
    yield from new_template_faults(item.spec.template, "spec.template")


new_replica_set_faults = _usual_faults
new_stateful_set_faults = _usual_faults
new_daemon_set_faults = _usual_faults


def new_deployment_faults(item: Deployment) -> Faults:
    """Find faults of a new Deployment."""
    yield from _usual_faults(item)
    strategy, path = item.spec.strategy, "spec.strategy"
    yield from known(strategy.type, ("RollingUpdate", "Recreate"), f"{path}.type")
    if strategy.type == "Recreate" and "rolling_update" in strategy.model_fields_set:
        yield Fault(f"{path}.rollingUpdate", "cannot be set with type Recreate")
    rolling = strategy.rolling_update
    if strategy.type == "RollingUpdate" and _is_zero(rolling.max_surge) and _is_zero(rolling.max_unavailable):
        yield Fault(f"{path}.rollingUpdate.maxUnavailable", "cannot be 0 when maxSurge is 0")


def _is_zero(value: int | str) -> bool:
    return value == 0 or (isinstance(value, str) and not value.strip("0%"))


def new_replication_controller_faults(item: ReplicationController) -> Faults:
    """Find faults of a new ReplicationController."""
    yield from label_faults(item.spec.selector, "spec.selector")
    if item.spec.template is None:
        yield Fault("spec.template", "required")
    else:
        yield from new_template_faults(item.spec.template, "spec.template")


def new_job_faults(item: Job) -> Faults:
    """Find faults of a new Job."""
    yield from new_selector_faults(item.spec.selector, "spec.selector")
    yield from new_template_faults(item.spec.template, "spec.template", ("OnFailure", "Never"))
