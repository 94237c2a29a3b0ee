"""Patterns that fill nodes to the brim, and what the question whether a bound is attained gives."""

import itertools
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders import cluster, node, pod
from support.optima import best, holds
from support.proof import OPTIONS, PLENTY
from support.search_params import search_with

from kubestow.encoders.build import build_problem
from kubestow.encoders.linear import HIGHEST, LOWEST
from kubestow.framework.build import build_cluster
from kubestow.instances.generated import packing
from kubestow.instances.manifests import snapshot_of
from kubestow.models import tiers
from kubestow.solver.api import solve_both
from kubestow.solver.model.round_model import RoundModel
from kubestow.solver.model.sparse_rows import Rows, Sparse
from kubestow.solver.patterns import enumeration as listing
from kubestow.solver.patterns import slack_bounds as squeeze
from kubestow.solver.patterns.attainment import Attainment
from kubestow.solver.patterns.enumeration import knapsacks, patterns_within
from kubestow.solver.patterns.node_types import NodeType, node_types_of
from kubestow.solver.patterns.params import DEFAULT as PATTERNS
from kubestow.solver.patterns.params import PatternParams
from kubestow.solver.search.params import SearchParams
from kubestow.solver.search.tier_bounds import Bounding

SCHEDULED = tiers.scheduled(0)


def sparse(lists):
    return Sparse(
        np.cumsum([0, *map(len, lists)]),
        np.array([column for pairs in lists for column, _ in pairs], dtype=np.int64),
        np.array([value for pairs in lists for _, value in pairs], dtype=np.int64),
    )


def block(low, high, terms, sides, literals=None):
    """One block with so many local rows, and nothing else."""
    rows = Rows(
        low=np.array(low),
        high=np.array(high),
        terms=sparse(terms),
        floor=np.array([floor for floor, _ in sides]),
        ceiling=np.array([ceiling for _, ceiling in sides]),
        literals=sparse(literals or [[] for _ in terms]),
    )
    return rows, NodeType((np.arange(len(low)),), np.arange(len(terms)), b"")


def one_by_one(rows, known, floor):
    """Every assignment that holds and leaves little room, by trying all of them."""
    ranges = [range(a, b + 1) for a, b in zip(rows.low.tolist(), rows.high.tolist(), strict=True)]
    tried = map(np.array, itertools.product(*ranges))
    return {tuple(x.tolist()) for x in tried if holds(rows, x) and (known.weights @ x >= floor).all()}


@st.composite
def brims(draw):
    """A block of up to five variables with one to three knapsack rows, and a window for each."""
    size = draw(st.integers(1, 5))
    low = [draw(st.integers(0, 1)) for _ in range(size)]
    high = [a + draw(st.integers(0, 3)) for a in low]
    weights = [[draw(st.integers(0, 9)) for _ in range(size)] for _ in range(draw(st.integers(1, 3)))]
    ceiling = [draw(st.integers(0, 40)) for _ in weights]
    floor = [c - draw(st.integers(-1, 12)) for c in ceiling]
    return low, high, weights, ceiling, floor


@given(brims())
def test_exactly_the_patterns_within_the_windows_are_listed(brim):
    low, high, weights, ceiling, floor = brim
    terms = [[(k, w) for k, w in enumerate(row) if w] for row in weights]
    rows, kind = block(low, high, terms, [(LOWEST, c) for c in ceiling])
    known = knapsacks(rows, kind)
    found = patterns_within(rows, kind, known, np.array(floor), most=10_000)
    assert len(found) == len({tuple(x) for x in found.tolist()})
    assert {tuple(x) for x in found.tolist()} == one_by_one(rows, known, floor)


def test_every_local_row_in_force_is_asked_of_a_pattern():
    """Of a and b one at most if c holds, and a at least once: rows that are no knapsacks."""
    rows, kind = block(
        [0, 0, 0],
        [2, 2, 1],
        [[(0, 1), (1, 1), (2, 1)], [(0, 1), (1, 1)], [(0, 1)]],
        [(LOWEST, 3), (LOWEST, 1), (1, HIGHEST)],
        [[], [(2, 1)], []],
    )
    known = knapsacks(rows, kind)
    assert known.weights.tolist() == [[1, 1, 1]]
    found = patterns_within(rows, kind, known, np.array([2]), most=10)
    assert sorted(found.tolist()) == [[1, 0, 1], [1, 1, 0], [1, 2, 0], [2, 0, 0], [2, 1, 0]]


@pytest.mark.parametrize(
    "limit, most",
    [
        pytest.param("MOST_HALVES", 100, id="too many assignments of a half"),
        pytest.param("MOST_PAIRS", 100, id="too many pairs that may fit"),
        pytest.param(None, 2, id="too many patterns"),
    ],
)
def test_nothing_is_listed_where_there_is_too_much(monkeypatch, limit, most):
    if limit:
        monkeypatch.setattr(listing, limit, 1)
    rows, kind = block([0] * 4, [1] * 4, [[(k, 1) for k in range(4)]], [(LOWEST, 2)])
    assert patterns_within(rows, kind, knapsacks(rows, kind), np.array([1]), most=most) is None


def test_of_many_rows_fewer_loads_are_kept(monkeypatch):
    monkeypatch.setattr(listing, "MOST_HALVES", 4)
    for rows_alike, found in ((4, 6), (8, None)):
        terms = [[(k, 1) for k in range(4)]] * rows_alike
        rows, kind = block([0] * 4, [1] * 4, terms, [(LOWEST, 2)] * rows_alike)
        patterns = patterns_within(rows, kind, knapsacks(rows, kind), np.full(rows_alike, 2), most=10)
        assert (None if patterns is None else len(patterns)) == found


