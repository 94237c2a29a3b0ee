"""Shares: kinds divided among parts, each with as much room left over as its nodes are many."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubestow.solver.refill.shares import divide


def divided(kinds, room, nodes):
    """Divide kinds, given as (amounts, how many, caps); return the numbers, and what each part has left."""
    amounts, whole, caps = ([kind[k] for kind in kinds] for k in range(3))
    found = divide(np.array(amounts), np.array(whole), np.array(caps), np.array(room), np.array(nodes))
    return found.tolist(), (np.array(room) - found.T @ np.array(amounts)).tolist()


ROWS = [
    pytest.param([([2], 4, [9, 9])], [[5], [5]], [1, 1], [[1], [1]], id="equal parts have equal shares"),
    pytest.param(
        [([2], 6, [9, 9])], [[10], [5]], [2, 1], [[2], [1]], id="a part twice as large has two thirds"
    ),
    pytest.param([([2], 4, [1, 9])], [[9], [9]], [1, 1], [[7], [3]], id="no part takes more than its cap"),
    pytest.param(
        [([-3], 3, [4, 2]), ([1], 9, [9, 9])],
        [[0], [0]],
        [1, 1],
        [[0], [0]],
        id="who leaves makes room first",
    ),
    pytest.param(
        [([5], 2, [9, 9]), ([4], 2, [9, 9])],
        [[10], [9]],
        [1, 1],
        [[1], [0]],
        id="parts that differ by a unit stay",
    ),
    pytest.param(
        [([7], 1, [1, 0]), ([2], 3, [3, 3])],
        [[9], [9]],
        [1, 1],
        [[2], [3]],
        id="where nothing can change, it stays",
    ),
    pytest.param(
        [([3], 3, [9, 9]), ([2], 2, [9, 9])],
        [[7], [6]],
        [1, 1],
        [[0], [0]],
        id="two kinds change places until neither part lacks room",
    ),
    pytest.param(
        [([4, 1], 2, [9, 9]), ([3, 9], 2, [9, 9])],
        [[7, 10], [7, 10]],
        [1, 1],
        [[0, 0], [0, 0]],
        id="the other resource is shared as well",
    ),
]


@pytest.mark.parametrize("kinds, room, nodes, left", ROWS)
def test_what_is_left_over(kinds, room, nodes, left):
    _, found = divided(kinds, room, nodes)
    assert found == left


def test_some_who_leave_do_so_elsewhere_and_the_room_stays_even():
    kinds = [([-gives], 8, [9, 9]) for gives in (3, 5, 7)] + [([takes], 20, [20, 20]) for takes in (2, 3)]
    amounts, whole, caps = (np.array([kind[k] for kind in kinds]) for k in range(3))
    room, nodes = np.array([[0], [0]]), np.array([1, 1])
    plain = divide(amounts, whole, caps, room, nodes)
    found = [divide(amounts, whole, caps, room, nodes, Random(seed)) for seed in range(5)]
    assert any(not np.array_equal(plain, other) for other in found)
    for other in found:
        assert other.sum(axis=1).tolist() == whole.tolist()
        assert (room - other.T @ amounts).tolist() == [[10], [10]]


KIND = st.tuples(
    st.lists(st.integers(1, 30), min_size=2, max_size=2),
    st.integers(0, 12),
    st.booleans(),
    st.lists(st.integers(4, 12), min_size=3, max_size=3),
)


@given(st.lists(KIND, min_size=1, max_size=5), st.lists(st.integers(1, 5), min_size=3, max_size=3))
def test_everyone_is_in_some_part_and_nobody_beyond_the_caps(kinds, nodes):
    made = [([-a for a in amounts] if gives else amounts, n, caps) for amounts, n, gives, caps in kinds]
    found, _ = divided(made, [[40 * n, 40 * n] for n in nodes], nodes)
    assert [sum(row) for row in found] == [n for _, n, _ in made]
    assert all(
        0 <= count <= cap
        for row, (_, _, caps) in zip(found, made, strict=True)
        for count, cap in zip(row, caps, strict=True)
    )
