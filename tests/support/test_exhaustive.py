"""The tools of the promises are held to account themselves."""

import ast
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from kubestow.framework.build import build_cluster
from kubestow.framework.cycle.runtime import framework_for
from kubestow.framework.rules.affinity import matches_all, required_affinity
from kubestow.framework.rules.budgets import budgets_of
from kubestow.framework.rules.spread import eligible_nodes, hard_constraints, spread_matches
from kubestow.framework.state.moves import Bind, Leave, Mark, bound_nodes, pods_leaving
from kubestow.framework.state.state import State
from kubestow.solver.plans.apply import apply_moves, refused_devices
from kubestow.solver.plans.device_allocations import faults_of_devices
from kubestow.solver.plans.greedy_baseline import greedy_outcome
from kubestow.solver.plans.objective import valuate
from kubestow.solver.plans.outcome import Outcome
from kubestow.solver.plans.replay import inadmissible
from support.builders import manifest
from support.device_rounds import tiny_devices, tiny_mixed
from support.group_rounds import tiny_groups
from support.oracle.exhaustive import best_plan, costs
from support.oracle.valuation import tiers_of
from support.strategies import FAMILIES, small, tiny
from support.sweeps import few_or_all

HERE = Path(__file__).parent / "oracle"


MODULES = ["exhaustive", "exhaustive_devices", "allotments", "valuation", "group_valuation"]


@pytest.mark.parametrize("module", MODULES)
def test_the_search_knows_no_solver(module):
    """What judges the solver shares no code with it."""
    tree = ast.parse((HERE / f"{module}.py").read_text())
    imported = [alias.name for item in ast.walk(tree) if isinstance(item, ast.Import) for alias in item.names]
    imported += [item.module or "" for item in ast.walk(tree) if isinstance(item, ast.ImportFrom)]
    assert not [name for name in imported if "ortools" in name or "encoders" in name or "solver" in name]


ROUNDS = [
    *((tiny, seed) for seed in range(few_or_all(50, 150))),
    *((make, seed) for make in (tiny_groups, tiny_devices, tiny_mixed) for seed in range(few_or_all(25, 60))),
]


@pytest.mark.parametrize("make, seed", ROUNDS)
@pytest.mark.slow
def test_the_best_plan_is_a_plan(make, seed):
    """Its steps pass the filters one by one, and no rule of a plan is broken."""
    cluster = build_cluster(make(seed))
    best = best_plan(cluster)
    state = State.initial(cluster)
    homes = {}
    for move in best.moves:
        match move:
            case Bind(pod, n):
                assert framework_for(cluster, pod).filter_node(state, pod, n).ok
                assert not refused_devices(cluster, state, pod, n, best.allocations)
            case Leave(pod):
                assert state.terminating[pod]
        before = set(state.claims.allocations) if state.claims is not None else set()
        apply_moves(cluster, state, [move], best.allocations)
        if isinstance(move, Bind) and state.claims is not None:
            homes |= dict.fromkeys(state.claims.allocations.keys() - before, move.node)
    assert list(inadmissible(cluster, best.moves)) == []
    assert list(faults_of_devices(cluster, state, best.allocations, homes)) == []


def by_definition(cluster, placed, left, allocations=()):
    tiers = tiers_of(cluster, placed, left, allocations=allocations)
    return None if tiers is None else {name: value for name, (_, value) in tiers.items() if value}


def by_vector(cluster, placed, left, moves=None, allocations=()):
    if moves is None:
        marked = [v for v in left if not cluster.pods[v].terminating]
        moves = [
            *(Mark(v) for v in marked),
            *(Leave(v) for v in left),
            *(Bind(i, n) for i, n in placed.items()),
        ]
    outcome = Outcome(
        moves=tuple(moves), placed=placed, victims=dict.fromkeys(left), allocations=dict(allocations)
    )
    value = valuate(cluster, outcome)
    return {tier.name: tier.value for tier in value.tiers if tier.value} if value.guarded else None


@pytest.mark.parametrize("make, seed", ROUNDS)
@pytest.mark.slow
def test_both_valuations_agree_on_the_best_plan(make, seed):
    cluster = build_cluster(make(seed))
    best = best_plan(cluster)
    placed, left = bound_nodes(best.moves), pods_leaving(best.moves)
    found = by_vector(cluster, placed, left, best.moves, best.allocations)
    assert found == by_definition(cluster, placed, left, best.allocations)


