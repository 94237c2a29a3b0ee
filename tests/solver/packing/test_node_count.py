"""Whether so many pods fit on alike nodes: patterns, what prices prove, dives, and the answer."""

import time
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ortools.sat.python import cp_model
from support.builders import cluster, node
from support.rows import high, low
from support.sweeps import few_or_all

from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.models import tiers
from kubestow.solver.packing.covering import Covering, Relaxation, prove
from kubestow.solver.packing.dive import dive
from kubestow.solver.packing.node_count import NodeCount, Verdict
from kubestow.solver.packing.params import PackingParams
from kubestow.solver.packing.pool import MOST_COPIES, maximal_patterns

HIGH, LOW = tiers.scheduled(100), tiers.scheduled(0)
SOON = 600.0
ANY = 10_000

numbers = st.integers(0, 5)


def new_solver(seconds):
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = SOON
    return solver


@st.composite
def nodes_of_a_kind(draw):
    """Weights, copies and room: up to two resources and four classes."""
    rows, classes = draw(st.integers(1, 2)), draw(st.integers(1, 4))
    weights = draw(
        st.lists(st.lists(numbers, min_size=classes, max_size=classes), min_size=rows, max_size=rows)
    )
    copies = draw(st.lists(st.integers(0, 3), min_size=classes, max_size=classes))
    room = draw(st.lists(st.integers(0, 9), min_size=rows, max_size=rows))
    return np.array(weights), np.array(copies), np.array(room)


def fitting(weights, copies, room):
    every = product(*(range(top + 1) for top in copies.tolist()))
    return {x for x in every if (weights @ np.array(x) <= room).all()}


@settings(max_examples=few_or_all(50, 5000))
@given(nodes_of_a_kind())
def test_maximal_patterns_are_those_to_which_nothing_can_be_added(kind):
    every = fitting(*kind)
    below = {
        (*x[:c], x[c] - 1, *x[c + 1 :]) for x in every for c in range(len(x))
    }  # what is less than another one by one pod
    found = maximal_patterns(*kind, ANY)
    assert sorted(map(tuple, found.tolist())) == sorted(every - below)


@pytest.mark.parametrize(
    "copies, room, most",
    [
        pytest.param([3, 3], [9], 5, id="more assignments than are listed"),
        pytest.param([MOST_COPIES + 1, 1], [9], ANY, id="more pods than bytes can count"),
    ],
)
def test_patterns_are_not_listed_where_they_are_too_many(copies, room, most):
    assert maximal_patterns(np.array([[1, 1]]), np.array(copies), np.array(room), most) is None


@st.composite
def coverings(draw):
    """Up to three nodes and two tiers."""
    weights, copies, room = draw(nodes_of_a_kind())
    patterns = maximal_patterns(weights, copies, room, ANY)
    sizes = copies + draw(st.integers(0, 2))
    tier_of = np.array(draw(st.lists(st.integers(0, 1), min_size=len(sizes), max_size=len(sizes))))
    groups = [np.flatnonzero(tier_of == k) for k in range(2)]
    spare = [draw(st.integers(0, max(int(sizes[g].sum()), 0))) for g in groups]
    return Covering(patterns, draw(st.integers(1, 3)), sizes, groups, spare)


def solutions(covering):
    """All choices of a pattern for each node that cover enough."""
    for chosen in combinations_with_replacement(range(len(covering.patterns)), covering.nodes):
        if enough(covering, chosen):
            yield chosen


def enough(covering, chosen):
    out = np.maximum(covering.sizes - covering.patterns[list(chosen)].sum(axis=0, dtype=np.int64), 0)
    return all(out[g].sum() <= spare for g, spare in zip(covering.tiers, covering.spare, strict=True))


@settings(max_examples=few_or_all(50, 5000))
@given(coverings(), st.data())
def test_whatever_the_prices_no_solution_is_refuted_and_none_has_an_unusable_pattern(covering, data):
    prices = data.draw(
        st.lists(st.floats(-0.1, 1.1), min_size=len(covering.sizes), max_size=len(covering.sizes))
    )
    proof = prove(covering, np.array(prices))
    every = list(solutions(covering))
    assert not (proof.refuted and every)
    assert all(proof.usable[list(chosen)].all() for chosen in every)


@settings(max_examples=few_or_all(50, 5000))
@given(coverings())
def test_the_relaxation_takes_no_more_nodes_than_a_solution_and_a_dive_finds_solutions_alone(covering):
    until = time.monotonic() + SOON
    relaxed = Relaxation(covering).solve(covering.sizes, until)
    some = next(solutions(covering), None)
    if some is not None:
        assert relaxed is not None
        assert relaxed.nodes <= covering.nodes + 1e-6
        assert not prove(covering, relaxed.prices).refuted
    found = dive(covering, Relaxation(covering), 0, PackingParams(), until)
    if found is not None:
        assert len(found) <= covering.nodes
        assert enough(covering, found)


