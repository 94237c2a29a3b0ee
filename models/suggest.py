"""The document of `kubestow suggest`: the cheapest changes after which pods are placed (docs/suggest.md)."""

from __future__ import annotations

from typing import Any, Literal

from .plan import Limits
from .plan_model import PlanModel

SuggestAnswer = Literal["placed", "suggestions", "nothing", "open"]
"""A best plan places it as it is; there is something that helps; nothing in the menu does; time was out."""


class SuggestedStep(PlanModel):
    """One step: what sort it is, whose field changes, what changes, and what it costs."""

    kind: str
    object: str
    text: str
    cost: int


class Suggestion(PlanModel):
    """Steps that help when they are taken together.

    `cheapest` says that no set of steps of the menu costs less, or, for an alternative, that none costs less
    of those that are cheaper in some kind of step than every suggestion before. `proven` says that `placed`
    is read off a plan that is proven to be a best one of the changed round. `left_out` and `evicted` are
    those that the best plan before places, or leaves where they run. `changes` is a file of `kubestow
    what-if`, `kubectl` are lines for a shell.
    """

    cost: int
    cheapest: bool
    proven: bool
    steps: tuple[SuggestedStep, ...]
    placed: dict[str, str]
    left_out: tuple[str, ...]
    evicted: tuple[str, ...]
    changes: dict[str, Any]
    kubectl: tuple[str, ...]


class Suggestions(PlanModel):
    """The answer for one pod, one group, or one class of pods that are alike.

    `complete` says that there is no further alternative, or, where there is no suggestion, that nothing in
    the menu helps. `alike` are other pods of the same class that wait; `menu` counts the steps that there
    were to choose from, `trials` the sets of them that were tried, `rounds` the rounds solved for that.
    """

    subject: str
    priority: int
    pods: tuple[str, ...]
    alike: tuple[str, ...]
    answer: SuggestAnswer
    complete: bool
    suggestions: tuple[Suggestion, ...]
    menu: int
    trials: int
    rounds: int


class SuggestDocument(PlanModel):
    """All answers.

    `status` is that of the best plan of the round as it is, `others_may_wait` what was allowed.
    """

    instance: str
    status: str
    others_may_wait: bool
    answers: tuple[Suggestions, ...]
    limits: Limits | None
    wall_seconds: float
    interrupted: bool
