"""Pod disruption budgets."""

from .base import KubeModel, Timestamp
from .meta import KubeObject
from .selectors import LabelSelector


class PodDisruptionBudgetSpec(KubeModel):
    """How many of the selected pods must stay, or may go; a number or a percentage such as `50%`."""

    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    selector: LabelSelector | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetStatus(KubeModel):
    """What the disruption controller found; `disruptions_allowed` is None where the input lacks it.

    `disrupted_pods` maps names of pods whose eviction is already paid for to the time of that eviction.
    """

    disruptions_allowed: int | None = None
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0
    observed_generation: int | None = None
    disrupted_pods: dict[str, Timestamp] = {}


class PodDisruptionBudget(KubeObject):
    """A limit on voluntary disruptions of the pods it selects."""

    api_version: str = "policy/v1"
    kind: str = "PodDisruptionBudget"
    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()
