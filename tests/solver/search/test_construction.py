"""Plans to start from: admissible, and what each is good for."""

import time
from random import Random

import pytest
from support.builders import cluster, group, node, pod
from support.strategies import SMALL, generate

from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.framework.state.moves import Bind, Leave, Mark, bound_nodes
from kubestow.instances.generated import deployments, packing
from kubestow.instances.manifests import snapshot_of
from kubestow.instances.racks import racks
from kubestow.solver.ordering.decoding import complete
from kubestow.solver.plans.apply import new_allocations
from kubestow.solver.plans.greedy_baseline import greedy_outcome
from kubestow.solver.plans.objective import end_state, valuate
from kubestow.solver.plans.outcome import Outcome
from kubestow.solver.plans.replay import inadmissible
from kubestow.solver.search.construction import admissible_part, smallest_first

LATER = 3600.0

ROUNDS = {
    "pods that only need room": lambda: snapshot_of(packing(8, 4, priorities=2, utilisation=1.0, seed=3)),
    "spreading, evictions and budgets": lambda: snapshot_of(deployments(12, seed=1, apps=6, demand=1.2)),
    "gangs in racks with devices": lambda: snapshot_of(racks(1, racks=4, nodes=3, devices=4, gangs=6)),
    **{f"mixed, seed {seed}": lambda seed=seed: generate(Random(seed), SMALL, "mixed") for seed in range(8)},
}


def faults(problem, outcome):
    return list(inadmissible(problem.cluster, outcome.moves))


@pytest.mark.parametrize("make", ROUNDS.values(), ids=ROUNDS)
def test_smallest_first_is_admissible(make):
    problem = build_problem(build_cluster(make()))
    assert faults(problem, smallest_first(problem, time.monotonic() + LATER).outcome) == []


@pytest.mark.parametrize("make", ROUNDS.values(), ids=ROUNDS)
def test_the_end_state_that_is_handed_on_is_the_one_in_which_the_moves_end(make):
    problem = build_problem(build_cluster(make()))
    greedy, _ = greedy_outcome(problem.cluster)
    steps = greedy.moves if greedy.admissible else ()
    outcome, end = complete(problem, steps, greedy.allocations)
    replayed = end_state(problem.cluster, outcome)
    assert end.node_of.tolist() == replayed.node_of.tolist()
    assert end.requested.tolist() == replayed.requested.tolist()
    assert new_allocations(problem.state, end) == new_allocations(problem.state, replayed)
    assert valuate(problem.cluster, outcome, end=end) == valuate(problem.cluster, outcome)


@pytest.mark.parametrize("make", ROUNDS.values(), ids=ROUNDS)
def test_what_is_left_of_a_broken_outcome_is_admissible(make):
    """Greedy's outcome without the first half of its placements: preemptors are missing, victims leave."""
    problem = build_problem(build_cluster(make()))
    greedy, _ = greedy_outcome(problem.cluster)
    coming = list(bound_nodes(greedy.moves))
    missing = set(coming[: len(coming) // 2])
    broken = Outcome(
        moves=tuple(move for move in greedy.moves if move.pod not in missing), allocations=greedy.allocations
    )
    kept = admissible_part(problem, broken)
    assert kept is None or faults(problem, kept) == []


def test_a_wasted_eviction_is_taken_back():
    snapshot = cluster(
        node("a", cpu="2"),
        node("b", cpu="2"),
        pod("runs").req(cpu="1").on("a"),
        pod("p").req(cpu="1").priority(5),
    )
    problem = build_problem(build_cluster(snapshot))
    keys = {p.key: p.index for p in problem.cluster.pods}
    runs, p = keys["default/runs"], keys["default/p"]
    wasted = Outcome(moves=(Mark(runs), Leave(runs), Bind(p, 1)), admissible=False)
    kept = admissible_part(problem, wasted)
    assert kept.placed == {p: 1}
    assert kept.victims == {}


def test_an_eviction_in_part_of_a_group_that_is_evicted_whole_is_taken_back():
    problem, index = whole_group()
    part = Outcome(moves=(Mark(index["ma"]), Leave(index["ma"]), Bind(index["u"], 0)), admissible=False)
    kept = admissible_part(problem, part)
    assert (kept.placed, kept.victims) == ({}, {})


def test_a_group_that_is_evicted_gains_nobody():
    problem, index = whole_group()
    gone = [step(index[name]) for name in ("ma", "mb") for step in (Mark, Leave)]
    found = complete(problem, [*gone, Bind(index["u"], 0)]).outcome
    assert found.placed == {index["u"]: 0}
    assert set(found.victims.values()) == {index["u"]}
    assert faults(problem, found) == []


def whole_group():
    """Two full nodes under a group that is evicted whole, with a member that waits, and a pod above it."""
    member = pod("m").req(cpu="2").member("g")
    snapshot = cluster(
        [node(n, cpu="2") for n in "ab"],
        group("g", disruptionMode="PodGroup"),
        [member.named("ma").on("a"), member.named("mb").on("b")],
        member.named("more"),
        pod("u").req(cpu="2").priority(5),
    )
    problem = build_problem(build_cluster(snapshot))
    return problem, {p.pod.name: p.index for p in problem.cluster.pods}


def test_small_pods_leave_large_ones_out_where_that_places_more():
    snapshot = cluster(node("a", cpu="4"), pod("large").req(cpu="4"), pod("small").req(cpu="1").times(4))
    problem = build_problem(build_cluster(snapshot))
    assert len(complete(problem, ()).outcome.placed) == 1
    assert len(smallest_first(problem, time.monotonic() + LATER).outcome.placed) == 4


def test_higher_priorities_come_first_however_large():
    snapshot = cluster(
        node("a", cpu="4"), pod("large").req(cpu="4").priority(10), pod("small").req(cpu="1").times(4)
    )
    problem = build_problem(build_cluster(snapshot))
    values = valuate(problem.cluster, smallest_first(problem, time.monotonic() + LATER).outcome).by_name()
    assert values["scheduled[priority=10]"] == 1


def test_a_start_ends_when_its_time_is_over():
    problem = build_problem(build_cluster(ROUNDS["pods that only need room"]()))
    assert smallest_first(problem, time.monotonic() - 1).outcome.placed == {}
