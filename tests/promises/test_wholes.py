"""The promises with groups that are evicted whole or not at all (KEP-5710, disruptionMode)."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from support.apart import APART, WHOLE, parts_of, solved
from support.builders import budget, cluster, composite, group, node, pod
from support.group_rounds import small_groups, tiny_groups
from support.oracle.exhaustive import best_plan
from support.proof import HURRIED, OPTIONS, check_optimal, check_same, solve_and_replay, told
from support.side_by_side import side_by_side
from support.sweeps import few_or_all
from support.tampering import steps
from support.whole_rounds import (
    all_whole,
    tiny_whole_rounds,
    tiny_whole_trees,
    tiny_wholes,
    tiny_wholes_in_trees,
)

from kubestow.framework.build import build_cluster
from kubestow.framework.measures.group_rules import partly_evicted
from kubestow.framework.rules.composites import composites
from kubestow.framework.rules.groups import groups
from kubestow.models.kube_version import KubeVersion
from kubestow.models.plan import Step
from kubestow.models.snapshot import Snapshot
from kubestow.solver.api import solve, solve_greedy
from kubestow.solver.plans.replay import ReplayFailure, replay

SEEDS = range(few_or_all(100, 300))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_plan_equals_the_exhaustive_search(seed):
    """Equal in every tier, all proven; or greedy's inadmissible outcome is better, and is said to be so."""
    check_optimal(tiny_wholes(seed))


@pytest.mark.parametrize("seed", range(few_or_all(20, 60)))
@pytest.mark.parametrize("made", [tiny_wholes, tiny_wholes_in_trees, tiny_whole_trees])
def test_greedy_of_1_37_evicts_no_part_of_a_group(made, seed):
    snapshot = replace(made(seed), kube_version=KubeVersion.V1_37)
    index = build_cluster(snapshot)
    gone = [index.pod_index[item.pod] for item in solve_greedy(snapshot).evictions]
    assert partly_evicted(index, gone) == []


@settings(max_examples=few_or_all(15, 30))
@given(snapshot=tiny_whole_rounds)
def test_no_round_that_hypothesis_finds_is_solved_worse(snapshot):
    check_optimal(snapshot)


@pytest.mark.parametrize("seed", range(few_or_all(15, 40)))
def test_every_other_family_beside_groups_that_are_evicted_whole(seed):
    check_optimal(all_whole(tiny_groups(seed)))


@pytest.mark.parametrize("seed", range(few_or_all(15, 40)))
@pytest.mark.slow
def test_the_plan_is_never_worse_than_greedys(seed):
    """Lexicographically at least as good, and both plans pass their replay; at any time limit."""
    snapshot = all_whole(small_groups(seed))
    optimal, greedy = solve_and_replay(snapshot, HURRIED)
    assert optimal.vector() <= greedy.vector(), told(snapshot, f"greedy has {greedy.vector()}", plan=optimal)


@pytest.mark.parametrize("seed", range(few_or_all(30, 80)))
def test_groups_of_a_tree_are_evicted_whole(seed):
    check_optimal(tiny_wholes_in_trees(seed))


@pytest.mark.parametrize("seed", range(few_or_all(30, 80)))
def test_groups_of_groups_are_evicted_whole(seed):
    check_optimal(tiny_whole_trees(seed))


def test_the_mix_evicts_groups_of_groups_often_enough():
    """In best plans groups of groups leave: members of several groups, from several nodes; greedy's, too."""
    seen = {"whole": 0, "several groups": 0, "of several nodes": 0, "for a pod elsewhere": 0, "greedy": 0}
    for seed in range(60):
        optimal, greedy = solve_and_replay(tiny_whole_trees(seed))
        index = build_cluster(tiny_whole_trees(seed))
        names = {info.key: info.pod.spec.scheduling_group for info in index.pods}
        units = {item for root in composites(index) for item in root.inner()}
        member = {index.pods[i].key for unit in units for i in unit.unit}
        leaving = [e for e in optimal.evictions if e.pod in member]
        seen["whole"] += bool(leaving)
        seen["several groups"] += len({names[e.pod].pod_group_name for e in leaving}) > 1
        seen["of several nodes"] += len({e.node for e in leaving}) > 1
        seen["for a pod elsewhere"] += any(optimal.placed()[e.preemptor] != e.node for e in leaving)
        seen["greedy"] += any(e.pod in member for e in greedy.evictions)
    assert min(seen.values()) >= 2, seen


def test_the_mix_evicts_groups_of_trees_often_enough():
    """In best plans groups leave that have siblings, also for a sibling."""
    seen = {"whole": 0, "for a sibling": 0}
    for seed in range(80):
        optimal = solve(tiny_wholes_in_trees(seed), OPTIONS)
        index = build_cluster(tiny_wholes_in_trees(seed))
        units = {index.pods[i].key: g for g in groups(index) if len(g.unit) > 1 for i in g.unit}
        siblings = {index.pods[i].key for g in groups(index) if g.parent for i in g.pending}
        leaving = [e for e in optimal.evictions if e.pod in units]
        seen["whole"] += bool(leaving)
        seen["for a sibling"] += any(e.preemptor in siblings for e in leaving)
    assert min(seen.values()) >= 2, seen


