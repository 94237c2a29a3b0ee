"""Pod disruption budgets.

Source: kubernetes pkg/apis/policy/validation.
"""

from ..policy import PodDisruptionBudget
from .common import label_selector_faults
from .faults import Fault, Faults, known, number_or_share


def budget_faults(budget: PodDisruptionBudget) -> Faults:
    """Find faults of a budget."""
    spec = budget.spec
    if spec.min_available is not None and spec.max_unavailable is not None:
        yield Fault("spec.maxUnavailable", "cannot be set beside minAvailable; a budget has one of the two")
    for name, value in (("minAvailable", spec.min_available), ("maxUnavailable", spec.max_unavailable)):
        yield from number_or_share(value, f"spec.{name}", most=100)
    yield from label_selector_faults(spec.selector, "spec.selector")
    yield from known(
        spec.unhealthy_pod_eviction_policy,
        ("IfHealthyBudget", "AlwaysAllow"),
        "spec.unhealthyPodEvictionPolicy",
    )
