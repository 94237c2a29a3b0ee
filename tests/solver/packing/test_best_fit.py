"""Large pods first, each on the fullest node: every limit is kept, and nobody leaves where nobody has to."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubestow.solver.packing.best_fit import best_fit
from kubestow.solver.packing.side import Side


def side(sizes, demand, rooms, free=None, least=0, most=99):
    """Nodes with room for one resource; `free` is what no victim has of it, all if not given."""
    shape = len(rooms), len(sizes)
    return Side(
        np.array([sizes]),
        np.array(rooms)[:, None],
        np.array(rooms if free is None else free)[:, None],
        np.broadcast_to(least, shape),
        np.broadcast_to(most, shape),
        np.array(demand),
    )


PLACED = [
    pytest.param(side([9, 6, 3], [1, 1, 1], [9, 9]), [[1, 0, 0], [0, 1, 1]], id="small pods fill up a node"),
    pytest.param(side([6], [2], [9, 8, 9], free=[1, 6, 9]), [[0], [1], [1]], id="pods stay off victims"),
    pytest.param(
        side([6], [2], [9, 9, 9], free=[1, 9, 4]),
        [[0], [1], [1]],
        id="as little as can be is taken from victims",
    ),
    pytest.param(
        side([4], [2], [9, 9], free=[3, 3]),
        [[1], [1]],
        id="victims of two nodes give a little rather than one's all",
    ),
    pytest.param(
        side([5, 4, 3], [1, 1, 5], [12, 12], free=[6, 4]),
        [[1, 1, 1], [0, 0, 4]],
        id="victims do not count where all pods fit only without them",
    ),
    pytest.param(side([2], [4], [9, 9], least=1, most=2), [[2], [2]], id="no node has more than it may"),
    pytest.param(side([2], [4], [8, 4], least=[[0], [2]]), [[2], [2]], id="each node has what it must"),
    pytest.param(
        side([2, 0], [1, 3], [2, 0]), [[1, 3], [0, 0]], id="a pod that asks for nothing goes anywhere"
    ),
    pytest.param(side([2], [0], [1, 1]), [[0], [0]], id="no pods"),
]


@pytest.mark.parametrize("given_side, expected", PLACED)
def test_pods_go_where_they_are_expected(given_side, expected):
    found = best_fit(given_side)
    assert found is not None
    assert found.tolist() == expected


NOWHERE = [
    pytest.param(side([6], [3], [9, 9]), id="two pods do not share a node"),
    pytest.param(side([2], [4], [9, 9], most=1), id="more pods than nodes may have"),
    pytest.param(side([2], [1], [9, 9], least=1), id="fewer pods than nodes must have"),
    pytest.param(side([6], [4], [9, 15], least=2), id="a node has no room for what it must have"),
]


@pytest.mark.parametrize("impossible", NOWHERE)
def test_what_does_not_fit_is_not_packed(impossible):
    assert best_fit(impossible) is None


def drawn(data):
    """A side with two resources, of which victims have a part."""
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    nodes, classes = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 4))
    rooms = rng.integers(0, 20, size=(nodes, 2))
    return Side(
        rng.integers(0, 6, size=(2, classes)),
        rooms,
        rooms - rng.integers(0, 12, size=(nodes, 2)),
        rng.integers(0, 2, size=(nodes, classes)) * data.draw(st.integers(0, 1)),
        rng.integers(1, 6, size=(nodes, classes)),
        rng.integers(0, 7, size=classes),
    )


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_whatever_is_found_is_a_packing(data):
    given_side = drawn(data)
    found = best_fit(given_side)
    if found is not None:
        assert (found.sum(axis=0) == given_side.demand).all()
        assert (found @ given_side.weights.T <= given_side.rooms).all()
        assert (found >= given_side.least).all()
        assert (found <= given_side.most).all()


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_no_more_pods_than_nodes_always_find_a_place(data):
    """Each of them fits any node that is empty, and one is."""
    sizes = data.draw(st.lists(st.integers(1, 16), min_size=1, max_size=5))
    demand = data.draw(st.lists(st.integers(0, 3), min_size=len(sizes), max_size=len(sizes)))
    nodes = max(sum(demand), 1) + data.draw(st.integers(0, 2))
    free = data.draw(st.lists(st.integers(-3, 16), min_size=nodes, max_size=nodes))
    found = best_fit(side(sizes, demand, [16] * nodes, free=free))
    assert found is not None
    assert found.sum(axis=0).tolist() == demand