def test_the_mix_evicts_groups_whole_often_enough():
    """In best plans groups leave, also from several nodes, for a pod on another node, against a budget."""
    seen = {"whole": 0, "of several nodes": 0, "for a pod elsewhere": 0, "against a budget": 0, "greedy": 0}
    for seed in SEEDS[:60]:
        optimal, greedy = solve_and_replay(tiny_wholes(seed), OPTIONS)
        if not optimal.stats.admissible:
            continue
        index = build_cluster(tiny_wholes(seed))
        member = {index.pods[i].key for g in groups(index) for i in g.unit}
        leaving = [e for e in optimal.evictions if e.pod in member]
        seen["whole"] += bool(leaving)
        seen["of several nodes"] += len({e.node for e in leaving}) > 1
        seen["for a pod elsewhere"] += any(optimal.placed()[e.preemptor] != e.node for e in leaving)
        seen["against a budget"] += any(e.violates for e in leaving)
        seen["greedy"] += not greedy.stats.admissible
    assert min(seen.values()) >= 2, seen


@pytest.mark.parametrize("seed", range(few_or_all(15, 40)))
def test_parts_add_up_to_the_whole(seed):
    snapshot = side_by_side(tiny_wholes(2 * seed), tiny_wholes(2 * seed + 1), name=f"wholes-{seed}")
    whole, apart = solved(snapshot, WHOLE), solved(snapshot, APART)
    assert whole.status == apart.status == "OPTIMAL", told(snapshot, "not proven", plan=apart)
    check_same(snapshot, whole, apart)


@pytest.mark.parametrize("seed", range(1000, 1000 + few_or_all(15, 40)))
def test_what_falls_apart_by_itself_adds_up(seed):
    snapshot = tiny_wholes(seed)
    check_same(snapshot, solved(snapshot, WHOLE), solved(snapshot, APART))


@pytest.mark.parametrize("prefer", ["scores", "pack", "spread"])
@pytest.mark.parametrize("seed", range(8))
def test_preferences_count_those_who_leave_elsewhere(prefer, seed):
    check_optimal(tiny_wholes(seed + 30), replace(OPTIONS, prefer=prefer))


@pytest.mark.parametrize("seed", range(30, 45))
def test_pods_of_one_class_are_alike(seed):
    """The exhaustive search finds the same, whether it takes equal pods as equal or tries every one."""
    snapshot = tiny_wholes(seed)
    by_class, one_by_one = (best_plan(build_cluster(snapshot), by_class=choice) for choice in (True, False))
    assert by_class.tiers == one_by_one.tiers, told(snapshot, "pods of one class differ")


@dataclass(frozen=True)
class Row:
    """A round, who leaves in the best plan, and how many pods come; greedy's outcome is no better there."""

    name: str
    snapshot: Snapshot
    evicted: set[str]
    placed: int

    def title(self):
        """Name the row in pytest's output."""
        return self.name


A, B, C = (node(n, cpu="2") for n in "abc")
TEAM = group("g", gang=1, disruptionMode="PodGroup")
MEMBER = pod("m").req(cpu="2").priority(0).started(5).member("g")
URGENT = pod("u").req(cpu="2").priority(10)
BOTH = [MEMBER.named("ma").on("a"), MEMBER.named("mb").on("b")]
GANG = [group("j", gang=2), pod("j").req(cpu="2").priority(10).member("j").times(2)]

TREE = [
    composite("top", gang=2, disruptionMode="all"),
    *(group(name, gang=1, parent="top") for name in ("g", "h")),
]
IN_TREE = [BOTH[0], BOTH[1].member("h")]

LEAVES = {name: [Step(mark=f"default/{name}"), Step(leave=f"default/{name}")] for name in ("ma", "mb")}

