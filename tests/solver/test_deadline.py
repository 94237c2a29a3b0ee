"""Where the time of a round ends in the middle of a step: a plan, its bounds, and what it says it took."""

import time
from dataclasses import replace

import pytest
from support.builders import cluster, node, pod
from support.search_params import search_with
from support.strategies import small

from kubestow.framework.build import build_cluster
from kubestow.instances.generated import packing
from kubestow.instances.manifests import load_snapshot, snapshot_of
from kubestow.models import tiers
from kubestow.solver.api import SolveOptions, solve, solve_both, solve_greedy_round, solve_round
from kubestow.solver.deadline import OutOfTime, until
from kubestow.solver.decomposition import part_search, search, unsearched
from kubestow.solver.plans.greedy_baseline import greedy_outcome
from kubestow.solver.search import tier_search
from kubestow.solver.search.params import SearchParams
from kubestow.solver.search.phases import relax

OPTIONS = SolveOptions(workers=1, time_limit=20)
TIGHT = snapshot_of(packing(4, 4, 2, 1.0, 1))


def out_of_time_in(phase):
    """A watch by which the time is up as soon as a phase begins."""

    def watch(name, done=0, total=0):
        if name.startswith(phase):
            raise OutOfTime

    return watch


def test_a_watch_ends_a_step_once_its_time_has_come():
    heard = []
    until(float("inf"), lambda *told: heard.append(told))("classes", 1, 2)
    with pytest.raises(OutOfTime):
        until(0.0, lambda *told: heard.append(told))("classes", 2, 2)
    assert heard == [("classes", 1, 2), ("classes", 2, 2)]


@pytest.mark.parametrize("prefer", ["none", "scores", "pack", "spread"])
@pytest.mark.parametrize(
    "phase, variables",
    [
        pytest.param("finding classes", False, id="while classes are found"),
        pytest.param("building the model", False, id="while the model is built"),
        pytest.param("reading the model", True, id="while the model is read"),
    ],
)
def test_greedys_plan_and_honest_bounds_are_left(phase, variables, prefer, monkeypatch):
    best = solve(TIGHT, replace(OPTIONS, prefer=prefer))
    monkeypatch.setattr(tier_search, "SMALL_MODEL", (relax,))  # what needs no model would close it
    options = replace(OPTIONS, prefer=prefer)
    optimal, greedy = solve_both(TIGHT, options, watch=out_of_time_in(phase))
    assert best.status == "OPTIMAL"
    assert optimal.status == "FEASIBLE"
    assert optimal.vector() <= greedy.vector()
    assert bool(optimal.stats.variables) == variables
    assert not optimal.stats.interrupted
    for mine, known in zip(optimal.tiers, best.tiers, strict=True):
        assert mine.bound >= known.value if mine.sense == "max" else mine.bound <= known.value
        if mine.value != known.value:
            break


@pytest.fixture
def _much_for_what_needs_no_search(monkeypatch):
    search_with(monkeypatch, least_last_classes=60.0, least_last_sums=20.0)


POOLS = ("x", "y")
"""Each pool of two nodes of four cores is a part by itself: six pods of two or three wait for it."""


def pools(number):
    return cluster(
        *(node(name + pool, cpu="4").label(pool=pool) for pool in POOLS[:number] for name in "ab"),
        *(
            pod(pool + cpu).req(cpu=cpu).select(pool=pool).times(3)
            for pool in POOLS[:number]
            for cpu in ("2", "3")
        ),
    )