@pytest.mark.parametrize("seed", range(few_or_all(50, 150)))
def test_both_valuations_agree_on_any_end_state(seed):
    """Also where no order leads there: every pod on the first node that its place in the queue points to."""
    cluster = build_cluster(small(seed))
    placed = {
        pod: (3 * k + seed) % cluster.n_nodes for k, pod in enumerate(cluster.pending) if (k + seed) % 3
    }
    left = {v for k, v in enumerate(cluster.bound) if (k + seed) % 2}
    highest = max(cluster.pods[i].priority for i in cluster.pending)
    left = {v for v in left if cluster.pods[v].priority < highest}
    assert by_vector(cluster, placed, left) == by_definition(cluster, placed, left)


def test_a_search_that_finds_nothing_better_keeps_the_empty_plan():
    cluster = build_cluster(tiny(0))
    assert costs(best_plan(cluster).tiers) <= costs(tiers_of(cluster, {}, ()))


def used(snapshot):
    """Which families a round uses, as its manifest shows."""
    text = manifest(snapshot)
    cluster = build_cluster(snapshot)
    words = {
        "spread": "DoNotSchedule",
        "affinity": "podAffinity",
        "anti-affinity": "podAntiAffinity",
        "ports": "hostPort",
        "taints": "taints:",
        "node selector": "nodeSelector:",
        "node affinity": "nodeAffinity:",
        "fallback": "fallbackCriteria",
        "budgets": "PodDisruptionBudget",
        "guards": "allowDisruptionByPriority",
        "terminating": "deletionTimestamp",
        "never": "preemptionPolicy: Never",
        "extended": "example.com/gpu",
        "gated": "schedulingGates",
        "foreign": "other-scheduler",
        "minDomains": "minDomains",
        "policies": "nodeTaintsPolicy: Honor",
        "paid": "disruptedPods",
        "namespaces": "namespace: other",
        "soft": "ScheduleAnyway",
    }
    found = {name for name, word in words.items() if word in text}
    if any(len(cluster.domains(key).values) and not cluster.domains(key).present.all() for key in KEYS):
        found.add("unlabelled")
    if any(info.terms.required_anti_affinity for info in cluster.pods if info.initial_node >= 0):
        found.add("running anti-affinity")
    lowest = min((cluster.pods[v].priority for v in cluster.bound), default=0)
    if cluster.bound and any(cluster.pods[i].priority > lowest for i in cluster.pending):
        found.add("victims")
    return found | set(_pairs(cluster))


def _pairs(cluster):
    """What two objects of a round have to do with each other."""
    carried = [(i, c) for i in cluster.pending for c in hard_constraints(cluster, i)]
    for i, c in carried:
        if c.selector is not None and c.selector.requirements and not c.self_match:
            yield "selector of others"
        if any(
            not hard_constraints(cluster, j) and spread_matches(cluster, c, i, j) for j in cluster.pending
        ):
            yield "matching without the constraint"
    for (i, a), (j, b) in combinations(carried, 2):
        if replace(a, max_skew=0) == replace(b, max_skew=0):
            same_nodes = (eligible_nodes(cluster, i, a) == eligible_nodes(cluster, j, b)).all()
            if a.max_skew != b.max_skew and same_nodes:
                yield "differ in maxSkew"
            if a.max_skew == b.max_skew and not same_nodes:
                yield "differ in eligible nodes"
    if any(len(budgets_of(cluster, v)) > 1 for v in cluster.bound):
        yield "two budgets"
    for i in cluster.pending:
        terms = required_affinity(cluster, i)
        if terms and matches_all(cluster, terms, i):
            yield "self affinity"


KEYS = ("topology.kubernetes.io/zone", "kubernetes.io/hostname")


@pytest.mark.parametrize("make", [tiny, small])
@pytest.mark.slow
def test_the_mix_has_every_family_often_enough(make):
    """Of 300 rounds at least ten use each family; a family that fades from the generator is noticed here."""
    counts = {}
    for seed in range(300):
        for family in used(make(seed)):
            counts[family] = counts.get(family, 0) + 1
    assert len(counts) == 29
    assert {family: count for family, count in counts.items() if count < 10} == {}


@pytest.mark.slow
def test_some_tiny_rounds_need_what_makes_them_hard():
    """There are evictions, violations, fallbacks that cost, and greedy outcomes that are no plan."""
    seen = {"evicted": 0, "violations": 0, "fallback": 0, "left out": 0, "greedy inadmissible": 0}
    for seed in range(300):
        cluster = build_cluster(tiny(seed))
        tiers = best_plan(cluster).tiers
        for word in seen:
            seen[word] += any(name.startswith(word) and value for name, (_, value) in tiers.items())
        placed = sum(value for name, (_, value) in tiers.items() if name.startswith("scheduled"))
        seen["left out"] += placed < len(cluster.pending)
        seen["greedy inadmissible"] += not greedy_outcome(cluster)[0].admissible
    assert {word: count for word, count in seen.items() if not count} == {}


def test_families_are_shares():
    assert all(0 < share < 1 for share in FAMILIES.values())
