"""The plan: what a round decides, in the words and the shape of the JSON contract.

Every model here is frozen; ``model_dump(by_alias=True)`` is the document that `kubestow solve -o json`
prints. A value never travels without its bound (`Tier`).
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from pydantic import SerializerFunctionWrapHandler, model_serializer

from .plan_model import PlanModel
from .plan_objects import PlanObjects
from .search_point import SearchPoint

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

Sense = Literal["max", "min"]


class Tier(PlanModel):
    """One tier of the lexicographic objective (docs/model.md), most important first in a plan.

    `bound` holds given the values of the tiers above; it is null where nothing was proven (greedy).
    """

    name: str
    sense: Sense
    value: int
    bound: int | None
    proven: bool


class Step(PlanModel):
    """One step of the order that is replayed: exactly one of bind (with node), mark, leave, deallocate."""

    bind: str | None = None
    node: str | None = None
    mark: str | None = None
    leave: str | None = None
    deallocate: str | None = None

    @model_serializer
    def _only_what_is_set(self) -> dict[str, str]:
        return {f: v for f in type(self).model_fields if (v := getattr(self, f)) is not None}


class Binding(PlanModel):
    """A pod bound to a node that had room for it while every victim still ran."""

    pod: str
    node: str


class Nomination(PlanModel):
    """A pod placed where it would fail were the earlier victims still running; `victims` may be empty."""

    pod: str
    node: str
    victims: tuple[str, ...] = ()


class Eviction(PlanModel):
    """A running pod that leaves for `preemptor`.

    `violates` names the budgets that refuse a violating victim, evicted in the order of the plan's steps.
    """

    pod: str
    node: str
    preemptor: str | None
    violates: tuple[str, ...] = ()


class Placement(PlanModel):
    """The domain that a pod group's topology constraint got; `scheduled` counts new members."""

    pod_group: str
    key: str
    domain: str
    scheduled: int


class CompositePlacement(PlanModel):
    """The domain that a composite pod group's topology constraint got; `scheduled` counts new members."""

    composite_pod_group: str
    key: str
    domain: str
    scheduled: int


class Fallback(PlanModel):
    """A DoNotSchedule constraint whose criteria all hold for the pod (KEP-3990).

    `applied` is true where only the fallback lets the pod in: its own step breaks `max_skew`, or its node
    lacks the key; `skew` is that of its step, null where the pod was not placed or has no domain.
    """

    pod: str
    topology_key: str
    criteria: tuple[str, ...]
    applied: bool
    skew: int | None
    max_skew: int


class Unschedulable(PlanModel):
    """A pod left out, with kube-scheduler's own words about the end state of the plan."""

    pod: str
    message: str
    blocked_by: tuple[str, ...] = ()