def test_a_relaxation_of_more_nodes_than_there_are_is_given_up():
    covering = Covering(np.array([[1]], dtype=np.int8), 1, np.array([2]), [np.array([0])], [0])
    relaxation, until = Relaxation(covering), time.monotonic() + SOON
    assert relaxation.solve(covering.sizes, until, most=1) is None
    assert relaxation.solve(covering.sizes, until, most=2).nodes == pytest.approx(2)
    assert relaxation.solve(covering.sizes, time.monotonic() - 1) is None
    assert dive(covering, relaxation, 0, PackingParams(), until) is None


# -- rounds --

PARAMS = [
    pytest.param({}, id="a dive, and else CP-SAT"),
    pytest.param({"dive_steps": 0}, id="CP-SAT alone"),
    pytest.param({"most_chosen": 0}, id="a dive alone"),
]


def count_of(*objects, **changes):
    problem = build_problem(build_cluster(cluster(*objects)))
    return NodeCount(problem, 0, new_solver, PackingParams(**changes))


def decide(count, held, name, target):
    return count.decide(held, name, target, time.monotonic() + SOON)


def best(nodes, room, important, others):
    """Most important pods of these sizes, then most others, on nodes with so much room."""
    pods = [*important, *others]
    found = (0, 0)
    for where in product(range(nodes + 1), repeat=len(pods)):
        loads = [sum(size for size, n in zip(pods, where, strict=True) if n == k) for k in range(nodes)]
        if max(loads) <= room:
            placed = [n < nodes for n in where]
            found = max(found, (sum(placed[: len(important)]), sum(placed[len(important) :])))
    return found


sizes = st.lists(st.integers(1, 5), min_size=1, max_size=3)


@pytest.mark.parametrize("changes", PARAMS)
@settings(max_examples=few_or_all(15, 2000))
@given(st.integers(1, 3), st.integers(2, 7), sizes, sizes)
def test_verdicts_are_those_of_the_exhaustive_search(changes, nodes, room, important, others):
    objects = [
        *(node(f"n{k}", cpu=str(room)) for k in range(nodes)),
        *(high.named(f"h{k}").req(cpu=str(size)) for k, size in enumerate(important)),
        *(low.named(f"l{k}").req(cpu=str(size)) for k, size in enumerate(others)),
    ]
    count = count_of(*objects, **changes)
    assume(count.nodes is not None)
    first, second = best(nodes, room, important, others)
    for held, name, most, every in (
        ([], HIGH, first, len(important)),
        ([(HIGH, first)], LOW, second, len(others)),
    ):
        for target in range(1, every + 1):
            verdict, counts = decide(count, held, name, target)
            assert verdict is not (Verdict.REFUTED if target <= most else Verdict.ATTAINED)
            assert verdict is not Verdict.OPEN or "most_chosen" in changes
            if verdict is Verdict.ATTAINED:
                check(count, counts, {**dict(held), name: target})


def check(count, counts, least):
    """Within the room of each node, no pod twice, and as many of each tier as asked for."""
    problem = count.problem
    load, placed = np.zeros_like(problem.most_free), np.zeros(len(problem.classes), dtype=np.int64)
    for (c, n), number in counts.items():
        load[:, n] += number * problem.classes[c].request
        placed[c] += number
    assert (load <= problem.most_free).all()
    assert all(placed[cls.index] <= cls.size for cls in problem.classes)
    for name, value in least.items():
        mine = [placed[cls.index] for cls in problem.classes if tiers.scheduled(cls.priority) == name]
        assert sum(mine) >= value


THREE = [node(name, cpu="4") for name in "abc"]


@pytest.mark.parametrize(
    "objects, target, verdict",
    [
        pytest.param([*THREE, high.req(cpu="3").times(4)], 4, Verdict.REFUTED, id="one pod a node"),
        pytest.param([*THREE, high.req(cpu="3").times(4)], 3, Verdict.ATTAINED, id="and three of them fit"),
        pytest.param([*THREE, high.req(cpu="3").times(4)], 5, Verdict.REFUTED, id="more pods than wait"),
        pytest.param(
            [*THREE, high.req(cpu="2").times(6), low.req(cpu="1").times(9)],
            6,
            Verdict.ATTAINED,
            id="pods of the tiers below do not count",
        ),
        pytest.param(
            [*THREE, low.req(cpu="3").on("a"), high.req(cpu="2").times(6)],
            6,
            Verdict.ATTAINED,
            id="victims may leave",
        ),
        pytest.param(
            [*THREE, node("d", cpu="5"), high.req(cpu="3").times(5)], 5, Verdict.OPEN, id="nodes differ"
        ),
        pytest.param(
            [*THREE, node("d", cpu="1"), high.req(cpu="3").times(4)],
            4,
            Verdict.REFUTED,
            id="a node where no pod may stand does not count",
        ),
        pytest.param(
            [node("a", cpu="9", pods="2"), high.req(cpu="1").times(3)],
            3,
            Verdict.REFUTED,
            id="nodes have few slots",
        ),
    ],
)
def test_what_is_decided(objects, target, verdict):
    assert decide(count_of(*objects), [], HIGH, target).verdict is verdict


def test_too_many_patterns_leave_it_open():
    count = count_of(*THREE, high.req(cpu="1").times(4), most_assignments=1)
    assert decide(count, [], HIGH, 4).verdict is Verdict.OPEN
