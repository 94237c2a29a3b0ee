"""Nodes filled to the brim: each pod once, within every limit, and as seldom as can be in vain."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ortools.sat.python import cp_model

from kubestow.solver.packing.cover import exact_cover
from kubestow.solver.packing.packer import Packer
from kubestow.solver.packing.params import PackingParams
from kubestow.solver.packing.side import Side

SOON = 600.0


def new_solver(seconds):
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = SOON
    return solver


def packed(side, effort=30, seed=0, **changes):
    packer = Packer(side, (seed,), new_solver, PackingParams(**changes))
    return packer.run(time.monotonic() + SOON, effort)


def cut(rng, nodes, pods_per_node, slack=0, copies=1):
    """Nodes that are full in two resources with pods that were drawn, and the same pods as classes."""
    weights = rng.integers(100, 1000, size=(2, nodes * pods_per_node))
    on = np.repeat(np.arange(nodes), pods_per_node)
    rooms = np.stack([weights[:, on == n].sum(axis=1) for n in range(nodes)]) + slack
    classes = weights.shape[1]
    return Side(
        weights,
        rooms,
        rooms,
        np.zeros((nodes, classes), dtype=np.int64),
        np.full((nodes, classes), copies),
        np.full(classes, copies),
    )


def check(side, found):
    assert (found.sum(axis=0) == side.demand).all()
    assert (found @ side.weights.T <= side.rooms).all()
    assert (found >= side.least).all()
    assert (found <= side.most).all()


@pytest.mark.parametrize("seed", range(3))
def test_nodes_with_hardly_any_slack_are_filled(seed):
    """Eight pods a node and one unit of slack in a thousand: first fit leaves several pods out."""
    side = cut(np.random.default_rng(seed), nodes=8, pods_per_node=8, slack=3)
    found = packed(side, effort=150)
    assert found is not None
    check(side, found)


def test_nodes_with_many_pods_each_are_filled():
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 17, size=(1, 20))
    demand = rng.integers(20, 40, size=20)
    nodes = 12
    room = -(-int((weights @ demand)[0]) // nodes)
    side = Side(
        weights,
        np.full((nodes, 1), room),
        np.full((nodes, 1), room),
        np.zeros((nodes, 20), dtype=np.int64),
        np.full((nodes, 20), 9),
        demand,
    )
    found = packed(side)
    assert found is not None
    check(side, found)


def test_limits_of_each_node_are_kept():
    """A class of nine, two to four on each of three nodes."""
    side = Side(
        weights=np.array([[2, 1]]),
        rooms=np.full((3, 1), 9),
        free=np.full((3, 1), 9),
        least=np.array([[2, 0]] * 3),
        most=np.array([[4, 9]] * 3),
        demand=np.array([9, 8]),
    )
    found = packed(side)
    assert found is not None
    check(side, found)


def two_nodes(request, room, least, most):
    """Three pods of one class that wait for two nodes."""
    sides = (np.array([[number]] * 2) for number in (room, room, least, most))
    return Side(np.array([[request]]), *sides, np.array([3]))


IMPOSSIBLE = [
    pytest.param(two_nodes(request=2, room=3, least=0, most=9), id="halves of a pod"),
    pytest.param(two_nodes(request=1, room=4, least=0, most=1), id="at most one on each node"),
    pytest.param(two_nodes(request=1, room=4, least=2, most=4), id="at least two on each node"),
]


@pytest.mark.parametrize("last", [1, 4], ids=["one by one", "all at once"])
@pytest.mark.parametrize("side", IMPOSSIBLE)
def test_what_cannot_be_packed_is_given_up(side, last):
    assert packed(side, last=last) is None


def test_no_time_is_no_plan():
    side = cut(np.random.default_rng(0), nodes=2, pods_per_node=2, slack=500)
    assert Packer(side, (0,), new_solver).run(time.monotonic() - 1.0, 30) is None
    assert packed(side) is not None


def test_a_seed_is_a_course_of_the_search():
    side = cut(np.random.default_rng(1), nodes=6, pods_per_node=6, slack=20)
    one, again, other = packed(side), packed(side), packed(side, seed=1)
    assert (one == again).all()
    assert (one != other).any()


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_whatever_is_found_is_a_packing(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    nodes, classes = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 4))
    rooms = rng.integers(0, 15, size=(nodes, 2))
    side = Side(
        rng.integers(0, 5, size=(2, classes)),
        rooms,
        rooms - rng.integers(0, 9, size=(nodes, 2)),
        rng.integers(0, 2, size=(nodes, classes)),
        rng.integers(1, 6, size=(nodes, classes)),
        rng.integers(0, 8, size=classes),
    )
    last = data.draw(st.integers(1, 4))
    found = packed(side, effort=3, last=last, brim=2, most_covered=data.draw(st.sampled_from((0, 400))))
    if found is not None:
        check(side, found)


def test_a_cover_takes_every_pod_once():
    one = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    two = np.array([[2, 0, 0], [0, 0, 2]])
    chosen = exact_cover([one, two], [2, 1], np.array([3, 2, 1]), lambda: new_solver(SOON))
    assert [len(mine) for mine in chosen] == [2, 1]
    assert sum(pattern for mine in chosen for pattern in mine).tolist() == [3, 2, 1]


@pytest.mark.parametrize(
    "demand",
    [pytest.param([1, 0, 0], id="no choice adds up"), pytest.param([2, 0, 1], id="no pattern has it")],
)
def test_where_no_choice_takes_every_pod_there_is_none(demand):
    one = np.array([[2, 0, 0], [0, 1, 0]])
    assert exact_cover([one], [1], np.array(demand), lambda: new_solver(SOON)) is None
