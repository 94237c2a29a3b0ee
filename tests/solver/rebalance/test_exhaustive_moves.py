"""The best moves of tiny rounds are those of an exhaustive search, and so is every point of the front."""

import time

import pytest
from ortools.sat.python import cp_model
from support.move_rounds import moves_round
from support.oracle.exhaustive_moves import best_moves
from support.sweeps import few_or_all

from kubestow.encoders.build import build_problem
from kubestow.solver.options import SolveOptions
from kubestow.solver.rebalance.api import rebalance
from kubestow.solver.rebalance.front import front
from kubestow.solver.rebalance.packing import Packing
from kubestow.solver.rebalance.round import MoveWishes, move_round
from kubestow.solver.rebalance.search import MoveSearch
from kubestow.solver.rebalance.sums import MoveSums

OPTIONS = SolveOptions(time_limit=60, workers=1)
ROUNDS = [
    *((goal, seed) for goal in ("admit", "free-nodes") for seed in range(15)),
    *((goal, seed) for goal in ("pack", "spread") for seed in range(4)),
]


def drawn(seed, goal):
    """A round with what is asked of it: every third one limits the moves, every other one counts memory."""
    wishes = MoveWishes(goal=goal, most=None if seed % 3 else 1, memory=seed % 2 == 0)
    return moves_round(seed, waiting=goal == "admit"), wishes


def costs(tiers):
    return tuple(-tier.value if tier.sense == "max" else tier.value for tier in tiers)


def exhaustive(snapshot, wishes, most=None):
    found = move_round(snapshot, wishes)
    most = wishes.most if most is None else most
    successors = found.mobility.successors
    return best_moves(found.cluster, successors, wishes.goal, most=most, memory=wishes.memory).costs


@pytest.mark.parametrize("goal, seed", ROUNDS)
def test_the_moves_are_those_of_the_exhaustive_search(goal, seed):
    snapshot, wishes = drawn(seed, goal)
    found = rebalance(snapshot, wishes, OPTIONS)
    assert found.optimal.proven
    assert costs(found.optimal.tiers) == exhaustive(snapshot, wishes)
    assert costs(found.optimal.tiers) <= costs(found.heuristic.tiers)


@pytest.mark.slow
@pytest.mark.parametrize("goal", ["admit", "free-nodes"])
def test_so_they_are_in_two_hundred_rounds(goal):
    for seed in range(15, 200):
        snapshot, wishes = drawn(seed, goal)
        found = rebalance(snapshot, wishes, OPTIONS).optimal
        assert found.proven, seed
        assert costs(found.tiers) == exhaustive(snapshot, wishes), seed


@pytest.mark.parametrize("seed", range(1, 3))
@pytest.mark.parametrize("goal", ["admit", "free-nodes"])
def test_every_point_of_the_front_is_that_of_the_exhaustive_search(goal, seed):
    snapshot, wishes = moves_round(seed, waiting=goal == "admit"), MoveWishes(goal=goal)
    front = rebalance(snapshot, wishes, OPTIONS, frontier=True).front
    assert [point.max_moves for point in front] == list(range(len(front)))
    for point in front:
        best = exhaustive(snapshot, wishes, point.max_moves)
        assert point.proven
        assert costs(point.tiers) == best[: len(point.tiers)]
        assert point.moves == best[len(point.tiers)]


@pytest.mark.parametrize("seed", range(40, 46))
@pytest.mark.parametrize("goal", ["admit", "free-nodes"])
def test_the_front_of_a_large_round_is_bounded(goal, seed):
    """There rules and sums take the place of a search for each number of moves."""
    snapshot, wishes = moves_round(seed, waiting=goal == "admit"), MoveWishes(goal=goal)
    found = move_round(snapshot, wishes)
    problem = build_problem(found.cluster, mobility=found.mobility)
    search = MoveSearch(problem, OPTIONS)
    search.run()
    search.state.decisions = search.state.params.small_model + 1
    points = front(problem, search, [search.state.incumbent.best], OPTIONS, time.monotonic() + 60)
    for point in points:
        first, best = point.tiers[0], exhaustive(snapshot, wishes, point.max_moves)[0]
        bound = -first.bound if first.sense == "max" else first.bound
        assert bound <= best <= costs(point.tiers)[0]
        assert point.moves <= point.max_moves


@pytest.mark.parametrize(
    "goal, seed",
    [
        *((goal, seed) for goal in ("admit", "free-nodes") for seed in range(20, 32)),
        *((goal, seed) for goal in ("pack", "spread") for seed in range(few_or_all(6, 200))),
    ],
)
def test_sums_and_patterns_bound_every_plan(goal, seed):
    """The bounds of large rounds, each given the best values of the tiers above."""
    snapshot, wishes = drawn(seed, goal)
    found = move_round(snapshot, wishes)
    problem = build_problem(found.cluster, mobility=found.mobility)
    search = MoveSearch(problem, OPTIONS)
    search.run()
    best = search.state.incumbent
    assert best.valuation.costs == exhaustive(snapshot, wishes)
    sums = MoveSums(problem)
    packing = Packing(problem, sums)
    packing.see(search.state.best_end.node_of.tolist())
    assert packing.tighten(time.monotonic() + 60)
    held, told = [], []
    for tier in best.valuation.tiers:
        bound = sums.bound(tier.name, held, cp_model.CpSolver())
        if bound is not None:
            best.tell(tier.name, bound, best.valuation.costs[: len(held)])  # raises if it is crossed
            told.append(tier.name)
        held.append((tier.name, tier.value))
    assert told