def test_a_half_million_halves_take_little_memory():
    """Of 2·50 variables up to four fit: with a number for each, halves took 480 MB."""
    rows, kind = block([0] * 100, [1] * 100, [[(k, 20) for k in range(100)]], [(LOWEST, 89)])
    tracemalloc.start()
    try:
        found = patterns_within(rows, kind, knapsacks(rows, kind), np.array([85]), most=10)
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()
    assert len(found) == 0


def round_model(snapshot):
    return RoundModel(build_problem(build_cluster(snapshot)), OPTIONS)


def listed(model, name, bound, value=0, patterns=PATTERNS):
    bounding = Bounding(model, OPTIONS, SearchParams(patterns=patterns))
    return bounding.by_enumeration(name, value, bound, time.monotonic() + PLENTY)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("nodes, pods, priorities", [(3, 3, 1), (2, 5, 1), (4, 3, 2)])
def test_the_bound_falls_to_the_optimum_and_a_solution_attains_it(nodes, pods, priorities, seed):
    model = round_model(snapshot_of(packing(nodes, pods, priorities, 1.0, seed)))
    for name in map(tiers.scheduled, sorted(model.problem.levels, reverse=True)):
        optimum = -best(model.context.model, model.cost(name))[0]
        bound, solution = listed(model, name, model.goals[name].high, optimum - 1)
        assert bound == optimum
        assert solution.goals[name] == optimum
        model.fix(name, optimum)


def pods_of(*sizes):
    return [pod(f"p{k}").req(cpu=f"{size}m") for k, size in enumerate(sizes)]


NODES = [node(f"n-{k}", cpu="1") for k in range(2)]


def test_a_bound_that_nothing_attains_falls_by_one():
    """Two nodes of 1000m, 1990m asked for: no two halves of these sizes leave 10m or less."""
    model = round_model(cluster(*NODES, *pods_of(700, 450, 440, 400)))
    assert listed(model, SCHEDULED, 4, value=3) == (3, None)


def test_a_bound_that_can_be_attained_comes_with_a_solution():
    model = round_model(cluster(*NODES, *pods_of(600, 550, 450, 400)))
    bound, solution = listed(model, SCHEDULED, 4, value=3)
    assert bound == 4
    assert solution.goals[SCHEDULED] == 4


def test_what_is_found_satisfies_the_model():
    model = round_model(snapshot_of(packing(4, 4, 1, 1.0, 1)))
    node_of = model.variable_index.node_of(np.arange(len(model.rows.low)))
    cost = model.cost(SCHEDULED)
    blocks = node_types_of(model.rows, node_of, [model.cost(name) for name in model.goals])
    optimum, _ = best(model.context.model, cost)
    attainment = Attainment(model.rows, blocks, cost, model.new_solver)
    decided, found = attainment.decide(optimum, time.monotonic() + PLENTY)
    assert decided
    assert holds(model.rows, found)
    assert cost @ found <= optimum
    assert attainment.decide(optimum - 1, time.monotonic() + PLENTY) == (True, None)


@pytest.mark.parametrize(
    "patterns",
    [
        pytest.param(PatternParams(max_enumerated_types=0), id="nodes of too many types"),
        pytest.param(PatternParams(max_enumerated_patterns=0), id="too many patterns"),
    ],
)
def test_a_bound_stays_where_it_is_not_decided(patterns):
    model = round_model(cluster(*NODES, *pods_of(600, 550, 450, 400)))
    assert listed(model, SCHEDULED, 4, value=3, patterns=patterns) == (4, None)


def test_a_bound_stays_after_ctrl_c(monkeypatch):
    decide = Attainment.decide

    def late(self, target, until):
        self.stop()
        return decide(self, target, until)

    monkeypatch.setattr(Attainment, "decide", late)
    model = round_model(cluster(*NODES, *pods_of(600, 550, 450, 400)))
    assert listed(model, SCHEDULED, 4, value=3) == (4, None)


@pytest.mark.parametrize("told", [-(2**70), 2**70], ids=["too low", "too high"])
def test_a_bound_that_is_no_64_bit_integer_does_no_harm(monkeypatch, told):
    """Below all is no bound; above all is what no solution attains, and CP-SAT takes no such row."""
    monkeypatch.setattr(squeeze, "relaxed", lambda *_: told)
    model = round_model(cluster(*NODES, *pods_of(600, 550, 450, 400)))
    bound, solution = listed(model, SCHEDULED, 4, value=3)
    assert (bound, solution is None) == (4, told > 0)


def test_nodes_that_limit_nobody_are_not_for_listing():
    model = round_model(cluster(node("n"), pod("a"), pod("b")))
    assert listed(model, SCHEDULED, 2, value=1) == (2, None)


def test_a_full_round_of_64_pods_is_proven_in_seconds(monkeypatch):
    """No plan binds all 64, which neither shares of pods nor fractions of patterns show.

    The seconds are those of this process: others on the machine do not count.
    """
    search_with(monkeypatch, quick_share=2 / PLENTY)
    begin = time.process_time()
    optimum, _ = solve_both(snapshot_of(packing(8, 8, 1, 1.0, 0)), OPTIONS)
    assert time.process_time() - begin < 20
    assert optimum.status == "OPTIMAL"
    assert [(t.value, t.bound) for t in optimum.tiers if t.name == SCHEDULED] == [(63, 63)]
