"""Cliques say what the pairs say."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from kubestow.encoders.cliques import cliques

pairs = st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda p: p[0] < p[1]))


@given(pairs)
def test_cliques_hold_exactly_the_pairs(edges):
    held = {pair for members in cliques(edges) for pair in combinations(members, 2)}
    assert held == edges


@given(pairs)
def test_no_clique_is_a_part_of_another(edges):
    found = [set(members) for members in cliques(edges)]
    assert not any(a <= b for a, b in combinations(found, 2))


def test_all_in_conflict_are_one_row():
    assert cliques(combinations(range(30), 2)) == [list(range(30))]
