"""What is asked of `kubestow suggest`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...models.step_costs import StepCosts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


@dataclass(frozen=True, kw_only=True)
class SuggestOptions:
    """What is asked.

    Attributes
    ----------
    alternatives : int
        How many suggestions are wanted at most.
    others_may_wait : bool
        Whether pods may be left out or evicted that the best plan before a change places or leaves.
    costs : StepCosts
    node_groups : tuple of mapping
        Node groups of which nodes can be added; none for copies of nodes of the input.
    """

    alternatives: int = 3
    others_may_wait: bool = False
    costs: StepCosts = field(default_factory=StepCosts)
    node_groups: tuple[Mapping[str, Any], ...] = ()
