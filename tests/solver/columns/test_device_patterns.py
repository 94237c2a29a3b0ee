"""Patterns of one device: all sets of shares that fit and to which none could be added."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.share_rounds import round_of, sharing, shelf

from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.solver.columns.device_patterns import DevicePattern, maximal_patterns, patterns_of, useful
from kubestow.solver.columns.reading import type_round
from kubestow.solver.columns.shared_devices import Evictable

DEVICES = [
    pytest.param(
        10, {7: 9, 3: 9}, {((7, 1), (3, 1)), ((3, 3),)}, id="what is left is smaller than any share"
    ),
    pytest.param(10, {3: 1}, {((3, 1),)}, id="there are no more shares than are asked for"),
    pytest.param(10, {12: 5}, {()}, id="a share that no device holds is in no pattern"),
    pytest.param(0, {1: 5}, {()}, id="a full device holds nothing more"),
]


@pytest.mark.parametrize("units, demand, expected", DEVICES)
def test_patterns(units, demand, expected):
    assert set(maximal_patterns(units, demand)) == expected


@given(st.integers(0, 12), st.dictionaries(st.integers(1, 6), st.integers(0, 4), max_size=4))
def test_patterns_are_those_that_trying_all_finds(units, demand):
    sizes = sorted(demand, reverse=True)

    def load(chosen):
        return sum(size * number for size, number in zip(sizes, chosen, strict=True))

    def may_grow(chosen):
        return any(
            number < demand[size] and load(chosen) + size <= units
            for size, number in zip(sizes, chosen, strict=True)
        )

    every = product(*(range(demand[size] + 1) for size in sizes))
    full = [chosen for chosen in every if load(chosen) <= units and not may_grow(chosen)]
    expected = sorted(tuple((s, n) for s, n in zip(sizes, chosen, strict=True) if n) for chosen in full)
    assert sorted(maximal_patterns(units, demand)) == expected


def test_what_is_no_pattern_takes_no_time():
    """There is room for all of 40 sizes of ten: one pattern, and 11 ** 40 parts of it."""
    demand = dict.fromkeys(range(1, 41), 10)
    [pattern] = maximal_patterns(100_000, demand)
    assert dict(pattern) == demand


def test_more_patterns_than_allowed_are_not_listed():
    snapshot = round_of(shelf("a", "1000"), sharing("p", "600"), sharing("q", "300"), sharing("r", "500"))
    found = type_round(build_problem(build_cluster(snapshot)), 64, Evictable.STAY)
    assert patterns_of(found, 1) is None
    assert [len(mine) for mine in patterns_of(found, 2)] == [2]


PATTERNS = [DevicePattern(10, shares) for shares in [((10, 1),), ((5, 2),), ((5, 1), (4, 1)), ((4, 2),)]]
CHOSEN = [
    pytest.param(1, 0, [1], id="those of least regret"),
    pytest.param(2, 0, [0, 1], id="as many as are asked for"),
    pytest.param(0, 1, [0, 1, 2], id="one at least for each size, the one of least regret"),
    pytest.param(0, 2, [0, 1, 2, 3], id="all where a size has no more"),
    pytest.param(9, 0, [0, 1, 2, 3], id="all where they are few"),
]


@pytest.mark.parametrize("most, each, expected", CHOSEN)
def test_which_patterns_are_priced(most, each, expected):
    assert useful(PATTERNS, np.array([0.2, 0.1, 0.3, 0.4]), most, each) == [PATTERNS[k] for k in expected]
