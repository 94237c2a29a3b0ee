"""The document of `kubestow what-if`: a round before changes, and after each set of them."""

from __future__ import annotations

from typing import Any, Literal

from .plan import Plan, Sense
from .plan_model import PlanModel

Fate = Literal["starts", "waits", "moves", "evicted", "spared", "comes", "queues", "lost", "removed"]
"""What changes mean for a pod: it starts; it waits, or is to be placed again in vain; it is on another node;
it runs and is evicted only after them, or only before; it is new and starts, or waits; it is lost with its
node; or it goes without loss."""


class TierValue(PlanModel):
    """One tier of one round by both schedulers; null where the round has no such tier."""

    optimal: int
    bound: int | None
    proven: bool
    greedy: int


class WhatIfTier(PlanModel):
    """One tier before and after; null where a round has no pods that the tier is about."""

    name: str
    sense: Sense
    before: TierValue | None
    after: TierValue | None


class WhatIfPod(PlanModel):
    """A pod with another fate: the node that it is on before and after; null is none."""

    pod: str
    before: str | None
    after: str | None
    change: Fate


class Round(PlanModel):
    """Both schedulers' answers to one round."""

    optimal: Plan
    greedy: Plan


class MadeAgain(PlanModel):
    """A pod whose node is gone and that its controller makes again."""

    pod: str
    node: str


class WhatIfScenario(PlanModel):
    """One set of changes, and the round after it.

    `changes` is as a file has it. `pods` are those that the optimum treats differently, `greedy_pods` those
    that greedy does; `first_difference` is the first tier whose optimum differs.
    """

    name: str
    title: str
    changes: dict[str, Any]
    new_nodes: tuple[str, ...]
    lost_nodes: tuple[str, ...]
    made_again: tuple[MadeAgain, ...]
    lost: tuple[str, ...]
    removed: tuple[str, ...]
    new_pods: tuple[str, ...]
    daemons: tuple[str, ...]
    notes: tuple[str, ...]
    after: Round
    tiers: tuple[WhatIfTier, ...]
    first_difference: str | None
    pods: tuple[WhatIfPod, ...]
    greedy_pods: tuple[WhatIfPod, ...]


class WhatIf(PlanModel):
    """A round, and what becomes of it; `interrupted` where Ctrl-C came before all scenarios were solved."""

    instance: str
    before: Round
    scenarios: tuple[WhatIfScenario, ...]
    interrupted: bool = False
