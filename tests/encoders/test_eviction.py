"""Which sets of victims the model admits with which placements, and what they cost at least."""

from dataclasses import dataclass, field

import pytest
from support.builders import budget, cluster, node, pod
from support.engines import admits

from kubestow.framework.build import build_cluster
from kubestow.models.snapshot import Snapshot


@dataclass(frozen=True)
class Case:
    """Pods on nodes, victims that leave, tiers that are claimed: does the model admit it?"""

    name: str
    snapshot: Snapshot
    placed: dict[str, str]
    left: tuple[str, ...]
    admitted: bool
    tiers: dict[str, int] = field(default_factory=dict)

    def title(self):
        return self.name


v = pod("v").label(app="web").req(cpu="1").priority(0).on("a")
w = v.named("w").on("b")
p = pod("p").req(cpu="1").priority(100)
q = p.named("q").priority(50)
room = node("a", cpu="2")
full = (node("a", cpu="1"), node("b", cpu="1"))
none = budget("app", app="web", allowed=0)
one = budget("app", app="web", allowed=1)
VIOLATIONS, EVICTED = "violations[priority=100]", "evicted[priority=100,victim=0]"

CASES = [
    Case("a victim with its preemptor", cluster(full, v, p), {"p": "a"}, ("v",), True),
    Case("a newcomer without the room", cluster(full, v, p), {"p": "a"}, (), False),
    Case("a victim without any newcomer", cluster(full, v, p), {}, ("v",), False),
    Case("the preemptor is on another node", cluster(full, v, p), {"p": "b"}, ("v",), False),
    Case("a newcomer of equal priority", cluster(full, v, p.priority(0)), {"p": "a"}, ("v",), False),
    Case("a newcomer that does not preempt", cluster(full, v, p.never()), {"p": "a"}, ("v",), False),
    Case(
        "one preemptor serves two victims",
        cluster(node("a", cpu="2"), v, v.named("u"), p),
        {"p": "a"},
        ("v", "u"),
        True,
        {EVICTED: 2},
    ),
    Case("an eviction is counted", cluster(full, v, p), {"p": "a"}, ("v",), False, {EVICTED: 0}),
    Case("a terminating victim is not counted", cluster(full, v.terminating(), p), {"p": "a"}, ("v",), True),
    Case("within the budget", cluster(full, v, p, one), {"p": "a"}, ("v",), True, {VIOLATIONS: 0}),
    Case("past the budget", cluster(full, v, p, none), {"p": "a"}, ("v",), False, {VIOLATIONS: 0}),
    Case(
        "past the budget, and said so", cluster(full, v, p, none), {"p": "a"}, ("v",), True, {VIOLATIONS: 1}
    ),
    Case(
        "two nodes share one budget",
        cluster(full, v, w, p.times(2), one),
        {"p-0": "a", "p-1": "b"},
        ("v", "w"),
        False,
        {VIOLATIONS: 0},
    ),
    Case(
        "a terminating victim draws on no budget",
        cluster(full, v.terminating(), w, p.times(2), one),
        {"p-0": "a", "p-1": "b"},
        ("v", "w"),
        True,
        {VIOLATIONS: 0},
    ),
    Case(
        "a disruption that is paid for",
        cluster(full, v, p, none.disrupted("v")),
        {"p": "a"},
        ("v",),
        True,
        {VIOLATIONS: 0},
    ),
    Case(
        "a pod under two budgets violates once",
        cluster(full, v.label(tier="front"), p, none, budget("tier", tier="front", allowed=0)),
        {"p": "a"},
        ("v",),
        True,
        {VIOLATIONS: 1},
    ),
    Case(
        "guarded, violating, and the newcomer is below the guard",
        cluster(full, v.guard(101), p, none),
        {"p": "a"},
        ("v",),
        False,
    ),
    Case(
        "guarded, violating, and the newcomer reaches the guard",
        cluster(full, v.guard(100), p, none),
        {"p": "a"},
        ("v",),
        True,
        {VIOLATIONS: 1},
    ),
    Case(
        "guarded and violating: not at the level of the lesser pod",
        cluster(room, v.guard(100), p, q, none),
        {"p": "a", "q": "a"},
        ("v",),
        False,
        {VIOLATIONS: 0},
    ),
    Case(
        "guarded and violating: at the level of the guard, and only there",
        cluster(room, v.guard(100), p, q, none),
        {"p": "a", "q": "a"},
        ("v",),
        True,
        {VIOLATIONS: 1, EVICTED: 1, "violations[priority=50]": 0, "evicted[priority=50,victim=0]": 0},
    ),
    Case(
        "guarded and honoured: at the level of the lesser pod",
        cluster(room, v.guard(100), p, q, one),
        {"p": "a", "q": "a"},
        ("v",),
        True,
        {VIOLATIONS: 0, EVICTED: 0, "violations[priority=50]": 0, "evicted[priority=50,victim=0]": 1},
    ),
    Case(
        "guarded and within the budget",
        cluster(full, v.guard(101), p, one),
        {"p": "a"},
        ("v",),
        True,
        {VIOLATIONS: 0},
    ),
    Case(
        "guarded, with the gate off",
        cluster(full, v.guard(101), p, none, gates="DisruptionPolicyInPriorityClass=false"),
        {"p": "a"},
        ("v",),
        True,
        {VIOLATIONS: 1},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=Case.title)
def test_admitted(case):
    """The model admits the evictions, at these values of the tiers."""
    cluster = build_cluster(case.snapshot)
    placed = {cluster.pod_index[f"default/{name}"]: cluster.node_index[n] for name, n in case.placed.items()}
    left = [cluster.pod_index[f"default/{name}"] for name in case.left]
    assert admits(cluster, placed, left, case.tiers) == case.admitted
