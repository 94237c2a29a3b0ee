"""Documents that are written without a model of their own: their shapes, for schemas and for tests.

A trace of a large cluster has hundreds of millions of values, so commands write these documents as plain
dictionaries. What stands here is held to what they print by `tests/models/test_schemas.py`, field by field. A
field that is None by default is left out where it says nothing.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from .plan import Limits
from .plan_model import PlanModel


class Verdict(PlanModel):
    """A plugin's rejection: of a node, or of the pod on all of them."""

    plugin: str
    code: str
    reasons: list[str]


class TracedClaim(PlanModel):
    """The devices of a claim that a cycle allocated, as in a plan's `allocations`."""

    claim: str
    devices: list[dict[str, Any]]


class TracedCycle(PlanModel):
    """One pod's turn in the greedy baseline."""

    pod: str
    pre_filter: Verdict | None = None
    filter: dict[str, Verdict]
    feasible: list[str]
    scores: dict[str, dict[str, int]] | None = None
    totals: dict[str, int] | None = None
    result: str
    node: str | None
    victims: list[str]
    pdb_violations: int
    allocations: list[TracedClaim] | None = None
    deallocated: list[str] | None = None
    message: str | None = None
    error: bool | None = None
    cleared_nominations: list[str] | None = None
    pod_group: str | None = None
    placement: str | None = None


class TracedMember(PlanModel):
    """A member of a pod group in one placement."""

    pod: str
    node: str | None
    permit: str | None = None
    requires_preemption: bool | None = None
    message: str | None = None


class TracedPlacement(PlanModel):
    """A placement of a pod group that was tried."""

    name: str
    nodes: list[str]
    status: str
    members: list[TracedMember]
    message: str | None = None
    scores: dict[str, int] | None = None
    total: int | None = None


class TracedPreemption(PlanModel):
    """What a pod group's preemption ended with, and how often the group was tried for it."""

    code: str
    message: str | None = None
    tries: int


class TracedGroup(PlanModel):
    """One pod group's turn."""

    pod_group: str
    pods: list[str]
    placements: list[TracedPlacement]
    placement: str | None
    result: str
    reason: str | None = None
    message: str | None = None
    preemption: TracedPreemption | None = None
    victims: list[str]


class Trace(PlanModel):
    """`kubestow trace`: one pass over the waiting pods; groups and gated pods where there are pod groups."""

    version: int
    cycles: list[TracedCycle]
    groups: list[TracedGroup] | None = None
    gated: list[str] | None = None


class ExplainedVictim(PlanModel):
    """A pod that preemption would evict on a node."""

    pod: str
    priority: int


class ExplainedPreemption(PlanModel):
    """What evictions would do on a node: `reasons` where they do not help, the rest where they do."""

    helps: bool
    reasons: list[str] | None = None
    victims: list[ExplainedVictim] | None = None
    violations: int | None = None
    chosen: bool | None = None


class ExplainedRejection(PlanModel):
    """A filter that rejects a node; each of `missing` says `what` and `text`, and its own numbers beside."""

    plugin: str
    code: str
    reasons: list[str]
    missing: list[dict[str, Any]]


class ExplainedNode(PlanModel):
    """A node: its scores where it fits, else what rejects it, upstream's own answer first."""

    node: str
    fits: bool
    scores: dict[str, int] | None = None
    total: int | None = None
    chosen: bool | None = None
    plugin: str | None = None
    code: str | None = None
    reasons: list[str] | None = None
    missing: list[dict[str, Any]] | None = None
    also: list[ExplainedRejection] | None = None
    nominated: list[str] | None = None
    preemption: ExplainedPreemption | None = None
    terminating: list[str] | None = None


class Explanation(PlanModel):
    """`kubestow explain`: why a pod goes where it goes, or nowhere.

    `causes` are what stands behind the message: each has a `kind`, the `nodes` that it is about, `text`, and
    its own facts.
    """

    instance: str
    pod: str
    priority: int
    place: int | None
    queue: int
    result: str
    node: str | None
    message: str
    pod_group: str | None = None
    placement: str | None = None
    causes: list[dict[str, Any]]
    nodes: list[ExplainedNode]
    notes: list[str] | None = None


class HintVerdict(PlanModel):
    """`kubestow hints`: a line for each case."""

    id: str
    events: list[str]
    registered: bool
    hint: str


