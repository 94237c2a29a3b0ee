"""What each kind of step costs, and how far steps go: the prices of `kubestow suggest` (docs/suggest.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Final

MAX_SKEW: Final = "maxSkew"
SCHEDULE_ANYWAY: Final = "scheduleAnyway"
TOLERATION: Final = "toleration"
NODE_SELECTOR: Final = "nodeSelector"
NODE_AFFINITY: Final = "nodeAffinity"
POD_AFFINITY: Final = "podAffinity"
POD_ANTI_AFFINITY: Final = "podAntiAffinity"
BUDGET: Final = "budget"
PRIORITY: Final = "priority"
REQUEST: Final = "request"
MIN_COUNT: Final = "minCount"
TOPOLOGY_WIDER: Final = "topologyWider"
TOPOLOGY_DROPPED: Final = "topologyDropped"
UNCORDON: Final = "uncordon"
TERMINATING: Final = "terminating"
ADD_NODE: Final = "addNode"
DEALLOCATE: Final = "deallocate"

DEFAULT_COSTS: Final[Mapping[str, int]] = MappingProxyType(
    {
        UNCORDON: 1,
        TERMINATING: 2,
        DEALLOCATE: 2,
        MAX_SKEW: 2,
        TOLERATION: 3,
        BUDGET: 3,
        MIN_COUNT: 3,
        TOPOLOGY_WIDER: 3,
        NODE_SELECTOR: 4,
        NODE_AFFINITY: 4,
        POD_AFFINITY: 4,
        REQUEST: 4,
        PRIORITY: 4,
        POD_ANTI_AFFINITY: 5,
        SCHEDULE_ANYWAY: 5,
        TOPOLOGY_DROPPED: 5,
        ADD_NODE: 8,
    }
)
"""The cost of a step of each kind: of `maxSkew`, `budget` and `minCount` for each unit."""

NEVER: Final = "never"
"""The cost of a kind of which no step is taken."""

HIGHEST_PRIORITY: Final = 1_000_000_000
"""The highest priority that users may give (kubernetes pkg/apis/scheduling: HighestUserDefinablePriority)."""


@dataclass(frozen=True, kw_only=True)
class StepCosts:
    """Prices and limits of steps.

    Attributes
    ----------
    costs : mapping
        Kind of step to its cost, a whole number from 1 on; kinds without one are not in the menu.
    max_skew : int
        By how much a `maxSkew` grows at most.
    budget : int
        How many more disruptions a budget allows at most.
    priority : int
        The highest priority that is given.
    request : Fraction
        The least share of a request that is left of it.
    """

    costs: Mapping[str, int] = field(default_factory=lambda: DEFAULT_COSTS)
    max_skew: int = 3
    budget: int = 2
    priority: int = HIGHEST_PRIORITY
    request: Fraction = Fraction(1, 2)

    def of(self, kind: str) -> int | None:
        """Return the cost of a kind of step; None where there is none of it in the menu."""
        return self.costs.get(kind)
