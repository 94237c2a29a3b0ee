"""New disruption budgets.

Source: kubernetes pkg/apis/policy/validation.
"""

from ...policy import PodDisruptionBudget
from ..faults import Faults
from .metadata import new_selector_faults


def new_budget_faults(budget: PodDisruptionBudget) -> Faults:
    """Find faults of a new budget."""
    yield from new_selector_faults(budget.spec.selector, "spec.selector")