class Stats(PlanModel):
    """How the plan was made and what was checked.

    `admissible` is false only for an outcome of greedy's that wasted an eviction, evicted a pod that it had
    bound, or part of a group that is evicted whole; `interrupted` says that Ctrl-C ended the work early.
    `wall_seconds` is what the plan took from when its input was begun to be read until it was replayed,
    without the start of the program and without writing the answer. `progress` says what the search knew
    when; it is left out of the document where the search had nothing to find.
    """

    wall_seconds: float = 0.0
    variables: int = 0
    constraints: int = 0
    verified: bool = False
    admissible: bool = True
    interrupted: bool = False
    progress: tuple[SearchPoint, ...] = ()

    @model_serializer(mode="wrap")
    def _progress_only_where_there_is_some(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        document: dict[str, Any] = write(self)
        if not self.progress:
            del document["progress"]
        return document


class Limits(PlanModel):
    """What the round was allowed to evict: null and an empty list where that was not limited."""

    max_evictions: int | None = None
    max_violations: int | None = None
    never_evict: tuple[str, ...] = ()


class Plan(PlanModel):
    """The answer to one round: see the contract for the meaning of each list.

    `objects` has what carrying the plan out takes beside the steps; plans of earlier releases have none.
    `limits` is left out of the document where evictions were not limited.
    """

    instance: str
    scheduler: Literal["optimal", "greedy"]
    status: Literal["OPTIMAL", "FEASIBLE"]
    tiers: tuple[Tier, ...]
    steps: tuple[Step, ...] = ()
    bindings: tuple[Binding, ...] = ()
    nominations: tuple[Nomination, ...] = ()
    evictions: tuple[Eviction, ...] = ()
    allocations: tuple[dict[str, Any], ...] = ()
    placements: tuple[Placement, ...] = ()
    composite_placements: tuple[CompositePlacement, ...] = ()
    fallbacks: tuple[Fallback, ...] = ()
    unschedulable: tuple[Unschedulable, ...] = ()
    limits: Limits | None = None
    stats: Stats
    objects: PlanObjects | None = None

    @model_serializer(mode="wrap")
    def _limits_only_where_set(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        document: dict[str, Any] = write(self)
        if self.limits is None:
            del document["limits"]
        return document

    def vector(self) -> tuple[int, ...]:
        """Tier values with `max` tiers negated: the lexicographically smaller vector is the better one."""
        return tuple(-t.value if t.sense == "max" else t.value for t in self.tiers)

    def asked(self) -> list[Step]:
        """Return the steps in the order in which an API server is asked."""
        return asked(self.steps, {e.pod for e in self.evictions if e.violates})

    def placed(self) -> dict[str, str]:
        """Pod -> node of every pod that the plan places, bound or nominated."""
        places = {b.pod: b.node for b in self.bindings}
        places.update((n.pod, n.node) for n in self.nominations)
        return places


def asked(steps: Iterable[Step], violating: Container[str | None]) -> list[Step]:
    """Return steps in the order in which an API server is asked.

    Of neighbouring marks those whose budgets honour them come first: the eviction API grants what it is asked
    for first, and between neighbouring marks no filter is asked.
    """
    found: list[Step] = []
    for are_marks, together in groupby(steps, key=lambda step: step.mark is not None):
        group = list(together)
        found += sorted(group, key=lambda step: step.mark in violating) if are_marks else group
    return found


class ComparedTier(PlanModel):
    """One tier of both schedulers side by side."""

    name: str
    sense: Sense
    optimal: int
    bound: int | None
    proven: bool
    greedy: int


class ComparedPod(PlanModel):
    """A pod that the two schedulers treat differently; null is not placed."""

    pod: str
    greedy: str | None
    optimal: str | None


class ReliantPod(PlanModel):
    """A pod that the optimum places after evictions, and its node without any; null is not placed."""

    pod: str
    optimal: str
    without_evictions: str | None


class WithoutEvictions(PlanModel):
    """The best plan that evicts nobody, and what becomes in it of the pods that evictions place."""

    plan: Plan
    pods: tuple[ReliantPod, ...]


class Comparison(PlanModel):
    """The document of `kubestow compare`.

    `without_evictions` is left out of the document where it was not asked for.
    """

    optimal: Plan
    greedy: Plan
    tiers: tuple[ComparedTier, ...]
    first_difference: str | None
    pods: tuple[ComparedPod, ...]
    without_evictions: WithoutEvictions | None = None

    @model_serializer(mode="wrap")
    def _only_what_was_asked_for(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        document: dict[str, Any] = write(self)
        if self.without_evictions is None:
            document.pop("withoutEvictions", None)
            document.pop("without_evictions", None)
        return document


PodChange = Literal["starts", "waits", "moves", "evicted", "spared"]
"""What an upgrade means for a pod; the last two are of running pods that only one release evicts."""


class ChangedTier(PlanModel):
    """One tier of the greedy baseline by the rules of two releases."""

    name: str
    sense: Sense
    before: int
    after: int


class ChangedPod(PlanModel):
    """A pod that two releases treat differently; null is not placed."""

    pod: str
    before: str | None
    after: str | None
    change: PodChange


class Upgrade(PlanModel):
    """The document of `kubestow compare --against`: greedy's plans before and after an upgrade."""

    kube_version: str
    against: str
    before: Plan
    after: Plan
    tiers: tuple[ChangedTier, ...]
    first_difference: str | None
    pods: tuple[ChangedPod, ...]
