"""Pod disruption budgets."""

from typing import Annotated, Any

from pydantic import Field, PlainValidator

from .base import Int32, Int64, KubeModel, Timestamp, shared
from .meta import KubeObject
from .selectors import LabelSelector


def _int_or_text(value: Any) -> int | str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        if not -(2**31) <= value < 2**31:
            raise ValueError(f"{value} is out of range")
        return value
    raise ValueError(f"{value!r} is neither a number nor a percentage (such as 2 or 50%)")


IntOrText = Annotated[int | str, PlainValidator(_int_or_text)]


class PodDisruptionBudgetSpec(KubeModel):
    """How many of the selected pods must stay, or may go; a number or a percentage such as `50%`."""

    min_available: IntOrText | None = None
    max_unavailable: IntOrText | None = None
    selector: LabelSelector | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetStatus(KubeModel):
    """What the disruption controller found; `disruptions_allowed` is None where the input lacks it.

    `disrupted_pods` maps names of pods whose eviction is already paid for to the time of that eviction.
    """

    disruptions_allowed: Int32 | None = None
    current_healthy: Int32 = 0
    desired_healthy: Int32 = 0
    expected_pods: Int32 = 0
    observed_generation: Int64 | None = None
    disrupted_pods: dict[str, Timestamp] = Field(default_factory=dict)


class PodDisruptionBudget(KubeObject):
    """A limit on voluntary disruptions of the pods it selects."""

    api_version: str = "policy/v1"
    kind: str = "PodDisruptionBudget"
    spec: PodDisruptionBudgetSpec = shared(PodDisruptionBudgetSpec())
    status: PodDisruptionBudgetStatus = shared(PodDisruptionBudgetStatus())