ROWS = [
    Row(
        "one pod leaves rather than a group of two",
        cluster(A, B, C, TEAM, BOTH, pod("v").req(cpu="2").priority(0).on("c"), URGENT),
        {"v"},
        1,
    ),
    Row("a gang that needs the room of both evicts both", cluster(A, B, TEAM, BOTH, GANG), {"ma", "mb"}, 2),
    Row(
        "a group leaves for two pods that fit where nobody else is",
        cluster(A, B, C, TEAM, BOTH, pod("v").priority(5).req(cpu="2").on("c"), URGENT.times(2)),
        {"ma", "mb"},
        2,
    ),
    Row(
        "a member that no pod may evict keeps the others",
        cluster(A, B, TEAM, BOTH[0], BOTH[1].priority(10), pod("v").req(cpu="2").on("c"), C, URGENT),
        {"v"},
        1,
    ),
    Row(
        "a member on a node that is not there neither leaves nor holds",
        cluster(A, TEAM, BOTH, URGENT),
        {"ma"},
        1,
    ),
    Row(
        "a group of groups leaves with all below it",
        cluster(A, B, TREE, IN_TREE, URGENT, release="1.37"),
        {"ma", "mb"},
        1,
    ),
    Row(
        "one pod leaves rather than a group of groups",
        cluster(A, B, C, TREE, IN_TREE, pod("v").req(cpu="2").priority(0).on("c"), URGENT, release="1.37"),
        {"v"},
        1,
    ),
    Row(
        "a member of one group that no pod may evict keeps the other group",
        cluster(A, B, TREE, IN_TREE[0], IN_TREE[1].priority(10), URGENT, release="1.37"),
        set(),
        0,
    ),
    Row(
        "who joins one group keeps the other",
        cluster(A, B, C, TREE, IN_TREE, pod("n").req(cpu="2").priority(0).member("h"), release="1.37"),
        set(),
        1,
    ),
    Row(
        "a terminating member leaves alone, at no cost",
        cluster(A, B, TEAM, BOTH[0].terminating(), BOTH[1], URGENT),
        set(),
        1,
    ),
    Row(
        "budgets count every member that leaves",
        cluster(
            [A, B, C, node("d", cpu="2"), TEAM],
            [item.label(app="x") for item in BOTH],
            budget("b", {"app": "x"}, allowed=1),
            [pod(f"v{k}").label(app="y").req(cpu="1").priority(0).on("ccdd"[k]) for k in range(4)],
            GANG,
        ),
        {"v0", "v1", "v2", "v3"},
        2,
    ),
    Row(
        "and no more than they have to where the budgets allow them",
        cluster(
            [A, B, C, node("d", cpu="2"), TEAM],
            [item.label(app="x") for item in BOTH],
            budget("b", {"app": "x"}, allowed=2),
            [pod(f"v{k}").label(app="y").req(cpu="1").priority(0).on("ccdd"[k]) for k in range(4)],
            GANG,
        ),
        {"ma", "mb"},
        2,
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=Row.title)
def test_rounds(row):
    optimal, _ = check_optimal(row.snapshot)
    assert optimal.stats.admissible
    assert {e.pod.split("/")[1] for e in optimal.evictions} == row.evicted
    assert len(optimal.placed()) == row.placed


def test_an_eviction_in_part_is_the_answer_only_where_it_beats_every_plan():
    """kube-scheduler evicts one of two members where a plan would have to evict both."""
    optimal, greedy = check_optimal(cluster(A, B, TEAM, BOTH, URGENT))
    assert not optimal.stats.admissible
    assert len(optimal.evictions) == len(greedy.evictions) == 1


@pytest.mark.parametrize(
    "taken, words",
    [
        pytest.param(
            [*LEAVES["ma"], Step(bind="default/u", node="a")],
            "the plan is not admissible: pod group default/g is evicted whole or not at all: "
            "default/ma leaves and default/mb stays",
            id="a part of a group leaves",
        ),
        pytest.param(
            [
                *LEAVES["ma"],
                *LEAVES["mb"],
                Step(bind="default/u", node="a"),
                Step(bind="default/m", node="b"),
            ],
            "the plan is not admissible: default/m is placed, and its pod group default/g is evicted",
            id="a group is evicted and gains a member",
        ),
        pytest.param(
            [*LEAVES["ma"], *LEAVES["mb"], Step(bind="default/u", node="c")],
            "the plan is not admissible: default/ma leaves and no preemptor comes to its node",
            id="a group leaves for nobody",
        ),
        pytest.param(
            [*LEAVES["ma"], *LEAVES["mb"], Step(bind="default/u", node="a")],
            "the plan contradicts itself: ",
            id="a group that leaves for a pod on one of its nodes is no fault of the steps",
        ),
    ],
)
def test_the_replay_refuses(taken, words):
    snapshot = cluster(A, B, C, TEAM, BOTH, URGENT, MEMBER)
    index = build_cluster(snapshot)
    plan = solve(snapshot, OPTIONS)
    replay(index, plan)
    with pytest.raises(ReplayFailure) as refusal:
        replay(index, steps(*taken)(plan))
    assert words in str(refusal.value)


def test_a_group_ties_the_nodes_that_its_members_are_on():
    """Two pods with a node each are parts of their own, unless a group that is evicted whole is on both."""
    pinned = [URGENT.named(f"u{n}").nodes("hostname", "In", n) for n in "ab"]
    apart = group("g", gang=1, disruptionMode="Pod")
    assert len(parts_of(cluster(A, B, apart, BOTH, pinned))) == 2
    assert len(parts_of(cluster(A, B, TEAM, BOTH, pinned))) == 1