@pytest.mark.usefixtures("_much_for_what_needs_no_search")
@pytest.mark.parametrize("admissible", [True, False], ids=["greedy's plan", "what is repaired of it"])
@pytest.mark.parametrize(
    "number, bound",
    [
        pytest.param(1, (3, True), id="eight cores hold three by their sums, which proves them"),
        pytest.param(2, (7, False), id="sixteen hold seven where two parts are summed as one"),
    ],
)
@pytest.mark.parametrize("late", [False, True], ids=["when it begins", "once its classes are found"])
def test_a_round_whose_time_is_up_has_bounds_by_sums_and_a_plan(monkeypatch, admissible, number, bound, late):
    index = build_cluster(pools(number))
    greedy = replace(greedy_outcome(index)[0], admissible=admissible)
    begin = time.monotonic()
    options = replace(OPTIONS, time_limit=1000.0 if late else 1e-9)

    def slowly(*arguments):
        found = build_problem(*arguments)
        monkeypatch.setattr(search.time, "monotonic", lambda: begin + 1001.0)
        return found

    if late:
        build_problem = unsearched.build_problem
        monkeypatch.setattr(unsearched, "build_problem", slowly)
    found = search.search_round(index, greedy, options, None, begin, least=0)
    assert len(found.best.placed) == len(greedy.placed) == 3 * number
    assert found.bounds[tiers.scheduled(0)] == bound
    assert not found.interrupted


@pytest.mark.usefixtures("_much_for_what_needs_no_search")
def test_a_part_whose_time_is_up_has_bounds_by_sums_and_a_plan(monkeypatch):
    index = build_cluster(pools(1))
    piece = part_search.Piece(index.pending, greedy_outcome(index)[0], seconds=-1.0, workers=1)
    monkeypatch.setattr(part_search, "LEAST_SECONDS", 1e-9)
    shared = part_search.Shared(index.snapshot, OPTIONS, [index])
    found = part_search.search_part(shared, piece, lambda _: None)
    assert found.bounds[tiers.scheduled(0)] == found.values[tiers.scheduled(0)] == 3
    assert found.trivial_bounds[tiers.scheduled(0)] == 5


def test_classes_that_take_too_long_are_given_up():
    """Greedy's plan is left, with bounds that cost nothing."""
    index = build_cluster(pools(1))
    greedy = greedy_outcome(index)[0]
    found = search.search_round(
        index, greedy, OPTIONS, None, time.monotonic(), watch=out_of_time_in("finding classes: classes")
    )
    assert len(found.best.placed) == 3
    assert found.bounds[tiers.scheduled(0)] == (6, False)


@pytest.mark.parametrize(
    "spent, seconds",
    [
        pytest.param(0.1, 0.25, id="a moment at least"),
        pytest.param(8.0, 4.0, id="half of what was spent before"),
    ],
)
def test_classes_have_time_of_their_own(spent, seconds):
    assert SearchParams().last_classes(spent) == seconds


@pytest.mark.parametrize("seed", range(6))
def test_no_plan_has_more_points_than_the_bound_that_costs_no_model(seed):
    options = replace(OPTIONS, prefer="scores", time_limit=0.5)
    best = solve(small(seed), options).tiers[-1]
    assert best.name == "scores"
    assert solve(small(seed), options, watch=out_of_time_in("finding classes")).tiers[-1].bound >= best.value


def test_seconds_count_what_was_waited_for_before():
    plans = [solve_round(TIGHT, OPTIONS, waited=1000).plan, solve_greedy_round(TIGHT, waited=1000).plan]
    plans += solve_both(TIGHT, OPTIONS, waited=1000)
    assert all(1000 < plan.stats.wall_seconds < 1100 for plan in plans)


def test_time_that_reading_took_is_not_taken_from_the_limit():
    assert solve_round(TIGHT, OPTIONS, waited=1000).plan.status == "OPTIMAL"


NODES = """
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
"""


def test_every_step_from_the_file_to_the_replay_is_told_in_its_order(tmp_path):
    heard = []

    def watch(phase, done=0, total=0):
        assert not total or done <= total
        if phase not in heard:
            heard.append(phase)

    file = tmp_path / "round.yaml"
    file.write_text(NODES)
    solve(load_snapshot(file, watch=watch), OPTIONS, watch=watch)
    assert heard == [
        f"reading {file}: bytes",
        "indexing: pods",
        "classifying: pods",
        "greedy, pass 1: pods",
        "finding classes: pods",
        "finding classes: classes",
        "putting the plan in words: pods",
        "replaying: steps",
    ]
