"""The best pods for every room, against all choices; the pods named are worth what they are said to be."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kubestow.solver.departures.knapsack import Knapsack

CLASSES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 9)), max_size=3)


@given(CLASSES, st.integers(0, 9))
def test_it_equals_all_choices(classes, units):
    need, most, prices = (tuple(column) for column in zip(*classes, strict=True)) if classes else ((), (), ())
    sack = Knapsack(need, most, prices, units)
    choices = list(product(*(range(number + 1) for number in most)))
    for room in range(units + 1):
        best = max(
            sum(n * p for n, p in zip(often, prices, strict=True))
            for often in choices
            if sum(n * each for n, each in zip(often, need, strict=True)) <= room
        )
        assert sack.worth[room] == best
    rooms = np.arange(units + 1)
    pods = sack.pods(rooms)
    assert (pods @ np.array(need, dtype=int).reshape(-1) <= rooms).all()
    assert (pods <= np.array(most, dtype=int).reshape(-1)).all()
    assert (pods @ np.array(prices, dtype=int).reshape(-1) == sack.worth).all()
