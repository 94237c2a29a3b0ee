"""One node is filled as well as can be, within every resource."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubestow.solver.refill.filling import fill

amounts = st.integers(1, 9)


@st.composite
def nodes(draw, *, most_other):
    """A node's room and rest, pods at hand, and what their classes ask for."""
    classes = draw(st.integers(1, 4))
    need = draw(st.lists(amounts, min_size=classes, max_size=classes))
    other = [[draw(st.integers(0, most_other))] for _ in need]
    items = draw(st.lists(st.integers(0, classes - 1), max_size=7))
    return draw(st.integers(1, 25)), [draw(st.integers(0, 20))], items, need, other


def best_sum(room, rest, items, need, other):
    """The best sum of any choice, one by one."""
    found = 0
    for number in range(len(items) + 1):
        for chosen in combinations(items, number):
            total = sum(need[c] for c in chosen)
            if total <= room and sum(other[c][0] for c in chosen) <= rest[0]:
                found = max(found, total)
    return found


@given(nodes(most_other=0))
def test_no_choice_fills_a_node_better(node):
    _, _, items, need, _ = node
    chosen = fill(*node, 3)
    assert len(set(chosen)) == len(chosen)
    assert sum(need[items[k]] for k in chosen) == best_sum(*node)


@given(nodes(most_other=9))
def test_a_choice_keeps_to_every_resource(node):
    room, rest, items, need, other = node
    chosen = fill(*node, 3)
    assert len(set(chosen)) == len(chosen)
    assert sum(need[items[k]] for k in chosen) <= room
    assert sum(other[items[k]][0] for k in chosen) <= rest[0]


ROWS = [
    pytest.param((10, [9]), [0, 1, 1], [6, 5], [[1], [1]], [1, 2], id="two of five fill what a six does not"),
    pytest.param((10, [9]), [0, 0, 1], [5, 5], [[1], [1]], [0, 1], id="of equal choices the first pods"),
    pytest.param((10, [1]), [0, 1, 1], [6, 5], [[1], [1]], [0], id="the second resource has room for one"),
    pytest.param((4, [9]), [0, 1], [6, 5], [[1], [1]], [], id="nothing fits"),
]


@pytest.mark.parametrize("free, items, need, other, wanted", ROWS)
def test_what_is_chosen(free, items, need, other, wanted):
    assert sorted(fill(*free, items, need, other, 3)) == wanted