class QueueStep(PlanModel):
    """A step of a script with what the queue holds after it; the script's own fields stand beside."""

    at: float
    op: str
    auto: bool | None = None
    events: list[str] | None = None
    popped: str | None = None
    popped_from: str | None = None
    popped_with: list[str] | None = None
    active: list[str]
    backoff: list[str]
    unschedulable: list[str]
    gated: list[str]
    in_flight: list[str]
    backoff_expiration: dict[str, float]
    counts: dict[str, tuple[int, int, int]]


class QueueReplay(PlanModel):
    """A script of `kubestow queue` with the queue's state in each step, beside the script's own fields."""

    trace: list[QueueStep]


class SimulatedPods(PlanModel):
    """Pods created without a node, by what became of them."""

    created: int
    scheduled: int
    waiting: int
    deleted: int


class Waits(PlanModel):
    """Seconds from creation to binding; null where nothing was scheduled."""

    p50: float | None
    p99: float | None
    max: float | None


class Attempts(PlanModel):
    """Cycles, and those of them that placed nothing."""

    total: int
    wasted: int


class HintCounts(PlanModel):
    """How often a hint was asked about a pod, answered `Queue`, and was run."""

    asked: int
    queue: int
    run: int


class SimulatedRun(PlanModel):
    """One scheduler's run: sums over the whole of it."""

    seconds: float
    pods: SimulatedPods
    time_to_schedule: Waits
    attempts: Attempts
    evictions: int
    violations: int
    fallbacks: int
    node_hours: float
    rounds: int
    hints: HintCounts
    notes: list[str]


class SimulationSummary(PlanModel):
    """`kubestow simulate`: the sums of each scheduler's run."""

    scenario: str
    title: str
    seconds: float
    seed: int
    runs: dict[str, SimulatedRun]


class CheckedClaim(PlanModel):
    """A claim of a document: `holds` is null where it was not checked."""

    claim: str
    holds: bool | None
    how: str


class PlanEvidence(PlanModel):
    """The steps of a plan, and the devices that they allocate: what a check replays."""

    steps: list[dict[str, Any]]
    allocations: list[dict[str, Any]]


class WithoutRule(PlanEvidence):
    """What becomes of the pods without a rule; others that are not in the core stand or are lifted, too."""

    others: Literal["standing", "lifted"]
    placed: dict[str, str]
    evicted: list[str]


class CoreRule(PlanModel):
    """A rule that keeps the pods, as its author wrote it; `counts` are those of a spread constraint."""

    kind: str
    object: str
    field: str
    text: str
    facts: dict[str, Any]
    counts: list[dict[str, Any]] | None = None
    without: WithoutRule


class WhyProof(PlanModel):
    """Why no plan places the pods: `nodes` or `domains` with sums, or the solver's word (docs/why.md)."""

    kind: Literal["counting", "countingByDomain", "search"]
    staying: list[str] | None = None
    nodes: list[dict[str, Any]] | None = None
    key: str | None = None
    domains: list[dict[str, Any]] | None = None


class WhyCore(PlanModel):
    """Another minimal set of rules that keeps the pods, and its proof."""

    core: list[CoreRule]
    proof: WhyProof


class WhyTier(PlanModel):
    """The first tier that a place costs: the best plan's value and that of the best one with the pods."""

    name: str
    sense: Literal["max", "min"]
    best: int
    best_bound: int | None
    with_: int = Field(alias="with")
    with_bound: int | None
    proven: bool
    certain: int | None = None


class WhyAnswer(PlanModel):
    """`kubestow explain --why`: which fields there are depends on `answer` (docs/why.md)."""

    instance: str
    subject: str
    priority: int
    pods: list[str]
    answer: Literal["placed", "atACost", "placeable", "impossible", "open"]
    status: Literal["OPTIMAL", "FEASIBLE"] | None = None
    tier: WhyTier | None = None
    placed: dict[str, str] | None = None
    victims: list[str] | None = None
    greedy: dict[str, str | None] | None = None
    greedy_messages: dict[str, str] | None = None
    left_out: list[str] | None = None
    evicted: list[str] | None = None
    spared: list[str] | None = None
    evidence: PlanEvidence | None = None
    best_evidence: PlanEvidence | None = None
    core: list[CoreRule] | None = None
    proof: WhyProof | None = None
    domains: list[dict[str, Any]] | None = None
    beside: str | None = None
    other_cores: list[WhyCore] | None = None
    all_cores: bool | None = None
    rounds_asked: int | None = None
    limits: Limits | None = None
    notes: list[str] | None = None


class Checked(PlanModel):
    """`kubestow check`: each claim of a document, and whether all that were checked hold."""

    instance: str
    holds: bool
    claims: list[CheckedClaim]
